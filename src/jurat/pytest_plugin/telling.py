"""What is told of evaluations that did not pass: type, score, threshold, evaluator status, reason. Bounded, one shape.

Answers and quotes stay out unless somebody asked for them; control characters are written as escapes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from jurat.errors import AuthoringError
from jurat.jsontext import Json
from jurat.report.digits import count, short
from jurat.report.findings import Problem, problems, unasked
from jurat.report.plaintext import clipped, visible, wrapped
from jurat.report.record import AssessmentRecord, SubjectRecord, TrialRecord
from jurat.vocabulary import Status

__all__ = [
    "MOST_TOLD",
    "CaseResult",
    "Figure",
    "case_result",
    "faults_told",
    "listed",
    "of_map",
    "problem_lines",
    "rules_told",
    "spent_of",
    "trial_of",
]

_REASON = 400
_NAME = 200
_QUOTE = 200
_OUTPUT = 2_000
_WIDTH = 110
_MOST_PROBLEMS = 12
_MOST_QUOTES = 3
_MOST_LINES = 30
"""How much is told of what is wrong with a suite of ten thousand cases."""
MOST_TOLD = 10
"""How many cases or evaluations are told in full."""

Figure = dict[str, Json]
"""What the summary counts of one evaluation, one case or one suite; plain data that travels between processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """What became of one case.

    Attributes:
        place: among the cases of the run, from 0.
        status: of the case, over all of its trials.
        lines: what to tell of it; empty where it passed.
        category: why it is not decided.
        figure: what the summary counts.
    """

    name: str
    place: int
    status: Status
    lines: tuple[str, ...] = ()
    category: str = ""
    figure: Figure = field(default_factory=dict)

    @property
    def told(self) -> str:
        """Name and status, in one line."""
        category = "" if self.category == Status.UNVERIFIED.value else f" {self.category}"
        return f"case {clipped(self.name, _NAME)}: {self.status.value}{category}".rstrip()


def trial_of(name: str, result: Mapping[str, Json]) -> TrialRecord:
    """One result map as a trial of its own, so that everything is told in one way."""
    made = AssessmentRecord(
        name=name, type=str(result["type"]), status=Status(result["status"]), result=result, score=result["score"]
    )
    return TrialRecord(
        case_index=0, trial_index=0, status=made.status, subject=SubjectRecord(output=""), assessments=(made,)
    )


def case_result(
    name: str, trials: Sequence[TrialRecord], status: Status, *, samples: int, show_output: bool
) -> CaseResult:
    """What there is to tell and to count of a case."""
    found = problems(trials)
    lines: list[str] = []
    if status is not Status.PASS:
        for problem in found[:_MOST_PROBLEMS]:
            lines += problem_lines(problem, samples, show_output=show_output)
        if len(found) > _MOST_PROBLEMS:
            lines.append(f"and {count(len(found) - _MOST_PROBLEMS, 'more finding')}")
        lines += [] if found else [unasked(trials)]
        lines += _outputs(trials) if show_output else []
    undecided = [one for one in found if not one.status.decided]
    category = next((one.category for one in undecided if one.category), Status.UNVERIFIED.value)
    return CaseResult(
        name=name,
        place=trials[0].case_index,
        status=status,
        lines=tuple(lines),
        category="" if status.decided else category,
        figure=_figure(status, category, trials),
    )


def problem_lines(problem: Problem, samples: int = 1, *, show_output: bool = False) -> list[str]:
    """One finding: its head, then category, reason and, where they were asked for, quotes."""
    made = [_head(problem, samples)]
    for text in problem.said:
        made += _indented(clipped(text, _REASON))
    if show_output:
        for number, quote in problem.quotes[:_MOST_QUOTES]:
            made += _indented(f"“{clipped(quote, _QUOTE)}” (evidence {number})")
    return made


def _head(problem: Problem, samples: int) -> str:
    title = clipped(problem.title, _NAME)
    kind = "" if problem.type in title else f" [{problem.type}]"
    score = problem.result.get("score")
    held = problem.held or ("" if score is None else f"score {short(float(score))}")
    evaluator = problem.result.get("evaluator")
    state = f"evaluator {evaluator['status']}" if isinstance(evaluator, Mapping) else ""
    facts = (_status(problem), held, state, problem.in_trials(samples))
    return f"{title}{kind}: " + ", ".join(filter(None, facts))


def _status(problem: Problem) -> str:
    if problem.status is Status.UNVERIFIED:
        return "unverified (evidence is missing)"
    return f"{problem.status.value} {problem.category}".rstrip()


def _outputs(trials: Sequence[TrialRecord]) -> list[str]:
    made = []
    for trial in trials:
        if trial.subject.output is not None:
            made.append(f"output of trial {trial.trial_index + 1}:" if len(trials) > 1 else "output:")
            made += _indented(clipped(trial.subject.output, _OUTPUT))
    return made


def _indented(text: str) -> list[str]:
    return wrapped(text, _WIDTH, "  ").split("\n")


def listed(results: Iterable[tuple[str, Sequence[str]]], more: int) -> list[str]:
    """What is told of several, each under its name; `more` were left out."""
    lines = []
    for name, own in results:
        lines += [clipped(name, _NAME), *(f"  {line}" for line in own)]
    return [*lines, f"and {more:,} more"] if more else lines


def faults_told(error: BaseException) -> str:
    """An error's message, harmless on a terminal; of an author's faults the first ones, and how many more there are."""
    lines = visible(str(error)).split("\n")
    if not isinstance(error, AuthoringError) or len(lines) <= _MOST_LINES:
        return "\n".join(lines)
    more = f"  and {count(len(lines) - _MOST_LINES, 'more line')}; jurat suite validate tells all faults of a suite"
    return "\n".join([*lines[:_MOST_LINES], more])


def rules_told(gate: Mapping[str, Json]) -> list[str]:
    """The rules of a policy that are not met, each with its reason; none where there is no policy."""
    if gate.get("policy") is None:
        return []
    return [
        f"{rule['outcome']}: {clipped(str(rule['rule'].get('name') or rule['rule'].get('type', '')), 100)}: "
        f"{clipped(str(rule['reason']), 400)}"
        for rule in gate["rules"]
        if rule["outcome"] != "passed"
    ]


# --- what is counted -----------------------------------------------------------------------------------------------


def _figure(status: Status, category: str, trials: Sequence[TrialRecord]) -> Figure:
    subject = [trial.subject.spending.cost_usd for trial in trials]
    judges = [made.spending.cost_usd for trial in trials for made in trial.assessments]
    return {
        "counts": {status.value: 1},
        "errors": {category: 1} if status is Status.ERROR else {},
        "subject_usd": spent_of(subject),
        "judge_usd": spent_of(judges),
    }


def spent_of(costs: Sequence[float | None]) -> list[Json]:
    """What is known to be spent, and how often it is not known."""
    return [sum(cost for cost in costs if cost is not None), sum(cost is None for cost in costs)]


def of_map(result: Mapping[str, Json]) -> Figure:
    """What the summary counts of one result map."""
    evaluator = result["evaluator"]
    error = evaluator.get("error")
    # Only who asks a model has a cost; what could not even be asked cost nothing.
    costs = [evaluator["cost_usd"]] if "cost_usd" in evaluator else []
    return {
        "counts": dict(Counter([str(result["status"])])),
        "errors": {str(error["type"]): 1} if error else {},
        "subject_usd": [0.0, 0],
        "judge_usd": spent_of(costs),
    }
