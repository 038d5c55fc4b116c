"""What a comparison says in words, the same on every face: what happened, what it shows, and what it cannot show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jurat.jsontext import Json
from jurat.report.digits import apart, count, percent, short, told_apart

__all__ = [
    "ASSERTION_HEAD",
    "LEGEND",
    "TITLES",
    "assertion_rows",
    "finding_of",
    "headline",
    "hidden_words",
    "moved",
    "pass_rate_words",
    "statuses_of",
    "test_words",
    "title_word",
    "why_of",
]

TITLES = {
    "regressed": ("case regressed", "cases regressed"),
    "fixed": ("case was fixed", "cases were fixed"),
    "errored": ("case has an error in either run", "cases have an error in either run"),
    "unverified": ("case is unverified in either run", "cases are unverified in either run"),
    "incompatible": ("case was measured in another way", "cases were measured in another way"),
    "changed": ("case asks something else", "cases ask something else"),
    "added": ("case is new", "cases are new"),
    "removed": ("case is gone", "cases are gone"),
}
"""The classes of cases that are listed, in that order, and how they are called."""

_WORDS = {"found": "REGRESSED", "none": "NO REGRESSION", "undecided": "UNDECIDED"}


def title_word(regression: str) -> str:
    """The outcome in a word."""
    return _WORDS[regression]


def headline(summary: Mapping[str, Json]) -> str:
    """`2 of 48 compared cases regressed, 1 was fixed; 2 more could not be compared.`"""
    cases, counts = summary["cases"], summary["cases"]["counts"]
    if not cases["compared"]:
        return f"None of the {count(cases['both'], 'case')} in both runs could be compared."
    told = f"{counts['regressed']:,} of {count(cases['compared'], 'compared case')} regressed"
    told += f", {counts['fixed']:,} {'was' if counts['fixed'] == 1 else 'were'} fixed"
    apart_ = cases["both"] - cases["compared"]
    return told + (f"; {apart_:,} more could not be compared." if apart_ else ".")


def hidden_words(summary: Mapping[str, Json]) -> str:
    """How many cases could hide a regression; nothing where none could."""
    hiding = summary["cases"]["hiding"]
    if not hiding:
        return ""
    if hiding == 1:
        return "1 of those could hide a regression: it passed before, or may have."
    return f"{hiding:,} of those could hide a regression: they passed before, or may have."


# --- the pass rate -------------------------------------------------------------------------------------------------


def moved(value: float, digits: int = 3) -> str:
    """A difference with its sign, `-2.08` or `+5.5`; 0 has none."""
    return f"+{short(value, digits)}" if value > 0 else short(value, digits)


def pass_rate_words(found: Mapping[str, Json]) -> list[str]:
    """The pass rates and their difference with its interval; what that shows; what could be seen at all."""
    if found["difference"] is None:
        return ["no trial could be compared"]
    old, new = apart(found["base"] * 100, found["candidate"] * 100)
    told = [f"{old} % before, {new} % now, over {count(found['cases'], 'case')}: {_points(found['difference'])}"]
    if found["interval"] is None:
        return [*told, "One case says nothing of others: there is no interval."]
    low, high = (moved(end * 100) for end in found["interval"])
    told[0] += f" (95 % interval {low} to {high})"
    return [*told, *_what_it_shows(found)]


def _points(difference: float) -> str:
    return f"{moved(difference * 100)} points" if difference else "no change"


def _what_it_shows(found: Mapping[str, Json]) -> list[str]:
    low, high = found["interval"]
    visible = found["smallest_visible"]
    least = percent(visible).removesuffix(" %")
    if high < 0:
        shown = "The pass rate fell, by more than chance explains."
    elif low > 0:
        shown = "The pass rate rose, by more than chance explains."
    else:
        shown = "That may be chance: the interval holds 0. It shows no change, and rules out none within it."
    if visible >= 1:
        return [shown, "These cases are too few, or too unsteady, to show any change."]
    return [shown, f"These cases show a true change of {least} points or more, four times out of five."]


def test_words(found: Mapping[str, Json]) -> str:
    """McNemar's test in words."""
    sides = found["regressed"] + found["fixed"]
    if not sides:
        return "no case changed sides"
    p, mid = (short(found[name], 2) for name in ("exact_p", "mid_p"))
    return f"{found['regressed']:,} regressed, {found['fixed']:,} fixed: p = {p} (exact), {mid} (mid-p)"


# --- measurements --------------------------------------------------------------------------------------------------

LEGEND = "visible: the smallest true change that so many cases show four times out of five"
ASSERTION_HEAD = ("measurement", "cases", "before", "now", "change", "95 % interval", "visible")
"""The columns of `assertion_rows`."""


def assertion_rows(summary: Mapping[str, Json]) -> list[tuple[str, ...]]:
    """Mean scores by assertion, then latency and cost: each as text by column."""
    rows = [_row(_title(one), one) for one in summary["assertions"] if one["cases"]]
    for title, name in (("latency, ms", "latency_ms"), ("cost of a trial, $", "cost_usd")):
        found = summary[name]
        if found["cases"] and (found["base"] or found["candidate"]):
            rows.append(_row(title, found))
    return rows


def _title(one: Mapping[str, Json]) -> str:
    kind = one["template"] or one["type"]
    return one["name"] if one["name"] == kind else f"{one['name']} ({kind})"


def _row(title: str, found: Mapping[str, Json]) -> tuple[str, ...]:
    old, new = apart(found["base"], found["candidate"])
    interval = found["interval"]
    ends = "" if interval is None else " to ".join(moved(end) for end in interval)
    return title, f"{found['cases']:,}", old, new, moved(found["difference"]), ends, _visible(found)


def _visible(found: Mapping[str, Json]) -> str:
    """The smallest change that shows; `none` where the scale has no room for it."""
    least, scale = found["smallest_visible"], found.get("range")
    if least is None:
        return ""
    return "none" if scale is not None and least > scale[1] - scale[0] else short(least, 3)


# --- one case ------------------------------------------------------------------------------------------------------


def statuses_of(case: Mapping[str, Json]) -> str:
    """`pass → error`; of a case of one run, its status there."""
    return " → ".join(case[word]["status"] for word in ("base", "candidate") if case[word] is not None)


def why_of(case: Mapping[str, Json]) -> str:
    """What keeps the outcomes from being compared, and the categories of errors; nothing where nothing does."""
    known = case["change"] == "changed" and case["asks_anew"]  # which its class says already
    errors = {word for side in (case["base"], case["candidate"]) if side is not None for word in side["errors"]}
    return "; ".join([*([] if known else case["why"]), *sorted(errors)])


# --- one assertion of a case ---------------------------------------------------------------------------------------


def finding_of(one: Mapping[str, Json]) -> tuple[str, str] | None:
    """An assertion of a case, as its title and what happened to it; None where nothing did."""
    old, new = one["base"], one["candidate"]
    if old is None or new is None:
        return _title(one), "only the candidate has it" if old is None else "only the base has it"
    words = [_outcomes(old), _outcomes(new)]
    scores = _scores(old, new)
    if words[0] == words[1] and (scores is None or old["score"] == new["score"]) and not one["why"]:
        return None
    status = words[0] if words[0] == words[1] else f"{words[0]} → {words[1]}"
    return _title(one), ", ".join([status, *([scores] if scores else []), *one["why"]])


def _outcomes(side: Mapping[str, Json]) -> str:
    total = side["passed"] + side["failed"] + side["undecided"]
    if total > 1:
        return f"{side['passed']} of {total} passed" + (f", {side['undecided']} undecided" if side["undecided"] else "")
    return "pass" if side["passed"] else "fail" if side["failed"] else "undecided"


def _scores(old: Mapping[str, Json], new: Mapping[str, Json]) -> str | None:
    """Both scores so that they compare, with each other and with the threshold, as they did."""
    if old["threshold"] is None and new["threshold"] is None and {old["score"], new["score"]} <= {0.0, 100.0, None}:
        return None  # a plain check, whose outcome says as much
    texts = _beside(old, new)
    if old["threshold"] == new["threshold"]:
        limit = "" if new["threshold"] is None else f", threshold {told_apart(0, new['threshold'])[1]}"
        return f"score {texts[0]} → {texts[1]}{limit}"
    return f"score {texts[0]} → {texts[1]}"


def _beside(old: Mapping[str, Json], new: Mapping[str, Json]) -> Sequence[str]:
    scores = [old["score"], new["score"]]
    pair = apart(*scores) if None not in scores else [None if one is None else short(one) for one in scores]
    texts = []
    for text, side in zip(pair, (old, new), strict=True):
        if text is None:
            texts.append("none")
            continue
        held = text if side["threshold"] is None else told_apart(side["score"], side["threshold"])[0]
        texts.append(max(text, held, key=len))
    return texts
