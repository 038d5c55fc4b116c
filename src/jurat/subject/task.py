"""From a case and a prompt to a task: every placeholder filled, in one pass, from the case's variables alone.

The conversation is the prompt's own turns, then the case's, then the prompt's text as the last user message. Without a
text the case's last message is the question.
"""

from __future__ import annotations

from jurat.evaluation.subject import Task
from jurat.evidence import Document, Message, Role
from jurat.provider.protocol import File, Image
from jurat.suite.case import Case, CaseDocument
from jurat.suite.suite import Prompt
from jurat.suite.template import fill_message, render

__all__ = ["make_task"]


def make_task(case: Case, prompt: Prompt | None = None, repeat: int = 0) -> Task:
    """The input of one trial.

    Args:
        case: brings variables, messages and documents.
        prompt: the prompt version, or None where the case's messages are all there is.
        repeat: the trial's index.

    Raises:
        AuthoringError: for a placeholder without a value, or `{{` that begins none.
    """
    values = case.variables
    turns = (*(prompt.messages if prompt else ()), *case.messages)
    messages = [fill_message(message, values, case.pictures) for message in turns]
    text = render(prompt.text, values) if prompt and prompt.text is not None else None
    if text is not None:
        messages.append(Message(role=Role.USER, content=text))
    return Task(
        system=render(prompt.system, values) if prompt and prompt.system is not None else None,
        messages=tuple(messages),
        rendered_input=text,
        prompt_template=prompt.text if prompt else None,
        variables=values,
        documents=tuple(
            Document(text=document.text or "", name=document.name, media_type=document.media_type or "text/plain")
            for document in case.documents
        ),
        metadata=case.metadata,
        attached=tuple(_attached(document) for document in case.documents if document.data is not None),
        repeat=repeat,
    )


def _attached(document: CaseDocument) -> Image | File:
    """A document as a model is shown it: a picture as one, anything else as a file with its name's ending."""
    media_type, data = document.media_type or "application/pdf", document.data or b""
    if media_type.startswith("image/"):
        return Image(media_type=media_type, data=data)
    name = document.name if document.name.lower().endswith(".pdf") else f"{document.name}.pdf"
    return File(name=name, media_type=media_type, data=data)
