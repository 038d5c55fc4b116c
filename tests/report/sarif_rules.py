"""The part of the SARIF 2.1.0 schema (OASIS) that reports rely on, written out by hand and closed.

Names, types, enumerations, patterns and required members are those of the standard's schema; what reports do not use is
left out, so that a member which slips in is a fault. The whole schema admits whatever this one does.
"""

from __future__ import annotations

from typing import Any

__all__ = ["SARIF"]


def _object(required: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "additionalProperties": False, "properties": properties}


_TEXT = {"type": "string"}
_BAG = {"type": "object"}
_MESSAGE = _object(("text",), text={"type": "string", "minLength": 1})
_TIME = {"type": "string", "format": "date-time"}
_LEVEL = {"enum": ["none", "note", "warning", "error"]}
_ARTIFACT = _object(("uri",), uri={"type": "string", "format": "uri-reference"}, uriBaseId=_TEXT)
_REGION = _object(("startLine",), startLine={"type": "integer", "minimum": 1})
_PHYSICAL = _object(("artifactLocation",), artifactLocation=_ARTIFACT, region=_REGION)
_LOCATION = _object(("physicalLocation",), physicalLocation=_PHYSICAL)
_RULE = _object(("id",), id=_TEXT, name=_TEXT, shortDescription=_MESSAGE)
_RESULT = _object(
    ("message", "ruleId", "level"),
    ruleId=_TEXT,
    level=_LEVEL,
    message=_MESSAGE,
    locations={"type": "array", "items": _LOCATION},
    partialFingerprints={"type": "object", "additionalProperties": _TEXT},
    properties=_BAG,
)
_DRIVER = _object(
    ("name",),
    name=_TEXT,
    version=_TEXT,
    informationUri={"type": "string", "format": "uri"},
    rules={"type": "array", "items": _RULE, "uniqueItems": True},
)
_NOTIFICATION = _object(("message",), level=_LEVEL, message=_MESSAGE)
_INVOCATION = _object(
    ("executionSuccessful",),
    executionSuccessful={"type": "boolean"},
    startTimeUtc=_TIME,
    endTimeUtc=_TIME,
    toolExecutionNotifications={"type": "array", "items": _NOTIFICATION},
)
_RUN = _object(
    ("tool", "results"),
    tool=_object(("driver",), driver=_DRIVER),
    results={"type": "array", "items": _RESULT},
    invocations={"type": "array", "items": _INVOCATION},
    automationDetails=_object((), id=_TEXT),
    properties=_BAG,
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
)
SARIF: dict[str, Any] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    **_object(
        ("version", "runs"),
        **{"$schema": {"type": "string", "format": "uri"}},
        version={"enum": ["2.1.0"]},
        runs={"type": "array", "items": _RUN},
    ),
}
