"""What no suite file may hold: keys, tokens and passwords. Each is refused where it stands, and not repeated.

Settings (providers, the subject, limits, a function's arguments) are looked at by name and by value. Everywhere else a
value that looks like a key counts, and a name like `api_key` or `client_secret`; a single plain word such as `token` or
`password` does not, since suites are about such things. Evidence is left alone: what was said, what is expected and
what assertions compare may name a made-up key, or no suite could test for leaks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from jurat.credentials import credential_path
from jurat.errors import Fault
from jurat.jsontext import Json

__all__ = ["WORDS", "case_secrets", "file_secrets"]

_NAMES_OF_KEYS = frozenset({"api_key_env", "api_key_header", "api_key_keyring"})
WORDS = frozenset(
    form
    for word in (
        *("key", "token", "secret", "password", "passwd", "pwd", "passphrase", "auth", "bearer", "cookie", "signature"),
        *("sig", "jwt"),
    )
    for form in (word, word.title(), word.upper())
) | frozenset(("credential", "credentials", "authorization"))
_SAID_BY_A_FAKE = "replies"
_EVIDENCE = frozenset(("value", "expected", "equals", "rubric", "context", "examples", "schema", "matches"))
_CASE_PARTS = ("name", "variables", "labels", "metadata")
_PLAIN_PARTS = ("suite", "description", "prompt", "prompts", "sampling", "policy", "limits", "cases_file", "include")


def file_secrets(value: Mapping[str, Json]) -> Iterator[Fault]:
    """The faults of a suite file, its cases left aside."""
    for index, row in enumerate(_list(value.get("providers"))):
        if isinstance(row, Mapping):
            settings = {name: part for name, part in row.items() if name != _SAID_BY_A_FAKE}
            yield from _settings(settings, f"providers[{index}]")
    yield from _settings(value.get("subject"), "subject")
    for name in _PLAIN_PARTS:
        yield from _content(value.get(name), name)
    yield from _assertions(value.get("assertions"), "assertions")


def case_secrets(value: Mapping[str, Json], path: str) -> Iterator[Fault]:
    """The faults of one case."""
    inner = f"{path}." if path else ""
    for name in _CASE_PARTS:
        if part := value.get(name):
            yield from _content(part, f"{inner}{name}")
    if assertions := value.get("assertions"):
        yield from _assertions(assertions, f"{inner}assertions")


def _assertions(values: Json, path: str) -> Iterator[Fault]:
    for index, value in enumerate(_list(values)):
        if isinstance(value, Mapping):
            evidence = _EVIDENCE if value.get("type") == "python" else _EVIDENCE | {"arguments"}
            yield from _settings({k: part for k, part in value.items() if k not in evidence}, f"{path}[{index}]")


def _settings(value: Json, path: str) -> Iterator[Fault]:
    found = credential_path(value, path, allowed=_NAMES_OF_KEYS)
    if found is not None:
        hint = "Put it into an environment variable, and name that variable in api_key_env. If it was real, replace it"
        yield _fault(found, hint)


def _content(value: Json, path: str) -> Iterator[Fault]:
    found = credential_path(value, path, allowed=WORDS)
    if found is not None:
        yield _fault(found, "If it was real, replace it. If it is made up, give its holder another name, or alter it")


def _fault(path: str, hint: str) -> Fault:
    return Fault(path=path, expected="no key, token or password", found="what looks like one", hint=hint)


def _list(value: Json) -> list[Json] | tuple[Json, ...]:
    return value if isinstance(value, list | tuple) else ()
