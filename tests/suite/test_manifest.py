"""What suite files may say, and what they come to."""

from __future__ import annotations

import json
from typing import Any

import pytest
from suitetexts import CAPITALS, faults_in, suite_of

from jurat.evidence import Message, Role, TextBlock, ToolCallBlock, ToolResultBlock
from jurat.jsontext import thaw
from jurat.suite.case import Case, CaseDocument, Place
from jurat.suite.suite import Limits, Prompt, SubjectKind, SubjectSpec
from jurat.yamltext import parse_yaml


def with_case(**case: Any) -> str:
    """A suite of recorded outputs with one case."""
    return json.dumps({"suite": "s", "cases": [{"name": "a", "output": "x", **case}]})


def case_of(**case: Any) -> Case:
    return suite_of(with_case(**case), name="s.json").cases[0]


def test_the_example_of_the_documentation_is_read_as_it_says() -> None:
    suite = suite_of(CAPITALS)

    assert suite.name == "capital-cities"
    assert list(suite.providers) == ["answerer", "judge"]
    assert thaw(suite.providers["judge"]) == {"name": "judge", "kind": "local", "model": "default"}
    assert suite.prompts == (Prompt(text="What is the capital of {{country}}?"),)
    assert suite.subject == SubjectSpec(kind=SubjectKind.PROVIDER, provider="answerer")
    assert (suite.samples, suite.reducer) == (3, "majority")
    assert thaw(suite.policy) == [{"type": "overall_pass_rate", "minimum": 0.9}]
    assert suite.file == "suite.yaml"
    [case] = suite.cases
    assert (case.name, case.place) == ("france", Place(file="suite.yaml", line=11))
    assert thaw(case.variables) == {"country": "France"}
    assert [one["type"] for one in case.assertions] == ["contains", "rubric_judge"]


def test_a_suite_in_json_comes_to_the_same_as_in_yaml() -> None:
    as_json = json.dumps(parse_yaml(CAPITALS).value, indent=1)

    assert suite_of(as_json, name="suite.json") == suite_of(CAPITALS)


def test_windows_line_ends_and_a_byte_order_mark_change_nothing() -> None:
    text = CAPITALS.replace(
        'prompt: "What is the capital of {{country}}?"', "prompt: |\n  Line 1 {{country}}\n  Line 2"
    )
    windows = b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()

    assert suite_of(windows) == suite_of(text)
    assert suite_of(windows).prompts[0].text == "Line 1 {{country}}\nLine 2\n"


@pytest.mark.parametrize(
    ("written", "spec"),
    [
        ('"openai:gpt-x"', SubjectSpec(kind=SubjectKind.PROVIDER, provider="openai:gpt-x")),
        (
            "{provider: p, temperature: 0.5, max_output_tokens: 100, extra: {top_p: 1}}",
            SubjectSpec(
                kind=SubjectKind.PROVIDER,
                provider="p",
                settings={"temperature": 0.5, "max_output_tokens": 100, "extra": {"top_p": 1}},
            ),
        ),
        (
            '{python: "my_app:answer", timeout_s: 5}',
            SubjectSpec(kind=SubjectKind.PYTHON, settings={"function": "my_app:answer", "timeout_s": 5}),
        ),
        (
            '{http: {url: "https://host/ask", request: {q: "{{input}}"}, output: answer.text, api_key_env: ASK_KEY}}',
            SubjectSpec(
                kind=SubjectKind.HTTP,
                settings={
                    "url": "https://host/ask",
                    "request": {"q": "{{input}}"},
                    "output": "answer.text",
                    "api_key_env": "ASK_KEY",
                },
            ),
        ),
    ],
)
def test_a_subject_in_each_of_its_spellings(written: str, spec: SubjectSpec) -> None:
    found = suite_of(f"suite: s\nprompt: Hi\nsubject: {written}\ncases: [{{name: a}}]\n").subject

    assert (found.kind, found.provider, found.prompt) == (spec.kind, spec.provider, spec.prompt)
    assert thaw(found.settings) == spec.settings


def test_without_a_subject_every_case_brings_its_output() -> None:
    assert suite_of("suite: s\ncases: [{name: a, output: x}]\n").subject.kind is SubjectKind.RECORDED


def test_several_prompts_have_names_and_the_subject_takes_one() -> None:
    text = """\
suite: s
prompts:
  short: "{{q}}"
  long: {system: "Be brief.", text: "Please: {{q}}", messages: [{role: user, content: Hello}]}
subject: {provider: p, prompt: long}
cases: [{name: a, variables: {q: why}}]
"""
    listed = text.replace('  short: "{{q}}"', '  - {name: short, text: "{{q}}"}').replace(
        "  long: {", "  - {name: long, "
    )
    long = Prompt(
        name="long",
        system="Be brief.",
        text="Please: {{q}}",
        messages=(Message(role=Role.USER, content="Hello"),),
    )

    for written in (text, listed):
        suite = suite_of(written)
        assert suite.prompts == (Prompt(name="short", text="{{q}}"), long)
        assert suite.subject.prompt == "long"


def test_limits_and_a_reducer_with_a_rate() -> None:
    suite = suite_of(
        "suite: s\nsampling: {samples: 20, reducer: {minimum_pass_rate: 0.8}}\n"
        "limits: {concurrency: 4, subject_timeout_s: 30, evaluator_timeout_s: 2.5, run_timeout_s: 600, budget_usd: 1}\n"
        "cases: [{name: a, output: x}]\n"
    )

    assert (suite.samples, thaw(suite.reducer)) == (20, {"minimum_pass_rate": 0.8})
    assert suite.limits == Limits(
        concurrency=4, subject_timeout_s=30.0, evaluator_timeout_s=2.5, run_timeout_s=600.0, budget_usd=1.0
    )


def test_a_conversation_with_tools_is_read_block_by_block() -> None:
    text = """\
suite: s
subject: p
cases:
  - name: a
    messages:
      - {role: system, content: Be brief.}
      - {role: user, content: Is it raining?}
      - role: assistant
        content:
          - {type: text, text: Let me see.}
          - {type: tool_call, id: c1, name: weather, arguments: {city: Bern}}
      - role: tool
        content: [{type: tool_result, tool_call_id: c1, content: rain}]
"""
    first, second, third, fourth = suite_of(text).cases[0].messages

    assert (first.role, second.content) == (Role.SYSTEM, "Is it raining?")
    text_block, call = third.blocks
    assert text_block == TextBlock(text="Let me see.")
    assert isinstance(call, ToolCallBlock)
    assert (call.id, call.name, dict(call.arguments)) == ("c1", "weather", {"city": "Bern"})
    assert fourth.content == (ToolResultBlock(tool_call_id="c1", content=(TextBlock(text="rain"),)),)


def test_documents_are_paths_or_texts_and_have_names() -> None:
    case = case_of(
        documents=[
            "docs/manual.pdf",
            {"path": "a/b.txt", "name": "notes", "media_type": "text/plain"},
            {"text": "Open."},
        ]
    )

    assert case.documents == (
        CaseDocument(name="manual.pdf", path="docs/manual.pdf"),
        CaseDocument(name="notes", path="a/b.txt", media_type="text/plain"),
        CaseDocument(
            name="",
            text="Open.",
            media_type="text/plain",
            sha256="322b1a53e60dff5661c3ad8da74d7928d19a99bf55d1ffd44e47007e50509c98",
        ),
    )


def test_a_case_keeps_all_that_is_said_of_it() -> None:
    case = case_of(
        expected={"capital": "Paris"},
        execution={"latency_ms": 120},
        labels=["smoke", "needs review"],
        metadata={"tier": "gold"},
        pass_threshold=0.75,
    )

    assert thaw(case.expected) == {"capital": "Paris"}
    assert dict(case.execution) == {"latency_ms": 120}
    assert case.labels == ("smoke", "needs review")
    assert dict(case.metadata) == {"tier": "gold"}
    assert case.pass_threshold == 0.75


@pytest.mark.parametrize("expected", [{}, [], "", 0, False])
def test_an_expected_value_may_be_empty(expected: object) -> None:
    assert thaw(case_of(expected=expected).expected) == expected


def test_the_assertions_of_the_suite_come_before_those_of_a_case() -> None:
    suite = suite_of(
        "suite: s\nassertions: [{type: contains, value: x}]\n"
        "cases:\n  - {name: a, output: x}\n  - {name: b, output: x, assertions: [{type: regex, value: y}]}\n"
    )

    assert [[one["type"] for one in case.assertions] for case in suite.cases] == [["contains"], ["contains", "regex"]]


def test_words_that_other_readers_take_for_booleans_and_dates_stay_text() -> None:
    text = "suite: s\ncases:\n" + "".join(
        f"  - {{name: a{number}, output: x, expected: {word}}}\n"
        for number, word in enumerate(["no", "on", "Y", "2026-01-16", "2026-01-16T10:00:00Z", "1:30", "true"])
    )

    assert [case.expected for case in suite_of(text).cases] == [
        *("no", "on", "Y", "2026-01-16", "2026-01-16T10:00:00Z", "1:30"),
        True,
    ]


def test_three_dashes_in_a_prompt_are_text() -> None:
    text = "suite: s\nsubject: p\nprompt: |\n  Part A\n  ---\n  Part B\ncases: [{name: a}]\n"

    assert suite_of(text).prompts == (Prompt(text="Part A\n---\nPart B\n"),)


def test_braces_in_a_value_are_no_fault() -> None:
    page = "Hi {{user}} {# note #} {% if %} ^{{Ω}rel}"
    suite = suite_of(
        json.dumps(
            {
                "suite": "s",
                "prompt": "Judge this: {{page}}",
                "subject": "p",
                "cases": [{"name": "a", "variables": {"page": page}}],
            }
        ),
        name="s.json",
    )

    assert suite.cases[0].variables["page"] == page


def test_an_assertion_may_use_the_variables_of_each_case() -> None:
    text = """\
suite: s
assertions: [{type: contains, value: "{{capital}}"}]
cases:
  - {name: a, output: x, variables: {capital: Paris}}
  - {name: b, output: x}
"""
    [fault] = faults_in(text)

    assert (fault.line, fault.path) == (5, "cases[1].variables")
    assert fault.expected == "a value for {{capital}} of the assertion contains"
