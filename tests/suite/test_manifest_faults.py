"""What is wrong with a suite file is told at once: file, line, path, what was expected, found, and probably meant."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from suitetexts import CAPITALS, Folder, faults_in, loaded, places

from jurat.suite.manifest import gather_suite


def test_every_fault_is_told_at_once_with_its_line() -> None:
    faults = faults_in("""\
schema_version: 2
suite: 7
subjct: p
sampling: {samples: 21, reducer: majority}
limits: {budget_usd: 0}
cases:
  - name: a
    variables: {x: 1.10}
    lables: [x]
    pass_threshold: 80
  - {output: yes}
  - 5
""")

    assert [f"{fault.file}:{fault.line} {fault.path}: {fault.found}" for fault in faults] == [
        "suite.yaml:1 schema_version: 2",
        "suite.yaml:2 suite: the number 7",
        "suite.yaml:3 subjct: this key",
        "suite.yaml:4 sampling.samples: 21",
        "suite.yaml:5 limits.budget_usd: 0",
        "suite.yaml:8 cases[0].variables.x: the number 1.10",
        "suite.yaml:9 cases[0].lables: this key",
        "suite.yaml:10 cases[0].pass_threshold: 80",
        "suite.yaml:11 cases[1].name: nothing",
        "suite.yaml:12 cases[2]: the number 5",
    ]
    assert [fault.hint for fault in faults[1:3]] == ["Put it in quotes, if text is meant", "Did you mean subject?"]
    assert [str(fault) for fault in faults[3:4]] == [
        "suite.yaml:4: sampling.samples: expected a whole number from 1 to 20, found 21"
    ]


def one_fault(text: str, **files: str) -> str:
    """The one fault of a suite, without the file."""
    [fault] = faults_in(text, files)
    return str(fault).removeprefix("suite.yaml:")


CASE = "cases: [{name: a, output: x}]\n"


@pytest.mark.parametrize(
    ("text", "place", "expected", "found"),
    [
        ("" + CASE, "1 suite", "the suite's name", "nothing"),
        ("suite: s\n", "1 cases", "at least one case", "none"),
        ("suite: s\ncases: []\n", "2 cases", "at least one case", "none"),
        ("suite: s\ncases: {name: a}\n", "2 cases", "a list of cases", "an object"),
        ("suite: ' '\n" + CASE, "1 suite", "a name that is not blank", "blank text"),
        ('suite: "a\\nb"\n' + CASE, "1 suite", "a name on one line", "a line break or control character"),
        ("- 1\n", "1 ", "a suite {suite, cases, …}", "an array"),
        ("suite: s\ncases:\n  - {name: 1.10, output: x}\n", "3 cases[0].name", "a name", "the number 1.10"),
        ("suite: s\ncases:\n  - {name: a, output: 012}\n", "3 cases[0].output", "text", "the number 012"),
        (
            "suite: s\ncases:\n  - {name: a, output: x, expected: 1e3}\n",
            "3 cases[0].expected",
            "a number that is shown as it is written",
            "the number 1e3",
        ),
        (
            "suite: s\ncases:\n  - name: a\n    output: x\n    assertions: [{type: rubric_judge, expected: 1.0e0}]\n",
            "5 cases[0].assertions[0].expected",
            "a number that is shown as it is written",
            "the number 1.0e0",
        ),
        ("suite: s\ncases:\n  - {name: a, output: x, labels: smoke}\n", "3 cases[0].labels", "a list of words", "text"),
        (
            "suite: s\ncases:\n  - {name: a, output: x, assertions: [{value: y}]}\n",
            "3 cases[0].assertions[0].type",
            "text",
            "nothing",
        ),
        (
            "suite: s\ncases:\n  - {name: a, output: x, documents: [{name: d}]}\n",
            "3 cases[0].documents[0]",
            "one of path, text",
            "none",
        ),
        (
            "suite: s\ncases:\n  - {name: a, output: x, documents: [{path: d, text: t}]}\n",
            "3 cases[0].documents[0]",
            "one of path, text",
            "path and text",
        ),
        (
            "suite: s\nsubject: p\ncases:\n  - {name: a, messages: [{role: human, content: x}]}\n",
            "4 cases[0].messages[0].role",
            "one of system, user, assistant, tool",
            "'human'",
        ),
        (
            "suite: s\nsubject: {temperature: 1}\n" + CASE,
            "2 subject",
            "an object with one of provider, python, http",
            "none of them",
        ),
        (
            "suite: s\nsubject: {provider: p, temprature: 1}\n" + CASE,
            "2 subject.temprature",
            "one of provider, prompt, temperature, max_output_tokens, extra",
            "this key",
        ),
        (
            "suite: s\nsubject: {python: 'a:b', provider: p}\n" + CASE,
            "2 subject",
            "an object with one of provider, python, http",
            "provider and python",
        ),
        ("suite: s\nsubject: {http: {output: x}}\n" + CASE, "2 subject.http.url", "the address", "nothing"),
        (
            "suite: s\ncases:\n  - {name: a, output: x}\n  - {name: b}\n",
            "1 subject",
            "who answers: a provider, {python: …} or {http: …}",
            "nothing, and 1 case has no output ('b')",
        ),
        (
            "suite: s\nsubject: p\ncases:\n  - {name: a}\n",
            "4 cases[0]",
            "messages, or a prompt of the suite that asks",
            "neither, so there is nothing to ask",
        ),
        (
            "suite: s\nprompts: {a: x, b: y}\nsubject: p\ncases: [{name: a}]\n",
            "3 subject",
            "the subject to say which prompt it takes: a, b",
            "nothing",
        ),
        (
            "suite: s\nprompts: {a: x, b: y}\nsubject: {provider: p, prompt: c}\ncases: [{name: a, messages: []}]\n",
            "3 subject.prompt",
            "a prompt of the suite (a, b)",
            "'c'",
        ),
        (
            "suite: s\nprompt: {name: x}\nsubject: p\ncases: [{name: a}]\n",
            "2 prompt",
            "at least one of text, system, messages",
            "none",
        ),
        (
            "suite: s\nproviders: [{name: p, kind: local}, {name: p, kind: openai}]\n" + CASE,
            "2 providers[1].name",
            "a name of its own",
            "the name of the provider at suite.yaml:2",
        ),
        (
            "suite: s\ncases:\n  - {name: a, execution: {latency_ms: 1}, messages: []}\nsubject: {python: 'a:b'}\n",
            "3 cases[0].execution",
            "an output beside it, whose making it tells",
            "no output",
        ),
        (
            "suite: s\nlimits: {concurrency: 2.0}\n" + CASE,
            "2 limits.concurrency",
            "a whole number from 1 to 10,000",
            "the number 2.0",
        ),
        (
            "suite: s\nsubject: p\nprompt: \"{{ ''.__class__.__mro__ }}\"\ncases: [{name: a}]\n",
            "3 prompt.text",
            "{{name}} with a plain variable's name",
            "\"{{ ''.__class__.__mro__ \" at line 1, column 1 of the text",
        ),
        (
            "suite: s\nsubject: p\nprompt: '{{country}}?'\ncases:\n  - name: a\n    variables: {contry: France}\n",
            "6 cases[0].variables",
            "a value for {{country}} of the prompt",
            "no variable of that name",
        ),
        (
            "suite: s\nsubject: {http: {url: 'https://h', request: {q: '{{input}} {{x}}'}}}\ncases:\n  - {name: a}\n",
            "4 cases[0].variables",
            "a value for {{x}} of the subject's request",
            "no variable of that name",
        ),
        (
            "suite: s\nsubject: {http: {url: 'https://h', request: {q: '{{1+1}}'}}}\n" + CASE,
            "2 subject.http.request.q",
            "{{name}} with a plain variable's name",
            "'{{1+1}}' at line 1, column 1 of the text",
        ),
        (
            "suite: s\nsubject: p\ncases:\n  - {name: a, messages: [{role: user, content: 'Hi {{who}}'}]}\n",
            "4 cases[0].variables",
            "a value for {{who}} of the messages",
            "no variable of that name",
        ),
        (
            "suite: s\nassertions: [{type: contains, value: '{{+}}'}]\n" + CASE,
            "2 assertions[0].value",
            "{{name}} with a plain variable's name",
            "'{{+}}' at line 1, column 1 of the text",
        ),
    ],
)
def test_one_thing_that_is_wrong_is_told_once(text: str, place: str, expected: str, found: str) -> None:
    [fault] = faults_in(text)

    assert (f"{fault.line} {fault.path}", fault.expected, fault.found) == (place, expected, found)


def test_of_cases_with_one_name_both_places_are_named() -> None:
    text = "suite: s\ncases:\n  - {name: a, output: x}\n  - {name: b, output: x}\n  - name: a\n    output: y\n"

    assert one_fault(text) == "5: cases[2].name: expected a name of its own, found the name of the case at suite.yaml:3"


def test_two_names_that_differ_in_case_alone_are_two() -> None:
    assert len(loaded("suite: s\ncases: [{name: A, output: x}, {name: a, output: x}]\n").suite.cases) == 2


def test_a_threshold_may_be_spelled_in_any_way() -> None:
    text = CAPITALS.replace("threshold: 85", "threshold: 0.80").replace("minimum: 0.9", "minimum: 9e-1")

    assert loaded(text).suite.cases[0].assertions[1]["threshold"] == 0.8


def test_a_fault_in_one_part_causes_no_other_elsewhere() -> None:
    text = CAPITALS.replace('prompt: "What', 'prompt: 5 # "What').replace("subject: answerer", "subject: [p]")

    assert places(faults_in(text)) == ["suite.yaml:6 prompt", "suite.yaml:7 subject"]


def test_variables_that_could_not_be_read_are_not_said_to_be_missing() -> None:
    assert places(faults_in(CAPITALS.replace("{country: France}", "France"))) == ["suite.yaml:12 cases[0].variables"]


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("kind: openai", "kind: openai, api_key: abc", "providers[0].api_key"),
        ("kind: openai", "kind: openai, extra: {x: sk-1234567890abcdef}", "providers[0].extra.x"),
        ("model: default}", "model: default, headers: {Authorization: x}}", "providers[1].headers.Authorization"),
        ("subject: answerer", "subject: {provider: answerer, extra: {token: x}}", "subject.extra.token"),
        ("What is", "Bearer abcdefghijklmnop123", "prompt"),
        ("{country: France}", "{country: France, api_key: x}", "cases[0].variables.api_key"),
        ("{country: France}", "{country: France, x: sk-1234567890abcdef}", "cases[0].variables.x"),
        ("name: france", "name: france\n    metadata: {client_secret: x}", "cases[0].metadata.client_secret"),
        (
            "type: contains, value: Paris",
            "type: python, function: 'a:b', arguments: {api_key: x}",
            "cases[0].assertions[0].arguments.api_key",
        ),
        ("template: correctness", "rubric: x, provider_id: sk-1234567890abcdef", "cases[0].assertions[1].provider_id"),
    ],
)
def test_what_looks_like_a_key_is_refused_and_not_repeated(old: str, new: str, path: str) -> None:
    faults = faults_in(CAPITALS.replace(old, new, 1))

    assert [fault.path for fault in faults if "key, token or password" in fault.expected] == [path]
    assert "sk-12345" not in str(faults)
    assert "abcdefghijklmnop" not in str(faults)


def test_a_suite_about_secrets_can_be_written() -> None:
    made_up = "sk-1234567890abcdef"
    case = {
        "name": "leak",
        "variables": {"password": "hunter2", "token": "abc", "key": "k"},
        "output": f"My key is {made_up}",
        "expected": {"api_key": made_up},
        "messages": [{"role": "user", "content": f"What is {made_up}?"}],
        "assertions": [
            {"type": "not_contains", "value": made_up},
            {"type": "required_tool", "tool": "login", "arguments": {"api_key": made_up}},
        ],
    }

    assert loaded(json.dumps({"suite": "s", "cases": [case]}), name="s.json").suite.cases[0].name == "leak"


def test_what_a_scripted_fake_says_is_no_setting() -> None:
    text = CAPITALS.replace("kind: openai, model: gpt-x", "kind: scripted, replies: [sk-1234567890abcdef]")

    assert loaded(text).suite.name == "capital-cities"


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("suite: a\ncases: []\nsuite: b\n", 3, "'suite' twice (first on line 1, again on line 3)"),
        ("suite:\n\tx: 1\n", 2, "a tab where none may stand"),
        ("suite: s\na: &x [1]\n", 2, "an anchor (&)"),
        ("suite: s\na: .nan\n", 2, "the number .nan"),
        ("suite: [s\n", 2, "a bracket that is not closed, or a comma that is missing"),
    ],
)
def test_what_is_no_sound_document_is_told_with_its_line(text: str, line: int, found: str) -> None:
    fault = faults_in(text)[0]

    assert (fault.file, fault.line, fault.found) == ("suite.yaml", line, found)


def test_a_file_that_is_too_large_is_refused() -> None:
    assert faults_in(b"#" * (16 * 1024 * 1024 + 1))[0].found == "a larger one"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = [
    *("schema_version", "suite", "description", "providers", "prompt", "prompts", "subject", "sampling", "policy"),
    *("limits", "assertions", "cases", "cases_file", "include", "name", "variables", "messages", "documents", "output"),
    *("expected", "execution", "labels", "metadata", "pass_threshold", "type", "value", "http", "python", "provider"),
]
suites = st.recursive(
    values, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), suites, max_size=8))
def test_no_json_value_crashes_the_reader_and_a_fault_has_its_place(value: Any) -> None:
    faults: list[Any] = []
    suite = gather_suite(json.dumps(value).encode(), "suite.json", Folder({"x": "a"}), faults)

    assert faults or suite is not None
    assert all(fault.file is not None and fault.expected and fault.found for fault in faults)


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_no_bytes_crash_the_reader(data: bytes) -> None:
    assert faults_in(data)
