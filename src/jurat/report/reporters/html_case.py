"""One case in a page: a line that says how it came out and why, and below it every trial with all of its proof."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from jurat.evidence import Evidence
from jurat.jsontext import Json, canonical
from jurat.judge import Spending
from jurat.report.digits import count, money, short
from jurat.report.findings import held, problems, title_of, unasked
from jurat.report.record import AssessmentRecord, TrialRecord
from jurat.report.reporters.foreign import one_line, xml
from jurat.report.reporters.html_run import foreign, pill
from jurat.report.reporters.html_talk import anchor, called, talk_html
from jurat.report.reporters.reporter import Told
from jurat.vocabulary import Status

__all__ = ["case_html"]

_WHY = 240
_RAIL = 134


def case_html(told: Told, samples: int, key: str, include_output: bool) -> str:
    """A case.

    Args:
        key: names it in the page; letters and digits alone.
        include_output: whether answers and conversations are shown.
    """
    parts = [*_summary(told, samples, key), '<div class="inside">', *_origin(told)]
    for trial, seen in _with_evidence(told):
        parts += _trial(trial, seen, samples, f"{key}t{trial.trial_index}", include_output)
    return "".join([*parts, "</div></details>\n"])


def _with_evidence(told: Told) -> Iterator[tuple[TrialRecord, Sequence[Evidence]]]:
    for index, trial in enumerate(told.trials):
        yield trial, told.seen[index] if index < len(told.seen) else ()


# --- the line ------------------------------------------------------------------------------------------------------


def _summary(told: Told, samples: int, key: str) -> Iterator[str]:
    lowest = _lowest(told.trials)
    spent = [
        one for trial in told.trials for one in (trial.subject.spending, *(made.spending for made in trial.assessments))
    ]
    milliseconds = sum(one.duration_ms for one in spent)
    cost = None if any(one.cost_usd is None for one in spent) else sum(one.cost_usd or 0 for one in spent)
    data = {
        "tone": told.word,
        "order": str(told.case.case_index),
        "name": one_line(told.case.name, 300),
        "score": "" if lowest is None else f"{lowest[0]:.6f}",
        "cost": "" if cost is None else repr(float(cost)),
        "time": f"{milliseconds:.3f}",
    }
    attributes = " ".join(f'data-{name}="{xml(value)}"' for name, value in data.items())
    labels = "".join(f'<span class="label">{foreign(label, 60)}</span>' for label in told.case.labels[:12])
    yield f'<details class="case" id="{key}" {attributes}><summary><span class="grid">{pill(told.word, told.word)}'
    yield f'<span class="name">{foreign(told.case.name)}{labels}</span><span class="why">{_why(told, samples)}</span>'
    yield f'<span class="numbers"><span class="right number">{"" if lowest is None else xml(lowest[1])}</span>'
    yield f'<span class="right number">{"unknown" if cost is None else money(cost) if cost else "–"}</span>'
    yield f'<span class="right number">{_time(milliseconds) if milliseconds else "–"}</span></span></span></summary>\n'


def _why(told: Told, samples: int) -> str:
    if told.outcome is not Status.PASS:
        found = problems(told.trials)
        if not found:
            return xml(unasked(told.trials))
        more = f" and {count(len(found) - 1, 'more finding')}" if len(found) > 1 else ""
        said = found[0].error or found[0].head(samples)
        return foreign(said if found[0].error == "" else f"{found[0].title}: {said}", _WHY) + more
    number = len(told.trials[0].assessments) if told.trials else 0
    passed = sum(trial.status is Status.PASS for trial in told.trials)
    words = "the assertion passed" if number == 1 else f"{number} assertions passed"
    return words if samples == 1 else f"{passed} of {samples} trials passed"


def _lowest(trials: Sequence[TrialRecord]) -> tuple[float, str] | None:
    """The lowest score on a scale, 0 to 1 in its own range, and as it was given."""
    scored = [made for trial in trials for made in trial.assessments if made.score is not None and _scaled(made)]
    return min(((_share(made), short(made.score or 0)) for made in scored), default=None)


def _scaled(made: AssessmentRecord) -> bool:
    """Whether it says on what scale; what only knows all and nothing does not."""
    return "score_range" in _part(made.result, "metadata")


def _range(made: AssessmentRecord) -> tuple[float, float]:
    scale = _part(made.result, "metadata").get("score_range")
    if isinstance(scale, list | tuple) and len(scale) == 2 and scale[0] < scale[1]:
        return float(scale[0]), float(scale[1])
    return 0.0, 100.0


def _share(made: AssessmentRecord) -> float:
    low, high = _range(made)
    return min(max(((made.score or 0) - low) / (high - low), 0.0), 1.0)


def _time(milliseconds: float) -> str:
    return f"{short(milliseconds, 3)} ms" if milliseconds < 1000 else f"{short(milliseconds / 1000, 3)} s"


# --- below the line ------------------------------------------------------------------------------------------------


def _origin(told: Told) -> Iterator[str]:
    place = told.place_of(None)
    facts = []
    if place.file is not None:
        facts.append(f'<span class="mono">{foreign(f"{place.file}:{place.line}" if place.line else place.file)}</span>')
    facts += [f"<span>{foreign(f'{name}: {_text(value)}', 500)}</span>" for name, value in told.case.metadata.items()]
    if facts:
        yield f'<p class="origin">{"".join(facts)}</p>'
    if told.outcome is not Status.PASS and not problems(told.trials):
        yield f'<p class="text">{xml(unasked(told.trials))}</p>'


def _text(value: Json) -> str:
    return value if isinstance(value, str) else canonical(value)


def _trial(trial: TrialRecord, seen: Sequence[Evidence], samples: int, key: str, include_output: bool) -> Iterator[str]:
    if samples > 1:
        sign = pill(trial.status.value, trial.status.value)
        yield f'<h3 class="trial">Trial {trial.trial_index + 1} of {samples} {sign}</h3>'
    if include_output:
        yield talk_html(trial, seen, key)
    if (error := trial.subject.error) is not None:
        yield f'<div class="finding" data-tone="error">{pill("error", "no answer")}<div>'
        yield '<span class="title">subject</span>' + _trouble(error.type.value, error.message) + "</div></div>"
    for index, made in enumerate(trial.assessments):
        if trial.subject.error is None or made.status is not Status.SKIPPED:
            yield from _finding(made, seen[index] if index < len(seen) else None, key)
    yield _asked("subject", {}, trial.subject.spending)


def _finding(made: AssessmentRecord, seen: Evidence | None, key: str) -> Iterator[str]:
    word, result = made.status.value, made.result
    marks = [
        word
        for word in ("required" if made.required else "", f"weight {made.weight:g}" if made.weight != 1 else "")
        if word
    ]
    more = f' <span class="soft">{", ".join(marks)}</span>' if marks else ""
    yield f'<div class="finding" data-tone="{word}">{pill(word, word)}<div>'
    yield f'<span class="title">{foreign(title_of(made))}{more}</span>{_scale(made)}'
    if told := held(made):
        yield f'<span class="soft number">{xml(told)}</span>'
    if result.get("reason"):
        yield f'<p class="text"><bdi>{xml(str(result["reason"]))}</bdi></p>'
    for one in result.get("findings") or ():
        yield f'<p class="text"><bdi>{xml(str(one.get("message", "")))}</bdi></p>'
    yield from _quotes(result, seen, key)
    yield from _criteria(result)
    yield from _repeats(result)
    if error := _part(_part(result, "evaluator"), "error"):
        yield _trouble(str(error["type"]), str(error["message"]))
    yield _asked("judge", _part(result, "evaluator"), made.spending) + "</div></div>\n"


def _scale(made: AssessmentRecord) -> str:
    """The score as a point on its range, with a tick at the threshold."""
    facts = _part(made.result, "metadata")
    if made.score is None or not _scaled(made):
        return ""
    low, high = _range(made)
    limit, tick = facts.get("threshold"), ""
    if isinstance(limit, int | float) and not isinstance(limit, bool) and low <= limit <= high:
        tick = f'<rect class="limit" x="{8 + _RAIL * (limit - low) / (high - low):.1f}" y="1" width="2" height="14"/>'
    words = f"{short(made.score)} on a scale from {low:g} to {high:g}"
    return (
        f'<svg class="scale" viewBox="0 0 150 16" role="img" aria-label="{words}"><rect class="rail" x="8" y="6" '
        f'width="{_RAIL}" height="4" rx="2"/>'
        f'<circle class="dot" cx="{8 + _RAIL * _share(made):.1f}" cy="8" r="6"/>{tick}</svg>'
    )


def _quotes(result: Mapping[str, Json], seen: Evidence | None, key: str) -> Iterator[str]:
    for one in result.get("evidence") or ():
        number = int(one["message_index"])
        where = f"evidence {number}"
        if seen is not None and number < len(seen.entries):
            where = f'<a href="#{anchor(key, seen, number, str(one["quote"]))}">{foreign(called(seen, number))}</a>'
        yield f"<blockquote><bdi>“{xml(str(one['quote']))}”</bdi><cite>{where}</cite></blockquote>"


def _criteria(result: Mapping[str, Json]) -> Iterator[str]:
    found = result.get("criteria") or ()
    if found:
        items = "".join(
            f"<li><b>{foreign(str(one['id']))}</b> {xml(short(one['score']))} "
            f"<bdi>{xml(str(one.get('reason') or ''))}</bdi></li>"
            for one in found
        )
        yield f'<ul class="parts">{items}</ul>'


def _repeats(result: Mapping[str, Json]) -> Iterator[str]:
    found = _part(result, "repeats").get("attempts") or ()
    if found:
        scores = ", ".join("–" if one["score"] is None else short(one["score"]) for one in found)
        flips = _part(result, "repeats").get("flip_rate")
        also = f"; {flips:.0%} of them differ from the majority" if isinstance(flips, int | float) else ""
        yield f'<p class="asked">repeats of the judge: {xml(scores)}{also}</p>'


def _trouble(category: str, message: str) -> str:
    return f'<p class="trouble"><b>{xml(category)}</b> <bdi>{xml(message)}</bdi></p>'


def _asked(who: str, evaluator: Mapping[str, Json], spent: Spending) -> str:
    """Who was asked, and what that took; nothing where nobody was."""
    if not spent.attempts and not spent.cached:
        return ""
    tokens = "?" if spent.usage.input_tokens is None else f"{spent.usage.input_tokens:,}"
    tokens += " + " + ("?" if spent.usage.output_tokens is None else f"{spent.usage.output_tokens:,}") + " tokens"
    facts = [who, *(_text(evaluator[name]) for name in ("provider", "model") if evaluator.get(name)), tokens]
    facts.append("cost unknown" if spent.cost_usd is None else money(spent.cost_usd))
    facts += ["from the store"] if spent.cached else [_time(spent.duration_ms), *_attempts(spent.attempts)]
    return f'<p class="asked">{foreign(" · ".join(facts), 500)}</p>'


def _attempts(number: int) -> list[str]:
    return [count(number, "attempt")] if number > 1 else []


def _part(result: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    found = result.get(name)
    return found if isinstance(found, Mapping) else {}
