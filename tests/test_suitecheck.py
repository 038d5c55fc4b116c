"""Faults of every kind, told at once: shape, placeholders, documents, assertions, reducer, policy, providers."""

from __future__ import annotations

from pathlib import Path

import pytest

from jurat.errors import AuthoringError
from jurat.suitecheck import checked_suite

SUITE = """\
schema_version: 1
suite: capital-cities
providers:
  - {name: judge, kind: scripted, replies: ["{}"]}
prompt: "What is the capital of {{country}}?"
subject: judge
sampling: {samples: 3, reducer: majority}
policy: [{type: overall_pass_rate, minimum: 0.9}]
assertions: [{type: contains, value: "{{capital}}"}]
cases:
  - name: france
    variables: {country: France, capital: Paris}
    documents: [atlas.txt]
    assertions:
      - {type: rubric_judge, template: correctness, provider: judge, threshold: 85}
"""


def told(tmp_path: Path, text: str) -> list[str]:
    (tmp_path / "atlas.txt").write_text("Paris is the capital of France.\n", "utf-8")
    (tmp_path / "suite.yaml").write_text(text, "utf-8")
    with pytest.raises(AuthoringError) as caught:
        checked_suite(tmp_path / "suite.yaml")
    return [f"{Path(str(fault.file)).name}:{fault.line} {fault.path}" for fault in caught.value.faults]


def test_a_sound_suite_is_given_back_with_its_documents(tmp_path: Path) -> None:
    (tmp_path / "atlas.txt").write_text("Paris is the capital of France.\n", "utf-8")
    (tmp_path / "suite.yaml").write_text(SUITE, "utf-8")

    suite = checked_suite(tmp_path / "suite.yaml")

    assert suite.cases[0].documents[0].text == "Paris is the capital of France.\n"


def test_faults_of_every_kind_come_together_in_the_order_of_the_file(tmp_path: Path) -> None:
    wrong = {
        "suite: capital-cities": "suite: capital-cities\nsubjekt: x",
        "reducer: majority": "reducer: majorty",
        "overall_pass_rate": "overal_pass_rate",
        "type: contains": "type: contians",
        "country: France": "contry: France",
        "atlas.txt": "atlas.pdf",
        "template: correctness": "template: corectness",
    }
    text = SUITE
    for old, new in wrong.items():
        text = text.replace(old, new)

    assert told(tmp_path, text) == [
        "suite.yaml:3 subjekt",
        "suite.yaml:8 sampling.reducer",
        "suite.yaml:9 policy[0].type",
        "suite.yaml:10 assertions[0].type",
        "suite.yaml:13 cases[0].variables",
        "suite.yaml:14 cases[0].documents[0]",
        "suite.yaml:16 cases[0].assertions[0].template",
    ]


def test_a_provider_that_could_not_be_read_is_not_said_to_be_missing(tmp_path: Path) -> None:
    assert told(tmp_path, SUITE.replace("kind: scripted", "kynd: scripted")) == ["suite.yaml:4 providers[0].kind"]


def test_cases_that_could_not_be_read_are_not_said_to_be_missing(tmp_path: Path) -> None:
    assert told(tmp_path, SUITE.replace("name: france", "nome: france")) == [
        "suite.yaml:11 cases[0].nome",
        "suite.yaml:11 cases[0].name",
    ]


def test_a_missing_file_is_told_as_such(tmp_path: Path) -> None:
    with pytest.raises(AuthoringError, match="no such file"):
        checked_suite(tmp_path / "none.yaml")


def test_a_suite_of_the_wrong_encoding_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_bytes(SUITE.encode("utf-16"))

    with pytest.raises(AuthoringError, match=r"expected UTF-8, found UTF-16\. Save the file as UTF-8"):
        checked_suite(tmp_path / "suite.yaml")


SHORT = """\
suite: s
prompt: "q {{x}}"
subject: app
providers:
  - {name: app, kind: scripted, replies: [ok]}
"""
SOUND_CASE = "cases: [{name: a, variables: {x: 1}, assertions: [{type: contains, value: ok}]}]\n"


def test_a_number_that_is_not_finite_hides_no_other_fault(tmp_path: Path) -> None:
    limits = "limits:\n  concurrency: -1\n  evaluator_timeout_s: .inf\n  run_timeout_s: -1\n"

    assert told(tmp_path, SHORT + limits + SOUND_CASE.replace("contains", "contians")) == [
        "suite.yaml:7 limits.concurrency",
        "suite.yaml:8 limits.evaluator_timeout_s",
        "suite.yaml:9 limits.run_timeout_s",
        "suite.yaml:10 cases[0].assertions[0].type",
    ]


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("metadata: {deep: [1, {n: .nan}]}", "metadata.deep[1].n"),
        ("metadata: {deep: 1, deep: 2}", "metadata.deep"),
        ("metadata: &there {}", "metadata"),
        ("metadata: !tag {}", "metadata"),
        ("metadata: *there", "metadata"),
    ],
)
def test_what_no_file_may_hold_hides_no_fault_beside_it(tmp_path: Path, written: str, path: str) -> None:
    cases = f"cases:\n  - name: a\n    {written}\n    variables: {{x: 1}}\n    assertions: [{{type: nothing}}]\n"

    assert told(tmp_path, SHORT + cases) == [
        f"suite.yaml:8 cases[0].{path}",
        "suite.yaml:10 cases[0].assertions[0].type",
    ]


def test_in_an_included_file_and_in_json_a_refused_number_hides_nothing_either(tmp_path: Path) -> None:
    (tmp_path / "more.json").write_text(
        '{"cases": [{"name": "b", "variables": {"x": 1}, "expected": NaN,\n "lables": []}]}', "utf-8"
    )

    text = SHORT + "include: more.json\n" + SOUND_CASE.replace("contains", "contians")

    assert sorted(told(tmp_path, text)) == [
        "more.json:1 cases[0].expected",
        "more.json:2 cases[0].lables",
        "suite.yaml:7 cases[0].assertions[0].type",
    ]


def test_what_is_no_assertion_hides_no_fault_of_the_assertions_beside_it(tmp_path: Path) -> None:
    cases = """\
cases:
  - name: a
    variables: {x: 1}
    assertions:
      - 1
      - null
      - {}
      - {type: 5}
      - {type: contains}
      - {type: max_cost_usd, value: true}
      - {type: contains, value: ok}
"""

    assert told(tmp_path, SHORT + cases) == [
        "suite.yaml:10 cases[0].assertions[0]",
        "suite.yaml:11 cases[0].assertions[1]",
        "suite.yaml:12 cases[0].assertions[2].type",
        "suite.yaml:13 cases[0].assertions[3].type",
        "suite.yaml:14 cases[0].assertions[4].value",
        "suite.yaml:15 cases[0].assertions[5].value",
    ]


def test_a_bad_reducer_is_told_at_its_place_beside_a_bad_number_of_samples(tmp_path: Path) -> None:
    sampling = "sampling:\n  samples: 21\n  reducer:\n    minimum_pass_rate: 1.5\n"

    assert told(tmp_path, SHORT + sampling + SOUND_CASE) == [
        "suite.yaml:7 sampling.samples",
        "suite.yaml:9 sampling.reducer.minimum_pass_rate",
    ]


def test_a_bad_scripted_reply_is_told_where_it_stands_and_once(tmp_path: Path) -> None:
    script = "  - name: jj\n    kind: scripted\n    replies:\n      - {text: a, lat: 3}\n      - {error: nonsense}\n"
    judged = SOUND_CASE.replace("{type: contains, value: ok}", "{type: rubric_judge, provider: jj, rubric: Good?}")

    assert told(tmp_path, SHORT + script + judged) == [
        "suite.yaml:9 providers[1].replies[0].lat",
        "suite.yaml:10 providers[1].replies[1].error",
    ]
    assert told(tmp_path, (SHORT + script).replace("subject: app", "subject: jj") + SOUND_CASE) == [
        "suite.yaml:9 providers[1].replies[0].lat",
        "suite.yaml:10 providers[1].replies[1].error",
    ]


def test_a_placeholder_that_cannot_be_filled_is_told_once(tmp_path: Path) -> None:
    text = SHORT + SOUND_CASE.replace("value: ok", "value: '{{y}} {{x|upper}} {{x'")

    assert told(tmp_path, text) == [
        "suite.yaml:6 cases[0].assertions[0].value",
        "suite.yaml:6 cases[0].assertions[0].value",
        "suite.yaml:6 cases[0].variables",
    ]
