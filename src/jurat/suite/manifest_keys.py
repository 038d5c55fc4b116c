"""The keys of a suite file, in tables: what each may hold and what it is for.

The reader and the published JSON Schema are both made from these, and the documentation is held to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jurat.errors import Fault
from jurat.evidence import Role, message_from_json
from jurat.jsontext import Json
from jurat.suite.records import ByKey, Either, Key, ListOf, MapOf, Object, Record, Referred
from jurat.suite.shapes import INVALID, Anything, Choice, Flag, Number, Text, Whole
from jurat.vocabulary import MAX_CONCURRENCY

__all__ = [
    "CASE",
    "FRAGMENT",
    "LISTS",
    "MAX_SAMPLES",
    "PROMPT",
    "SCHEMA_VERSION",
    "SUITE",
    "message_schemas",
]

SCHEMA_VERSION = 1
MAX_SAMPLES = 20

_NAME = Text(longest=200, line=True, what="a name")
_PATH = Text(longest=1000, line=True, what="the path of a file in the suite's folder")
_SECONDS = Number(above=0, maximum=1_000_000)


class _Message:
    """A message of a conversation, as `jurat.evidence` reads it."""

    def read(self, value: object, path: str, faults: list[Fault]) -> Any:
        read = message_from_json(value, path, faults)
        return INVALID if read is None else read

    def schema(self) -> dict[str, Json]:
        return {"$ref": "#/$defs/message"}


_IMAGE: Mapping[str, Json] = {
    "path": {"type": "string", "description": "A picture of the suite's folder: PNG, JPEG, GIF or WebP."},
    "data": {
        "type": "string",
        "minLength": 4,
        "pattern": r"^[A-Za-z0-9+/=\s]+$",
        "description": "The picture itself, in base64.",
    },
    "media_type": {"type": "string", "description": "What it is; must agree with its content."},
    "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "Its hash, where that was recorded."},
    "size_bytes": {"type": "integer", "minimum": 0, "description": "Its size, where that was recorded."},
}


def message_schemas() -> dict[str, Json]:
    """The schemas under `$defs` that messages need."""

    def block(kind: str, required: tuple[str, ...], **properties: Json) -> Json:
        return {
            "type": "object",
            "properties": {"type": {"const": kind}, **properties},
            "required": ["type", *required],
            "additionalProperties": False,
        }

    text: Json = {"type": "string"}
    content: Json = {"anyOf": [text, {"type": "array", "items": {"$ref": "#/$defs/block"}}]}
    return {
        "message": {
            "type": "object",
            "properties": {"role": {"enum": [role.value for role in Role]}, "content": content},
            "required": ["role", "content"],
            "additionalProperties": False,
        },
        "block": {
            "anyOf": [
                *(block(kind, ("text",), text=text) for kind in ("text", "refusal", "thinking")),
                block("tool_call", ("name",), id=text, name=text, arguments={"type": "object"}),
                block("tool_result", (), tool_call_id=text, content=content, failed={"type": "boolean"}),
                {
                    **block("image", (), **_IMAGE),
                    "anyOf": [{"required": [name]} for name in ("path", "data", "sha256")],
                    "not": {"required": ["path", "data"]},
                },
            ]
        },
    }


_MESSAGES = ListOf(each=_Message(), most=10_000, what="a list of messages {role, content}")
_ASSERTIONS = ListOf(
    each=Referred(shape=Object(needs=("type",), what="an assertion {type, …}"), name="assertion"),
    most=1_000,
    what="a list of assertions",
)

PROMPT: Mapping[str, Key] = {
    "name": Key(shape=_NAME, about="What the suite calls it. Default: prompt."),
    "system": Key(shape=Text(blank=True), about="The system message. May hold placeholders."),
    "text": Key(shape=Text(), about="The user message behind the case's messages. May hold placeholders."),
    "messages": Key(shape=_MESSAGES, about="Turns that come before the case's own."),
}
_PROMPT = Either(
    options={
        str: Text(),
        Mapping: Record(keys=PROMPT, what="a prompt", one_of=("text", "system", "messages")),
    },
    what="text, or {system, text, messages}",
)
_NAMED_PROMPT = Record(
    keys={**PROMPT, "name": Key(shape=_NAME, about="A name.", required=True)},
    what="a prompt {name, system, text, messages}",
    one_of=("text", "system", "messages"),
)

_WHICH_PROMPT = Key(shape=_NAME, about="Which of the suite's prompts. Default: the only one.")
_SUBJECT_TIMEOUT = Key(shape=_SECONDS, about="Seconds that one answer may take.")
_SUBJECT = {
    "provider": Record(
        keys={
            "provider": Key(shape=_NAME, about="A provider's name, or kind:model.", required=True),
            "prompt": _WHICH_PROMPT,
            "temperature": Key(shape=Number(minimum=0), about="Default: the model's own."),
            "max_output_tokens": Key(shape=Whole(minimum=1, maximum=10_000_000), about="Default: the model's own."),
            "extra": Key(shape=Object(), about="Further members of each request, as the provider takes them."),
        }
    ),
    "python": Record(
        keys={
            "python": Key(shape=Text(longest=1000, line=True), about="module:function.", required=True),
            "prompt": _WHICH_PROMPT,
            "timeout_s": _SUBJECT_TIMEOUT,
        }
    ),
    "http": Record(
        keys={
            "http": Key(
                shape=Record(
                    keys={
                        "url": Key(shape=Text(longest=2000, line=True), about="The address.", required=True),
                        "method": Key(shape=Choice(words=("POST",)), about="POST is the only one."),
                        "headers": Key(
                            shape=MapOf(each=Text(longest=10_000, line=True)), about="Headers of each call."
                        ),
                        "api_key_env": Key(
                            shape=Text(longest=128, line=True), about="The environment variable that holds the key."
                        ),
                        "api_key_keyring": Key(
                            shape=Text(longest=400, line=True),
                            about="service/user of the keyring's entry that holds it, instead.",
                        ),
                        "api_key_header": Key(
                            shape=Text(longest=128, line=True),
                            about="The header that carries it. Default: Authorization.",
                        ),
                        "request": Key(shape=Anything(), about="The body, as JSON. Its texts may hold placeholders."),
                        "output": Key(shape=Text(longest=1000), about="Where the answer stands in the reply."),
                        "tool_calls": Key(shape=Text(longest=1000), about="Where the tool calls stand in the reply."),
                        "timeout_s": _SUBJECT_TIMEOUT,
                        "allow_plain_http": Key(shape=Flag(), about="Whether http may leave this machine."),
                    },
                    what="an object {url, request, output, …}",
                ),
                about="An endpoint that takes and returns JSON.",
                required=True,
            ),
            "prompt": _WHICH_PROMPT,
        }
    ),
}

_SAMPLING: Mapping[str, Key] = {
    "samples": Key(shape=Whole(minimum=1, maximum=MAX_SAMPLES), about="Trials of each case. Default 1."),
    "reducer": Key(
        shape=Referred(
            shape=Either(
                options={str: Text(longest=100), Mapping: Object()},
                what="all, any, majority or {minimum_pass_rate: …}",
            ),
            name="reducer",
        ),
        about="How they become one outcome. Default all.",
    ),
}

_LIMITS: Mapping[str, Key] = {
    "concurrency": Key(shape=Whole(minimum=1, maximum=MAX_CONCURRENCY), about="Calls in flight together."),
    "subject_timeout_s": Key(shape=_SECONDS, about="Seconds that one answer may take, its retries included."),
    "evaluator_timeout_s": Key(shape=_SECONDS, about="Seconds that one assertion may take on one trial."),
    "run_timeout_s": Key(shape=Number(above=0, maximum=100_000_000), about="Seconds that the whole run may take."),
    "budget_usd": Key(shape=Number(above=0, maximum=1_000_000_000), about="No call is begun once this much is spent."),
}

_DOCUMENT = Either(
    options={
        str: _PATH,
        Mapping: Record(
            keys={
                "path": Key(shape=_PATH, about="A file of the suite's folder."),
                "text": Key(shape=Text(), about="What it says, where it is no file."),
                "name": Key(shape=_NAME, about="What the judge's evidence calls it. Default: the file's name."),
                "media_type": Key(
                    shape=Text(longest=200, line=True), about="What the file is; must agree with its content."
                ),
                "attach": Key(
                    shape=Flag(), about="Whether a model that answers is shown the file (PDF, PNG, JPEG) as it is."
                ),
            },
            what="a path, or {path or text, name, media_type, attach}",
            one_of=("path", "text"),
            only=True,
        ),
    },
    what="a path, or {path or text, name, media_type, attach}",
)

CASE = Record(
    keys={
        "name": Key(shape=_NAME, about="The case's name, by which runs are compared.", required=True),
        "variables": Key(shape=Object(), about="What fills the placeholders."),
        "messages": Key(shape=_MESSAGES, about="The conversation before the answer, oldest first."),
        "documents": Key(shape=ListOf(each=_DOCUMENT, most=1_000), about="What the judge is shown beside."),
        "expected": Key(shape=Anything(), about="The reference answer, any JSON value."),
        "output": Key(shape=Text(longest=16_000_000, blank=True), about="A recorded answer; no subject is asked."),
        "execution": Key(shape=Object(), about="What is known of how a recorded answer came about."),
        "labels": Key(shape=ListOf(each=_NAME, most=1_000, what="a list of words"), about="Words to select by."),
        "metadata": Key(shape=Object(), about="What is kept beside; the judge is shown it."),
        "assertions": Key(shape=_ASSERTIONS, about="What decides, behind the suite's own."),
        "pass_threshold": Key(
            shape=Number(above=0, maximum=1), about="The weighted mean of the scores (0 to 1) that passes."
        ),
    },
    what="a case {name, …}",
)

_CASES_FILE = Either(
    options={
        str: _PATH,
        Mapping: Record(
            keys={
                "path": Key(shape=_PATH, about="A file of the suite's folder.", required=True),
                "format": Key(shape=Choice(words=("jsonl", "csv", "tsv", "parquet")), about="Default: by its ending."),
                "columns": Key(shape=MapOf(each=Text(blank=True), least=1), about="From field to column."),
                "values": Key(shape=Choice(words=("text", "typed")), about="What CSV cells are. Default text."),
                "delimiter": Key(shape=Choice(words=(",", ";", "\t", "|")), about="Of CSV. Default: found."),
            }
        ),
    },
    what="a path, or {path, columns, …}",
)

_PROVIDERS = ListOf(
    each=Referred(shape=Object(needs=("name", "kind"), what="a provider {name, kind, …}"), name="provider"),
    most=1_000,
    what="a list of providers {name, kind, …}",
)
_CASES = ListOf(each=Referred(shape=CASE, name="case"), what="a list of cases")
LISTS: Mapping[str, ListOf] = {"providers": _PROVIDERS, "assertions": _ASSERTIONS, "cases": _CASES}
"""The long lists of a suite file, of which a reader goes on with the members that are sound."""

_SHARED: Mapping[str, Key] = {
    "schema_version": Key(shape=Choice(words=(SCHEMA_VERSION,)), about="The version of this shape. Default 1."),
    "providers": Key(shape=_PROVIDERS, about="Models of the suite's own."),
    "prompts": Key(
        shape=Either(
            options={Mapping: MapOf(each=_PROMPT, least=1), list: ListOf(each=_NAMED_PROMPT, least=1)},
            what="prompts by name",
        ),
        about="Several prompts by name, of which the subject takes one.",
    ),
    "assertions": Key(shape=_ASSERTIONS, about="What decides every case, before its own."),
    "cases": Key(shape=_CASES, about="The cases."),
    "include": Key(
        shape=Either(
            options={str: _PATH, list: ListOf(each=_PATH, most=1_000)},
            what="a path, or a list of paths, in the suite's folder",
        ),
        about="Further files of the suite's folder, with cases, assertions, providers and prompts.",
    ),
}

FRAGMENT = Record(keys=_SHARED, what="an object with cases, assertions, providers, prompts or include")
"""What an included file may hold."""

SUITE = Record(
    keys={
        "schema_version": _SHARED["schema_version"],
        "suite": Key(shape=_NAME, about="The suite's name.", required=True),
        "description": Key(shape=Text(), about="For people."),
        "providers": _SHARED["providers"],
        "prompt": Key(shape=_PROMPT, about="What is asked: text, or {system, text, messages}."),
        "prompts": _SHARED["prompts"],
        "subject": Key(
            shape=Either(
                options={str: _NAME, Mapping: ByKey(options=_SUBJECT)},
                what="a provider's name, or an object with one of provider, python, http",
            ),
            about="Who answers. Left out where every case has an output.",
        ),
        "sampling": Key(shape=Record(keys=_SAMPLING), about="How often each case is tried."),
        "policy": Key(
            shape=Referred(shape=ListOf(each=Object(), what="a list of rules"), name="policy"),
            about="What the whole run must meet. Default: every case passes.",
        ),
        "limits": Key(shape=Record(keys=_LIMITS), about="Bounds of a run."),
        "assertions": _SHARED["assertions"],
        "cases": _SHARED["cases"],
        "cases_file": Key(shape=_CASES_FILE, about="A table whose rows are cases."),
        "include": _SHARED["include"],
    },
    what="a suite {suite, cases, …}",
)
"""A suite file."""
