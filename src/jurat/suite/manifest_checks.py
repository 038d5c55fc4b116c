"""How the parts of a suite fit together: every placeholder has a value, every case has an input, an answer comes from
somewhere, and no number would be shown otherwise than it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from jurat.errors import Fault
from jurat.evidence import Message
from jurat.jsontext import Json
from jurat.suite.case import Case
from jurat.suite.shapes import inner
from jurat.suite.suite import Prompt, SubjectKind, SubjectSpec
from jurat.suite.template import assertion_texts, message_texts, missing_fault, template_faults, texts_within
from jurat.yamltext import Document

__all__ = ["CaseChecks", "filling_faults", "prompt_faults", "respelled_faults"]

_GIVEN_TO_SERVERS = frozenset(("input", "system", "messages", "repeat"))
"""What the request to a server may hold beside the case's variables."""

_SHOWN = re.compile(r"cases\[\d+\]\.(?:variables|expected|metadata)(?![\w-])")
_OF_ASSERTION = re.compile(r"((?:cases\[(\d+)\]\.)?assertions\[(\d+)\])\.expected(?![\w-])")

Names = dict[str, str]
"""Names that want a value, each with the words for where it is wanted."""


def prompt_faults(prompt: Prompt, path: str) -> list[Fault]:
    """What is wrong with the placeholders of a prompt."""
    faults: list[Fault] = []
    _prompt_names(prompt, path, faults)
    return faults


def _prompt_names(prompt: Prompt, path: str, faults: list[Fault]) -> Names:
    names: Names = {}
    for key, text in (("system", prompt.system), ("text", prompt.text)):
        if text is not None:
            names.update(dict.fromkeys(template_faults(text, inner(path, key), faults), "the prompt"))
    names.update(_message_names(prompt.messages, inner(path, "messages"), "the prompt", faults))
    return names


def _message_names(messages: Iterable[Message], path: str, where: str, faults: list[Fault]) -> Names:
    names: Names = {}
    for index, message in enumerate(messages):
        for text in message_texts(message):
            if found := template_faults(text, f"{path}[{index}].content", faults):
                names.update(dict.fromkeys(found, where))
    return names


def _assertion_names(assertions: Sequence[Mapping[str, Json]], path: str, faults: list[Fault]) -> Names:
    names: Names = {}
    for index, assertion in enumerate(assertions):
        for at, text in assertion_texts(assertion):
            if found := template_faults(text, f"{path}[{index}].{at}", faults):
                where = f"the assertion {assertion.get('name') or assertion.get('type')}"
                names.update(dict.fromkeys(found, where))
    return names


def filling_faults(
    assertions: Sequence[Mapping[str, Json]], variables: Mapping[str, Json], path: str, variables_path: str
) -> list[Fault]:
    """What keeps the placeholders of assertions, which stand at a path, from being filled with these variables."""
    faults: list[Fault] = []
    for name, where in _assertion_names(assertions, path, faults).items():
        if name not in variables:
            faults.append(missing_fault(name, variables, variables_path, where))
    return faults


class CaseChecks:
    """Looks at cases one by one, against what all of them share.

    Args:
        subject: who answers; None where that could not be read.
        prompt: the one that is used, or None.
        shared: the assertions of the whole suite.
        asks: whether there are prompts, sound or not, so that a case without messages may have something to ask.

    Attributes:
        assertion_faults: what is wrong with the placeholders of the shared assertions.
    """

    def __init__(
        self,
        subject: SubjectSpec | None,
        prompt: Prompt | None,
        shared: Sequence[Mapping[str, Json]],
        *,
        asks: bool = False,
    ) -> None:
        self._kind = subject.kind if subject else None
        self._asks = (prompt.text is not None or bool(prompt.messages)) if prompt else asks
        self._shared = len(shared)
        self.assertion_faults: list[Fault] = []
        self._request_faults: list[Fault] = []
        told_with_the_prompt: list[Fault] = []
        self._wanted: Names = {
            **(self._request_names(subject) if subject else {}),
            **_assertion_names(shared, "assertions", self.assertion_faults),
            **(_prompt_names(prompt, "", told_with_the_prompt) if prompt else {}),
        }
        self._without_output: list[str] = []

    def _request_names(self, subject: SubjectSpec) -> Names:
        """What the request to a server wants from the case, beside what it is given anyway."""
        if subject.kind is not SubjectKind.HTTP:
            return {}
        texts = texts_within(subject.settings.get("request"), "subject.http.request")
        names = (name for at, text in texts for name in template_faults(text, at, self._request_faults))
        return {name: "the subject's request" for name in names if name not in _GIVEN_TO_SERVERS}

    def faults_of(self, case: Case, path: str) -> Iterator[Fault]:
        """What is wrong with a case, which stands at a path."""
        faults: list[Fault] = []
        wanted = self._wanted
        if case.messages:
            wanted = {**_message_names(case.messages, inner(path, "messages"), "the messages", faults), **wanted}
        if len(case.assertions) > self._shared:
            own = case.assertions[self._shared :]
            wanted = {**_assertion_names(own, inner(path, "assertions"), faults), **wanted}
        yield from faults
        for name, where in wanted.items():
            if name not in case.variables:
                yield missing_fault(name, case.variables, inner(path, "variables"), where)
        if case.output is None:
            yield from self._input_faults(case, path)

    def _input_faults(self, case: Case, path: str) -> Iterator[Fault]:
        if self._kind is SubjectKind.RECORDED:
            self._without_output.append(case.name)
        elif self._kind is SubjectKind.PROVIDER and not self._asks and not case.messages:
            expected = "messages, or a prompt of the suite that asks"
            yield Fault(path=path, expected=expected, found="neither, so there is nothing to ask")

    def subject_faults(self) -> list[Fault]:
        """What is wrong with the subject's request; or that nobody is there to answer, after all cases were seen."""
        names = self._without_output
        if not names:
            return self._request_faults
        shown = ", ".join(repr(name) for name in names[:3]) + (", …" if len(names) > 3 else "")
        many = "1 case has" if len(names) == 1 else f"{len(names):,} cases have"
        nobody = Fault(
            path="subject",
            expected="who answers: a provider, {python: …} or {http: …}",
            found=f"nothing, and {many} no output ({shown})",
        )
        return [*self._request_faults, nobody]


def respelled_faults(document: Document) -> Iterator[Fault]:
    """Numbers that would be shown otherwise than they were written, where a model or a judge is shown them."""
    for path, spelling in document.respelled():
        if _SHOWN.match(path) or _of_judge(document.value, path):
            hint = f"Put it in quotes, if text is meant: '{spelling[:40]}'"
            found = f"the number {spelling[:40]}"
            yield Fault(path=path, expected="a number that is shown as it is written", found=found, hint=hint)


def _of_judge(value: Json, path: str) -> bool:
    found = _OF_ASSERTION.match(path)
    if found is None:
        return False
    try:
        holder = value["cases"][int(found[2])] if found[2] is not None else value
        return bool(holder["assertions"][int(found[3])].get("type") == "rubric_judge")
    except (KeyError, IndexError, TypeError, AttributeError):
        return False
