"""From a case and a prompt to the input."""

from __future__ import annotations

import pytest

from jurat.errors import AuthoringError
from jurat.evidence import Document, Message, Role
from jurat.subject import make_task
from jurat.suite.case import Case, CaseDocument
from jurat.suite.suite import Prompt

USER = Message(role=Role.USER, content="I am {{name}}.")
REPLY = Message(role=Role.ASSISTANT, content="Hello {{name}}!")


def test_the_conversation_is_the_prompts_turns_then_the_cases_then_the_prompts_text() -> None:
    prompt = Prompt(system="Be {{tone}}.", text="What about {{topic}}?", messages=(USER, REPLY))
    values = {"name": "Ann", "tone": "kind", "topic": "tea"}
    case = Case(name="one", variables=values, messages=(Message(role=Role.USER, content="So, {{topic}}."),))

    task = make_task(case, prompt, repeat=3)

    assert task.system == "Be kind."
    assert [(message.role.value, message.content) for message in task.messages] == [
        ("user", "I am Ann."),
        ("assistant", "Hello Ann!"),
        ("user", "So, tea."),
        ("user", "What about tea?"),
    ]
    assert (task.rendered_input, task.prompt_template) == ("What about tea?", "What about {{topic}}?")
    assert (task.variables, task.repeat) == (values, 3)


def test_without_a_prompt_the_cases_messages_are_all_there_is() -> None:
    task = make_task(Case(name="one", variables={"name": "Ann"}, messages=(USER,)))

    assert [message.content for message in task.messages] == ["I am Ann."]
    assert (task.system, task.rendered_input, task.prompt_template) == (None, None, None)


def test_values_are_written_as_they_are_and_never_filled_again() -> None:
    values = {"a": "{{b}}", "b": "zq7canary", "n": 1.5, "list": [1, "two"], "none": None}
    prompt = Prompt(text="{{a}} {{n}} {{list}} {{none}}")

    task = make_task(Case(name="one", variables=values), prompt)

    assert task.rendered_input == '{{b}} 1.5 [1,"two"] null'


def test_documents_come_by_their_text() -> None:
    case = Case(
        name="one",
        documents=(
            CaseDocument(name="a.pdf", path="a.pdf", media_type="application/pdf", text="Page one."),
            CaseDocument(name="note"),
        ),
    )

    assert make_task(case).documents == (
        Document(text="Page one.", name="a.pdf", media_type="application/pdf"),
        Document(text="", name="note", media_type="text/plain"),
    )


def test_a_placeholder_without_a_value_is_the_authors_fault() -> None:
    with pytest.raises(AuthoringError, match="topic"):
        make_task(Case(name="one"), Prompt(text="What about {{topic}}?"))
