"""The JSON Schema of suite files, made from the tables that the reader goes by, so that editors complete and check.

What stands above suites (assertions, reducers, policies, providers) hands in the schemas of its own.
"""

from __future__ import annotations

from copy import deepcopy

from jurat.jsontext import Json
from jurat.suite.manifest_keys import CASE, SUITE, message_schemas

__all__ = ["suite_schema"]


def suite_schema(*, assertion: Json, reducer: Json, policy: Json, provider: Json) -> dict[str, Json]:
    """The JSON Schema (draft 2020-12) of suite files.

    It cannot say that names differ, that placeholders have values, that somebody answers, or what other files hold.

    Args:
        assertion: of one assertion.
        reducer: of `sampling.reducer`.
        policy: of the list of rules.
        provider: of one provider row.
    """
    schema: dict[str, Json] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Jurat suite",
        "description": "A named, ordered set of test cases bound to a prompt and a subject.",
        **SUITE.schema(),
        "$defs": {
            "case": CASE.schema(),
            **message_schemas(),
            "assertion": assertion,
            "reducer": reducer,
            "policy": policy,
            "provider": provider,
        },
    }
    return deepcopy(schema)
