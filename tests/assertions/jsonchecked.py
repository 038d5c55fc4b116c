"""What the tests of JSON checks share: what one assertion finds in an output, and any JSON values."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from jurat.assertions import build_assertion
from jurat.evaluation import Assessment
from jurat.evidence import Context

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)
)
values = st.recursive(
    scalars,
    lambda part: st.lists(part, max_size=4) | st.dictionaries(st.text(max_size=3), part, max_size=4),
    max_leaves=12,
)


def found(context: Context | str, **assertion: Any) -> Assessment:
    """What an assertion finds in an output or context."""
    result = build_assertion(assertion).evaluate(context)
    assert isinstance(result, Assessment)
    return result
