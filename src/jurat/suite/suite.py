"""A suite: named, versioned, ordered cases bound to a prompt and a subject. Pure, frozen data, complete once read.

`jurat.suite.manifest` makes one of a file's text, `jurat.suitefiles` reads the files that it names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from jurat.evidence import Message
from jurat.jsontext import Json
from jurat.suite.case import Case

__all__ = ["Limits", "Prompt", "SubjectKind", "SubjectSpec", "Suite"]


class SubjectKind(StrEnum):
    """Who answers."""

    PROVIDER = "provider"
    PYTHON = "python"
    HTTP = "http"
    RECORDED = "recorded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt version: immutable, named by what it says.

    Attributes:
        name: how the suite calls it.
        system: the system message, or None; may hold placeholders.
        text: the user message that follows the case's messages, or None when those are the whole input.
        messages: turns that come before the case's own.
    """

    name: str = "prompt"
    system: str | None = None
    text: str | None = None
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectSpec:
    """What is under evaluation.

    Attributes:
        kind: who answers.
        provider: of `provider`: its name, or a shorthand `kind:model`.
        prompt: of `provider`: which prompt; the only one where None.
        settings: of `provider`: `temperature`, `max_output_tokens`, `extra`. Of `python`: `function`, `timeout_s`. Of
            `http`: `url`, `method`, `headers`, `api_key_env`, `api_key_keyring`, `api_key_header`, `request`, `output`,
            `tool_calls`, `timeout_s`.
    """

    kind: SubjectKind
    provider: str | None = None
    prompt: str | None = None
    settings: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of a run; None sets none (or takes the default).

    Attributes:
        concurrency: calls of subjects and judges in flight together, from 1.
        subject_timeout_s: for one answer of the subject, its retries included.
        evaluator_timeout_s: for one assertion on one trial.
        run_timeout_s: for the whole run; what is not decided by then is an error `timeout`.
        budget_usd: no call is begun once this much is known to be spent.
    """

    concurrency: int | None = None
    subject_timeout_s: float | None = None
    evaluator_timeout_s: float | None = None
    run_timeout_s: float | None = None
    budget_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A whole suite.

    Attributes:
        name: what runs are listed and compared by.
        description: for people.
        providers: rows of the suite's own, by name.
        prompts: at least one where the subject is a provider and the cases bring no messages.
        subject: who answers.
        cases: in the order in which they were written, those of `cases_file` after those in the file.
        samples: how many trials each case gets, 1 to 20.
        reducer: as it was written (`all`, `any`, `majority`, `{minimum_pass_rate: 0.8}`); read by
            `jurat.evaluation.reducer_from_json`.
        policy: quality rules, as they were written; read by `jurat.metrics.policy`.
        limits: bounds of a run.
        file: the file that it was read from, as its author knows it; no part of its identity.
    """

    name: str
    subject: SubjectSpec
    cases: tuple[Case, ...]
    description: str | None = None
    providers: Mapping[str, Mapping[str, Json]] = field(default_factory=lambda: MappingProxyType({}))
    prompts: tuple[Prompt, ...] = ()
    samples: int = 1
    reducer: Json = "all"
    policy: tuple[Mapping[str, Json], ...] = ()
    limits: Limits = Limits()
    file: str | None = field(default=None, compare=False)
