"""A suite of several files: includes, a cases file, and where each part of it was written."""

from __future__ import annotations

import pytest
from suitetexts import faults_in, loaded, places

from jurat.errors import Fault
from jurat.suite.case import Place

SUITE = """\
suite: s
include: [more.yaml, "deep/er.json"]
cases_file: table.csv
assertions:
  - {type: contains, value: "{{x}}"}
cases:
  - name: own
    output: o
    variables: {x: 1}
    assertions:
      - type: regex
        value: y
"""
FILES = {
    "more.yaml": """\
assertions:
  - type: not_contains
    value: z
providers:
  - {name: judge, kind: local}
prompts:
  asked: "{{x}}?"
cases:
  - name: more
    output: o
    variables: {x: 2}
    assertions: [{type: exact_match}]
""",
    "deep/er.json": '{\n"cases": [\n{"name": "deep",\n"output": "o", "variables": {"x": 3}}]}',
    "table.csv": "name,output,x\nrow-1,o,4\nrow-2,o,5\n",
}


def test_the_files_of_a_suite_are_one_suite_in_a_fixed_order() -> None:
    suite = loaded(SUITE, FILES).suite

    assert [case.name for case in suite.cases] == ["own", "more", "deep", "row-1", "row-2"]
    assert [one["type"] for one in suite.cases[3].assertions] == ["contains", "not_contains"]
    assert [one["type"] for one in suite.cases[0].assertions] == ["contains", "not_contains", "regex"]
    assert list(suite.providers) == ["judge"]
    assert [prompt.name for prompt in suite.prompts] == ["asked"]


@pytest.mark.parametrize(
    ("path", "file", "line"),
    [
        ("cases[0]", "suite.yaml", 7),
        ("cases[0].variables.x", "suite.yaml", 9),
        ("cases[0].assertions[0].value", "suite.yaml", 5),
        ("cases[0].assertions[1].value", "more.yaml", 3),
        ("cases[0].assertions[2].value", "suite.yaml", 12),
        ("cases[1].assertions[2].type", "more.yaml", 12),
        ("cases[2].output", "deep/er.json", 4),
        ("cases[3].output", "table.csv", 2),
        ("cases[4].assertions[0].type", "suite.yaml", 5),
        ("cases[4].variables.x", "table.csv", 3),
        ("assertions[1]", "more.yaml", 2),
        ("providers[0].kind", "more.yaml", 5),
        ("prompts[0].text", "more.yaml", 7),
        ("subject", "suite.yaml", 1),
        ("cases_file", "suite.yaml", 3),
        ("cases[99].name", "suite.yaml", 6),
    ],
)
def test_every_part_is_found_where_it_was_written(path: str, file: str, line: int) -> None:
    assert loaded(SUITE, FILES).locate(path) == Place(file=file, line=line)


def test_what_the_suite_calls_otherwise_than_its_file_is_found_too() -> None:
    text = "suite: s\nsampling:\n  reducer: all\nsubject:\n  python: 'a:b'\ncases: [{name: a}]\n"

    assert loaded(text).locate("reducer") == Place(file="suite.yaml", line=3)
    assert loaded(text).locate("subject.function") == Place(file="suite.yaml", line=5)


def test_a_fault_of_an_assertion_of_the_whole_suite_is_told_once_and_with_its_own_path() -> None:
    faults = [
        Fault(path=f"cases[{index}].assertions[{number}].value", expected="text", found="a number")
        for index in range(5)
        for number in (1, 2)
    ][:4]

    assert places(tuple(loaded(SUITE, FILES).placed(faults))) == [
        "more.yaml:3 assertions[0].value",
        "suite.yaml:12 cases[0].assertions[0].value",
        "more.yaml:12 cases[0].assertions[0].value",
    ]


def test_a_fault_that_names_a_file_already_stays_as_it_is() -> None:
    fault = Fault(path="criteria[0].min", expected="a number", found="text", file="rubric.yaml", line=3)

    assert loaded(SUITE, FILES).placed([fault]) == [fault]


def test_places_are_no_part_of_what_a_suite_is() -> None:
    moved = "\n\n" + SUITE

    assert loaded(moved, FILES).suite == loaded(SUITE, FILES).suite


def test_faults_of_all_files_come_together() -> None:
    files = {
        **FILES,
        "more.yaml": FILES["more.yaml"].replace("name: judge, ", "").replace("x: 2", "y: 2"),
        "deep/er.json": '{"cases": [{"name": "own", "output": "o", "variables": {"x": 3}}], "suite": "t"}',
        "table.csv": "name,output,x\nrow-1,o,4\nown,,5\n",
    }

    assert places(faults_in(SUITE.replace("output: o", "outptu: o"), files)) == [
        "suite.yaml:1 subject",
        "suite.yaml:8 cases[0].outptu",
        "more.yaml:5 providers[0].name",
        "more.yaml:11 cases[0].variables",
        "deep/er.json:1 suite",
        "deep/er.json:1 cases[0].name",
        "table.csv:3 name",
    ]


def test_files_that_include_one_another_in_a_circle_are_refused() -> None:
    files = {"a.yaml": "include: b.yaml\n", "b.yaml": "include: [./a.yaml]\n"}
    [fault] = faults_in("suite: s\ninclude: a.yaml\ncases: [{name: a, output: x}]\n", files)

    assert (fault.file, fault.line, fault.path) == ("b.yaml", 1, "include[0]")
    assert fault.found == "a.yaml → b.yaml → a.yaml"


def test_a_file_is_included_once() -> None:
    files = {"a.yaml": "cases: []\n"}
    [fault] = faults_in("suite: s\ninclude: [a.yaml, x/../a.yaml]\ncases: [{name: a, output: x}]\n", files)

    assert (fault.path, fault.found) == ("include[1]", "'x/../a.yaml' again")


def test_files_within_files_have_a_bound() -> None:
    files = {f"{number}.yaml": f"include: {number + 1}.yaml\n" for number in range(20)}
    [fault] = faults_in("suite: s\ninclude: 0.yaml\ncases: [{name: a, output: x}]\n", files)

    assert (fault.file, fault.expected) == ("7.yaml", "at most 8 files within one another and 1,000 in all")


@pytest.mark.parametrize("path", ["missing.yaml", "../../etc/passwd"])
def test_an_included_file_that_cannot_be_read_is_told_where_it_is_named(path: str) -> None:
    [fault] = faults_in(f"suite: s\nsubject: p\ninclude: [{path}]\ncases: [{{name: a}}]\n")

    assert (fault.file, fault.line, fault.path, fault.found) == ("suite.yaml", 3, "include[0]", repr(path))


def test_a_damaged_included_file_is_told_with_its_own_line() -> None:
    faults = faults_in("suite: s\ninclude: a.yaml\ncases: [{name: a, output: x}]\n", {"a.yaml": "cases:\n  - [\n"})

    assert places(faults) == ["a.yaml:3 cases[0][0]"]


def test_a_column_that_a_placeholder_wants_and_no_row_has_is_told_a_hundred_times_at_most() -> None:
    rows = "".join(f"c{number},{number}\n" for number in range(500))
    faults = faults_in("suite: s\nprompt: '{{x}}'\nsubject: p\ncases_file: t.csv\n", {"t.csv": f"name,y\n{rows}"})

    assert len(faults) == 101
    assert (faults[0].file, faults[0].line) == ("t.csv", 2)
    assert faults[100].found == "and 400 more faults, which are not listed"


def test_a_missing_cases_file_is_told_where_it_is_named() -> None:
    [fault] = faults_in("suite: s\ncases_file: t.csv\n")

    assert fault.found == "'t.csv'"


def test_a_cases_file_by_mapping_comes_to_cases() -> None:
    text = """\
suite: s
cases_file:
  path: t.tsv
  columns: {name: id, variables.q: Question, output: A, labels: L, metadata.tier: Tier}
"""
    [case] = loaded(text, {"t.tsv": "id\tQuestion\tA\tL\tTier\n7\twhy?\tso\tx\tgold\n"}).suite.cases

    assert (case.name, dict(case.variables), case.output) == ("7", {"q": "why?"}, "so")
    assert (case.labels, dict(case.metadata)) == (("x",), {"tier": "gold"})
