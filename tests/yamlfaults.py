"""What the reader of YAML and JSON says of a text that it refuses."""

from __future__ import annotations

import pytest

from jurat.errors import AuthoringError, Fault
from jurat.yamltext import parse_document


def faults(text: str | bytes, file: str | None = "suite.yaml") -> tuple[Fault, ...]:
    """All that is wrong with a text, each fault of them in its file."""
    with pytest.raises(AuthoringError) as caught:
        parse_document(text, file)
    assert all(fault.file == file for fault in caught.value.faults)
    return caught.value.faults


def only_fault(text: str | bytes, file: str | None = "suite.yaml") -> Fault:
    """The one thing that is wrong with a text."""
    (fault,) = faults(text, file)
    return fault
