"""Filters: which cases are chosen, and which expressions are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.errors import AuthoringError
from jurat.jsontext import freeze
from jurat.suite.case import Case
from jurat.suite.filter import parse_filter

CASES = (
    Case(name="billing-1", labels=("smoke",), metadata=freeze({"tier": "gold", "seats": 5})),
    Case(name="billing-2", labels=("slow", "needs review"), metadata=freeze({"tier": "silver", "a": {"b": True}})),
    Case(name="https://a.example/b", metadata=freeze({"a.b": "x"})),
    Case(name="Billing-3"),
)


def chosen(expr: str) -> list[str]:
    return [case.name for case in CASES if parse_filter(expr)(case)]


@pytest.mark.parametrize(
    ("expr", "names"),
    [
        ("*", ["billing-1", "billing-2", "https://a.example/b", "Billing-3"]),
        ("billing-*", ["billing-1", "billing-2"]),
        ("billing-1", ["billing-1"]),
        ("billing", []),
        ("name:?illing-[13]", ["billing-1", "Billing-3"]),
        ("https://*", ["https://a.example/b"]),
        ('name:"https://a.example/b"', ["https://a.example/b"]),
        ("label:smoke", ["billing-1"]),
        ('label:"needs review"', ["billing-2"]),
        ("label:*", ["billing-1", "billing-2"]),
        ("!label:*", ["https://a.example/b", "Billing-3"]),
        ("metadata.tier=g*", ["billing-1"]),
        ("metadata.seats=5", ["billing-1"]),
        ("metadata.a.b=*", ["billing-2", "https://a.example/b"]),
        ("metadata.a.b=true", ["billing-2"]),
        ("!metadata.tier=gold  billing-*", ["billing-2"]),
        ("billing-* !!label:slow", ["billing-2"]),
    ],
)
def test_all_terms_must_hold(expr: str, names: list[str]) -> None:
    assert chosen(expr) == names


@pytest.mark.parametrize(
    ("expr", "expected", "hint"),
    [
        ("", "at least one term, such as name:billing-* or label:smoke", None),
        ("  ", "at least one term, such as name:billing-* or label:smoke", None),
        ("!", "a term behind !", None),
        ("lable:x", "name:GLOB, label:GLOB or metadata.key=GLOB", "Did you mean label?"),
        ("a:b", "name:GLOB, label:GLOB or metadata.key=GLOB", 'For a name with a colon, write name:"a:b"'),
        ("label:", "a GLOB behind label:", None),
        ("metadata.tier", "metadata.key=GLOB", None),
        ("metadata:x", "metadata.key=GLOB", None),
        ('label:"x', "quotation marks in pairs", None),
        ("x" * 4001, "at most 4,000 characters", None),
    ],
)
def test_a_term_that_cannot_be_read_is_refused(expr: str, expected: str, hint: str | None) -> None:
    with pytest.raises(AuthoringError) as caught:
        parse_filter(expr)

    [fault] = caught.value.faults
    assert (fault.path, fault.expected, fault.hint) == ("--filter", expected, hint)


def test_all_bad_terms_are_told_together() -> None:
    with pytest.raises(AuthoringError) as caught:
        parse_filter("! foo:x metadata.y")

    assert len(caught.value.faults) == 3


@given(st.text(alphabet='ab*?[]!:".= \nmetadata', max_size=30))
def test_no_expression_crashes(expr: str) -> None:
    try:
        test = parse_filter(expr)
    except AuthoringError:
        return
    assert [test(case) for case in CASES] == [test(case) for case in CASES]


def test_many_stars_take_no_longer() -> None:
    assert not parse_filter("*a" * 50 + "b")(Case(name="a" * 5_000))
