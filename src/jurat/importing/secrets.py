"""Keys, tokens and passwords do not come along.

Where a suite may hold none (variables, metadata, labels, prompts), a value that looks like a key is written as `***`,
and a member whose name announces one is left out. What was said and what is expected stays, as in every suite: it is
evidence, and may name a made-up key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jurat.credentials import is_credential_name, looks_like_credential, masked
from jurat.jsontext import Json
from jurat.suite.manifest_secrets import WORDS

__all__ = ["Tell", "clean", "clean_text"]

Tell = Callable[[str, str], None]


def clean_text(text: str) -> str:
    """The text with `***` for what looks like a key."""
    for _ in range(8):
        if not looks_like_credential(text):
            return text
        text = masked(text)
    return "***"


def clean(value: Json, path: str, tell: Tell, allowed: frozenset[str] = WORDS) -> Json:
    """The value without secrets; each is told with its path, and not repeated.

    Args:
        allowed: names of members that only look like those of secrets; further inside, none are.
    """
    if isinstance(value, str):
        if not looks_like_credential(value):
            return value
        tell(path, "what looks like a key, token or password; it became ***. If it was real, replace it")
        return clean_text(value)
    if isinstance(value, Mapping):
        kept: dict[str, Json] = {}
        for name, part in value.items():
            if name not in allowed and is_credential_name(name):
                tell(f"{path}.{name}", "a member by the name of a secret; left out")
            else:
                kept[name] = clean(part, f"{path}.{name}", tell, frozenset())
        return kept
    if isinstance(value, list | tuple):
        return [clean(part, f"{path}[{index}]", tell, frozenset()) for index, part in enumerate(value)]
    return value
