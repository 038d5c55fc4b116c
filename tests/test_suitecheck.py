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
