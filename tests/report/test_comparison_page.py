"""Comparisons for people: bounded, harmless, and never saying more than was found."""

from __future__ import annotations

from typing import Any

import pytest

from jurat.report.comparison_markdown import ComparisonMarkdown
from jurat.report.comparison_page import ComparisonPage
from jurat.report.comparison_words import finding_of, pass_rate_words
from jurat.report.comparison_words import test_words as words_of_the_test
from jurat.report.console_look import Look, in_colour

Map = dict[str, Any]


def paired(**changes: Any) -> Map:
    found = {"cases": 48, "unknown": 0, "base": 0.9375, "candidate": 0.9167, "difference": -0.0208}
    return {**found, "interval": [-0.098, 0.055], "smallest_visible": 0.109, **changes}


NOTHING = paired(cases=0, base=None, candidate=None, difference=None, interval=None, smallest_visible=None)


def head(regression: str = "found", **counts: int) -> Map:
    words = ("regressed", "fixed", "errored", "unverified", "incompatible", "changed", "added", "removed", "unchanged")
    told = {word: counts.get(word, 0) for word in words}
    compared = told["regressed"] + told["fixed"] + told["unchanged"]
    side = {"id": "20260101-1", "suite": "capitals", "created_at": "2026-01-01T00:00:00Z"}
    return {
        "base": side,
        "candidate": {**side, "id": "20260102-1"},
        "regression": regression,
        "summary": {
            "cases": {"both": sum(told.values()) - told["added"] - told["removed"], "compared": compared,
                      "counts": told, "hiding": counts.get("hiding", 0)},
            "pass_rate": paired(),
            "mcnemar": {"regressed": told["regressed"], "fixed": told["fixed"], "exact_p": 0.5, "mid_p": 0.375},
            "assertions": [],
            "latency_ms": NOTHING,
            "cost_usd": NOTHING,
            "differs": [],
            "warnings": [],
        },
    }  # fmt: skip


def measured(passed: int = 1, failed: int = 0, score: float | None = 90.0, threshold: float | None = 80) -> Map:
    return {"passed": passed, "failed": failed, "undecided": 0, "score": score, "threshold": threshold}


def assertion(old: Map | None, new: Map | None, *why: str, name: str = "tone") -> Map:
    return {"name": name, "type": "rubric_judge", "template": None, "base": old, "candidate": new, "why": list(why)}


def case(name: str = "a", change: str = "regressed", passed: tuple[int, int] = (1, 0), trials: int = 1) -> Map:
    def side(status: str, count: int) -> Map:
        return {"status": status, "file": "capitals.yaml", "line": 7, "errors": [], "passed": count,
                "failed": trials - count, "undecided": 0}  # fmt: skip

    found = [assertion(measured(), measured(0, 1, 79.9999))]
    return {"name": name, "change": change, "base": side("pass", passed[0]), "candidate": side("fail", passed[1]),
            "asks_anew": False, "why": [], "assertions": found}  # fmt: skip


def page(cases: list[Map], told: Map, look: Look | None = None) -> str:
    made = ComparisonPage(look)
    for one in cases:
        made.case(one)
    return made.text(told)


def test_what_a_name_holds_cannot_act_on_the_terminal() -> None:
    shown = page([case("\x1b[2Jfalls\u202e")], head(regressed=1))

    assert "FAIL   \\x1b[2Jfalls\\u202e  capitals.yaml:7" in shown
    assert "\x1b" not in shown


def test_in_markdown_a_name_stays_text() -> None:
    made = ComparisonMarkdown()
    made.case(case("<script>@you|`x`"))

    assert "- <code>&#60;script&#62;@<!-- -->you&#124;&#96;x&#96;</code>" in made.text(head(regressed=1))


def test_of_many_regressions_twenty_are_shown_and_the_others_counted() -> None:
    shown = page([case(f"case{index}") for index in range(500)], head(regressed=500))

    assert "500 cases regressed:" in shown
    assert shown.count("FAIL ") == 20
    assert "  and 480 more\n" in shown


def test_trials_are_told_beside_the_case() -> None:
    shown = page([case(passed=(4, 1), trials=5)], head(regressed=1))

    assert "FAIL   a  capitals.yaml:7  4 of 5 → 1 of 5 trials passed\n" in shown


def test_colours_repeat_what_words_say() -> None:
    shown = page([case()], head(regressed=1), Look(width=80, paint=in_colour))

    assert "\x1b[1;31mREGRESSED\x1b[0m" in shown
    assert "\x1b[1;31mFAIL\x1b[0m" in shown


@pytest.mark.parametrize("width", [40, 80, 120])
def test_lines_keep_the_width(width: int) -> None:
    cases = [case("a"), {**case("b", "incompatible"), "why": ["tone: another judge identity"] * 4}]

    lines = page(cases, head(regressed=1, incompatible=1, hiding=1), Look(width=width)).splitlines()

    assert max(map(len, lines)) <= max(width, 60)


@pytest.mark.parametrize(
    ("old", "new", "why", "said"),
    [
        (measured(), measured(0, 1, 79.9999), (), "pass → fail, score 90 → 79.9999, threshold 80"),
        (measured(), measured(score=90.0), (), None),
        (measured(score=90.00001), measured(score=90.00002), (), "pass, score 90.00001 → 90.00002, threshold 80"),
        (measured(3, 1, 80.0), measured(1, 3, 60.0), (), "3 of 4 passed → 1 of 4 passed, score 80 → 60, threshold 80"),
        (measured(score=100.0, threshold=None), measured(0, 1, 0.0, None), (), "pass → fail"),
        (measured(), measured(threshold=85), ("another threshold: 80 before, 85 now",),
         "pass, score 90 → 90, another threshold: 80 before, 85 now"),
        (None, measured(), ("only the candidate has it",), "only the candidate has it"),
        (measured(), None, ("only the base has it",), "only the base has it"),
        (measured(), {**measured(0, 0, None), "undecided": 1}, (), "pass → undecided, score 90 → none, threshold 80"),
    ],
)  # fmt: skip
def test_an_assertion_says_what_happened_to_it(
    old: Map | None, new: Map | None, why: tuple[str, ...], said: Any
) -> None:
    found = finding_of(assertion(old, new, *why))

    assert (None if found is None else found[1]) == said


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (paired(), "It shows no change, and rules out none within it."),
        (paired(interval=[-0.2, -0.01]), "The pass rate fell, by more than chance explains."),
        (paired(interval=[0.01, 0.2]), "The pass rate rose, by more than chance explains."),
        (paired(interval=[-1.0, 0.9], smallest_visible=1.2), "too few, or too unsteady, to show any change."),
        (paired(), "show a true change of 10.9 points or more, four times out of five."),
        (paired(interval=None, smallest_visible=None), "One case says nothing of others"),
        (NOTHING, "no trial could be compared"),
    ],
)
def test_the_pass_rate_says_what_it_shows_and_what_it_cannot(found: Map, said: str) -> None:
    assert said in " ".join(pass_rate_words(found))


def test_rates_that_differ_are_told_apart() -> None:
    told = pass_rate_words(paired(base=0.900001, candidate=0.9, difference=-0.000001))

    assert told[0].startswith("90.0001 % before, 90 % now, over 48 cases: -0.0001 points (95 % interval -9.8 to +5.5)")


def test_where_no_case_changed_sides_there_is_no_test() -> None:
    assert words_of_the_test({"regressed": 0, "fixed": 0, "exact_p": 1.0, "mid_p": 1.0}) == "no case changed sides"


def test_nothing_that_could_be_compared_is_no_success() -> None:
    told = head("undecided", incompatible=3, hiding=3)
    told["summary"]["pass_rate"] = NOTHING

    shown = page([{**case(str(index), "incompatible"), "why": ["x"]} for index in range(3)], told)

    assert shown.startswith("capitals  UNDECIDED")
    assert "None of the 3 cases in both runs could be compared." in shown
