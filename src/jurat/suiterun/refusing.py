"""Conversations that a subject would refuse, found before the run: each is made ready once, and thrown away.

What no vendor takes (a call without its result) and what this model does not take (pictures) is told at its case. A
prompt of texts alone is refused by nobody, so that large suites are not made ready twice.
"""

from __future__ import annotations

import re
from dataclasses import replace

from jurat.errors import AuthoringError, Fault, ProviderError, RequestError
from jurat.evaluation.subject import Subject
from jurat.subject import make_task
from jurat.suite.case import Case
from jurat.suite.suite import Prompt, SubjectKind

__all__ = ["may_be_refused", "refusals"]

_MESSAGE = re.compile(r"messages\[(\d+)\]")


def may_be_refused(case: Case, prompt: Prompt | None, kind: SubjectKind) -> bool:
    """Whether there are subjects of this kind that refuse such a case. A function takes whatever it is given."""
    if case.output is not None:
        return False
    if kind is SubjectKind.PROVIDER:
        plain = prompt is not None and prompt.text is not None and not prompt.messages
        return not plain or bool(case.messages) or _shows(case, prompt)
    return kind is SubjectKind.HTTP and _shows(case, prompt)


def _shows(case: Case, prompt: Prompt | None) -> bool:
    """Whether a case shows pictures or documents as they are."""
    messages = (*(prompt.messages if prompt else ()), *case.messages)
    pictures = any(True for message in messages for _ in message.pictures())
    return pictures or any(document.attach for document in case.documents)


def refusals(subject: Subject, case: Case, prompt: Prompt | None, path: str, *, read: bool) -> list[Fault]:
    """Why a subject would refuse a case, which stands at a path; nothing when it would not.

    Args:
        read: whether the case was read from a file, and its placeholders were looked at then.
    """
    try:
        task = make_task(case, prompt)
    except AuthoringError as error:
        return [] if read else [replace(one, path=f"{path}.variables") for one in error.faults]
    try:
        subject.prepare(task)
    except AuthoringError as error:
        return [replace(one, path=_placed(one.path, prompt, path)) for one in error.faults]
    except (RequestError, ProviderError) as error:
        found = f"{error.category.value}: {error}"
        return [Fault(path=path, expected="a conversation that can be sent", found=found)]
    return []


def _placed(path: str, prompt: Prompt | None, case: str) -> str:
    """Where a message of a task stands: the prompt's own come before the case's."""
    found = _MESSAGE.match(path)
    if found is None or prompt is None:
        return f"{case}.{path}"
    number = int(found[1]) - len(prompt.messages)
    return case if number < 0 else f"{case}.messages[{number}]{path[found.end() :]}"
