"""Figures that others computed from real replies of judges come out here, from a recording through the real path.

The handed replies become a recording and a table of rows, or a suite, in a directory of the test's own; `jurat judge`
and `jurat.run_suite` replay them, and the summary holds the handed figures. What a source did not keep is made up
around what it kept: WildBench kept scores and tokens, so that its reasons are ours; FineSurE kept whole replies and no
tokens.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import jurat
from handed import Case, document, lines
from jurat.evaluation.subject import Task
from jurat.evidence import Context, Message, Role
from jurat.judge import Judge
from jurat.provider import ProviderSettings, Raw, ReplayProvider
from jurat.provider.recording import RecordingFile
from jurat.provider.replay import head_of
from jurat.rubrics import read_rubric
from jurat.subject.model import ProviderSubject
from jurat.suite.template import render
from suitefolder import Folder

CHECKS = {check["id"]: check for check in document("data/expected.json").get("checks", [])}
WILDBENCH = lines("data/wildbench_scores.jsonl")
FINESURE = lines("data/finesure_checklists.jsonl")
MODELS = sorted({row["model"] for row in WILDBENCH}) or ["missing"]


@pytest.fixture
def folder(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    yield from Folder.entered(tmp_path, monkeypatch)


def expected(name: str) -> Any:
    """A handed figure, or several, to be found within the handed tolerance."""
    check = CHECKS[name]
    return _approx(check["value"], check["tolerance"])


def _approx(value: Any, tolerance: float) -> Any:
    if isinstance(value, list) and isinstance(value[0], list):
        return [_approx(one, tolerance) for one in value]
    return pytest.approx(value, rel=0, abs=tolerance)


def recorded(folder: Folder, model: str) -> tuple[RecordingFile, ReplayProvider]:
    """A recording without a reply, and the provider that tells under which keys replies are looked for."""
    settings = ProviderSettings(name="judge", kind="openai", model=model, endpoint="https://judge.example/v1")
    file = RecordingFile(folder.path / "judge.jsonl", head_of(settings))
    file.begin()
    return file, ReplayProvider(file.path)


def wire(text: str, usage: Mapping[str, int] | None = None) -> Raw:
    """A reply as it came over the wire."""
    body: dict[str, Any] = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    return Raw(body=json.dumps(body if usage is None else {**body, "usage": usage}).encode(), latency_ms=1.0)


# --- WildBench: means and token sums -------------------------------------------------------------------------------

SCALE = """\
name: wildbench
revision: v1
definition: How good the answer is, by the checklist of the task.
criteria:
  - {id: quality, description: How well the answer meets the checklist., min: 1, max: 10}
"""


def answer_of(model: str, session: str) -> str:
    return f"The answer of {model} in session {session}."


def record_wildbench(folder: Folder, rows: Iterable[Case]) -> None:
    file, provider = recorded(folder, "gpt-4o-2024-05-13")
    judge = Judge(read_rubric(SCALE.encode(), "scale.yaml"), provider)
    for row in rows:
        verdict = {"evidence": [], "reason": "The source did not keep it.", "score": int(row["score"])}
        usage = {name: row[name] for name in ("prompt_tokens", "completion_tokens")}
        (call, *_) = next(judge.steps(Context(output=answer_of(row["model"], row["session"]))))
        file.add(call.key, wire(json.dumps(verdict), usage))
    file.check()


@pytest.mark.parametrize("model", MODELS)
def test_the_mean_score_and_the_tokens_of_a_model_are_those_that_wildbench_published(
    folder: Folder, model: str
) -> None:
    scored = [row for row in WILDBENCH if row["model"] == model]
    sessions = sorted({row["session"] for row in WILDBENCH})
    folder.write("scale.yaml", SCALE)
    record_wildbench(folder, scored)
    rows = [json.dumps({"id": session, "output": answer_of(model, session)}) for session in sessions]
    folder.write("rows.jsonl", "\n".join(rows))

    options = ("--rubric", "scale.yaml", "--provider", "replay:judge.jsonl", "--pass-rate", "0", "--format", "json")
    summary = folder.jurat("judge", "rows.jsonl", *options).json

    mean, tokens = summary["scores"]["mean"], summary["tokens"]
    assert [mean, (mean - 5) * 2, tokens["input"], tokens["output"]] == expected(f"wildbench/{model}")
    assert summary["pass_rate"]["decided"] == len(scored)
    assert summary["errors"] == {"invalid_request": len(sessions) - len(scored)}, "what was not recorded is no score"


# --- FineSurE: checklists in a code fence --------------------------------------------------------------------------

PARSING = '''\
"""What FineSurE reads out of its judge's checklists."""
import json
import re


def checklist(context):
    return json.loads(re.search(r"```json\\n(.*)\\n```", context.output, re.DOTALL)[1])


def errors(context):
    return [int(entry["category"] != "no error") for entry in checklist(context)]


def key_facts(context):
    return [int(entry["response"] == "Yes") for entry in checklist(context)]


def cited(context):
    return sorted({line for entry in checklist(context) for line in entry["line number"]})


def has_error(context, number):
    return errors(context)[number] == 1


def is_supported(context, number):
    return key_facts(context)[number] == 1


def faithfulness(context):
    found = errors(context)
    return 100 * found.count(0) / len(found)


def completeness(context):
    found = key_facts(context)
    return 100 * sum(found) / len(found)


def conciseness(context, lines):
    return 100 * len(cited(context)) / lines


def labels_are(context, labels):
    entry = checklist(context)[0]
    return (errors(context) if "category" in entry else key_facts(context)) == labels


def lines_are(context, lines):
    return cited(context) == lines


def people_agree(context, number, label):
    entry = checklist(context)[0]
    return (errors(context) if "category" in entry else key_facts(context))[number] == label
'''
PROMPT = "{{document}}\n\nThe summary:\n{{summary}}\n\nCheck each of these:\n{{checked}}"


def assertion(function: str, name: str, **fields: Any) -> dict[str, Any]:
    arguments = {key: value for key, value in fields.items() if key != "threshold"}
    threshold = {"threshold": fields["threshold"]} if "threshold" in fields else {}
    return {"type": "python", "function": f"finesure:{function}", "name": name, "arguments": arguments, **threshold}


def checked(row: Case) -> list[str]:
    """What the judge had to decide about a summary, one by one."""
    return list(row["key_facts"] if row["kind"] == "key-fact" else row["sentences"])


def people(row: Case) -> list[int]:
    """What most of the three annotators say of each."""
    field = "key_fact_labels" if row["kind"] == "key-fact" else "factuality_labels"
    labels = [one[field] for one in row["human"].values()]
    return [int(sum(votes) >= 2) for votes in zip(*labels, strict=True)]


def variables(row: Case) -> dict[str, str]:
    parts = {"summary": row["sentences"], "checked": checked(row)}
    return {"document": row["evidence"], **{name: "\n".join(texts) for name, texts in parts.items()}}


def of_summary(row: Case) -> list[dict[str, Any]]:
    """What is read out of one whole checklist."""
    made = [assertion("labels_are", "parsed as its authors do", labels=row["authors_labels"])]
    maker = row["summarizer"]
    if row["kind"] == "fact-check":
        return [*made, assertion("faithfulness", f"faithfulness of {maker}", threshold=0)]
    length = len(row["sentences"])
    return [
        *made,
        assertion("lines_are", "lines parsed as its authors do", lines=row["authors_lines"]),
        assertion("completeness", f"completeness of {maker}", threshold=0),
        assertion("conciseness", f"conciseness of {maker}", lines=length, threshold=0),
    ]


def of_entry(row: Case, number: int) -> list[dict[str, Any]]:
    """What is read out of one entry of a checklist."""
    function = "has_error" if row["kind"] == "fact-check" else "is_supported"
    return [
        assertion(function, f"{function} of {row['summarizer']}", number=number),
        assertion("people_agree", "as people say", number=number, label=people(row)[number]),
    ]


def cases(row: Case) -> Iterator[dict[str, Any]]:
    """A case for the checklist, and one for each of its entries; all of them ask the same, and share the one reply."""
    given = variables(row)
    yield {"name": row["id"], "variables": given, "assertions": of_summary(row)}
    for number in range(len(checked(row))):
        yield {"name": f"{row['id']}-{number}", "variables": given, "assertions": of_entry(row, number)}


def record_finesure(folder: Folder, rows: list[Case]) -> None:
    file, provider = recorded(folder, "gpt-4")
    subject = ProviderSubject(provider)
    for row in rows:
        asked = Message(role=Role.USER, content=render(PROMPT, variables(row)))
        file.add(subject.prepare(Task(messages=(asked,))).key, wire(row["raw"]))
    file.check()


def run_finesure(folder: Folder, rows: list[Case]) -> dict[str, Any]:
    record_finesure(folder, rows)
    folder.write("finesure.py", PARSING)
    suite = {
        "suite": "finesure",
        "providers": [{"name": "summaries", "kind": "replay", "file": "judge.jsonl"}],
        "subject": "summaries",
        "prompt": PROMPT,
        "cases": [case for row in rows for case in cases(row)],
        "policy": [{"type": "error_rate", "maximum": 0}],
    }
    folder.write("suite.json", json.dumps(suite))
    run = jurat.run_suite("suite.json")
    assert run.passed, run.gate["reason"]
    return dict(run.summary)


def by_name(summary: Mapping[str, Any]) -> dict[str, Any]:
    return {one["name"]: one for one in summary["assertions"]}


def makers(rows: list[Case]) -> list[str]:
    """The summarizers, in the order in which the file first names them."""
    return list(dict.fromkeys(row["summarizer"] for row in rows))


def test_the_shares_of_wrong_sentences_are_those_that_finesure_published(folder: Folder) -> None:
    rows = [row for row in FINESURE if row["kind"] == "fact-check"]

    summary = run_finesure(folder, rows)

    found, names = by_name(summary), makers(rows)
    wrong = [100 * found[f"has_error of {one}"]["pass_rate"]["value"] for one in names]
    assert wrong == expected("finesure/fact-check/error")
    means = [found[f"faithfulness of {one}"]["score"]["mean"] for one in names]
    assert means == expected("finesure/fact-check/faithfulness")
    assert_as_people_say(found, "finesure/fact-check/human")
    assert_every_reply_was_read_once(summary, rows)


def test_completeness_and_conciseness_are_those_that_finesure_published(folder: Folder) -> None:
    rows = [row for row in FINESURE if row["kind"] == "key-fact"]

    summary = run_finesure(folder, rows)

    found, names = by_name(summary), ("unilm_out_v2", "t5_out_large")
    means = [[found[f"{what} of {one}"]["score"]["mean"] for what in ("completeness", "conciseness")] for one in names]
    assert means == expected("finesure/key-fact")
    assert_as_people_say(found, "finesure/key-fact/human")
    assert found["lines parsed as its authors do"]["counts"]["pass"] == len(rows)
    assert_every_reply_was_read_once(summary, rows)


def assert_as_people_say(found: Mapping[str, Any], name: str) -> None:
    """The share of entries on which the judge and most of the three annotators agree."""
    accuracy, _ = CHECKS[name]["value"]
    assert found["as people say"]["pass_rate"]["value"] == pytest.approx(accuracy, abs=CHECKS[name]["tolerance"])


def assert_every_reply_was_read_once(summary: Mapping[str, Any], rows: list[Case]) -> None:
    """Each reply is parsed as its authors parsed it, was asked for once, and has tokens that nobody knows."""
    assert by_name(summary)["parsed as its authors do"]["counts"]["pass"] == len(rows)
    asked, tokens = summary["attempts"]["subject"], summary["tokens"]["subject"]
    entries = sum(len(checked(row)) for row in rows)
    assert (asked["made"], asked["cached"]) == (len(rows), entries)
    assert (tokens["input"], tokens["unknown"]) == (0, len(rows) + entries)
