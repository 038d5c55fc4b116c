"""Cases, prompts and suites as plain data: they read back as the same, and their hashes name what they say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from suitetexts import CAPITALS, suite_of

from jurat.evidence import (
    Message,
    RefusalBlock,
    Role,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from jurat.jsontext import canonical, freeze, parse_strict
from jurat.suite.case import Case, CaseDocument, Place
from jurat.suite.codec import (
    case_from_json,
    case_hash,
    case_to_json,
    prompt_from_json,
    prompt_hash,
    prompt_to_json,
    suite_from_json,
    suite_hash,
    suite_to_json,
)
from jurat.suite.suite import Limits, Prompt, SubjectKind, SubjectSpec, Suite
from jurat.vocabulary import content_id

scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(max_size=8)
values = st.recursive(
    scalars | texts, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
).map(freeze)
objects = st.dictionaries(texts, values, max_size=3).map(freeze)
plain_blocks = st.one_of(
    st.builds(TextBlock, text=texts),
    st.builds(RefusalBlock, text=texts),
    st.builds(ThinkingBlock, text=texts),
    st.builds(ToolCallBlock, id=texts, name=texts, arguments=objects),
)
blocks = plain_blocks | st.builds(
    ToolResultBlock,
    tool_call_id=texts,
    content=st.lists(plain_blocks, max_size=2).map(tuple),
    failed=st.booleans(),
)
messages = st.lists(
    st.builds(Message, role=st.sampled_from(Role), content=texts | st.lists(blocks, max_size=2).map(tuple)), max_size=2
).map(tuple)
documents = st.lists(
    st.builds(CaseDocument, name=texts, media_type=st.just("text/plain"), text=texts, sha256=st.just("0" * 64))
    | st.builds(CaseDocument, name=texts, path=texts),
    max_size=2,
).map(tuple)
cases = st.builds(
    Case,
    name=texts,
    variables=objects,
    messages=messages,
    documents=documents,
    expected=values,
    output=st.none() | texts,
    execution=objects,
    labels=st.lists(texts, max_size=2).map(tuple),
    metadata=objects,
    assertions=st.lists(objects, max_size=2).map(tuple),
    pass_threshold=st.none() | st.floats(0.1, 1),
)
prompts = st.builds(Prompt, name=texts, system=st.none() | texts, text=st.none() | texts, messages=messages)
suites = st.builds(
    Suite,
    name=texts,
    description=st.none() | texts.filter(bool),
    subject=st.builds(
        SubjectSpec, kind=st.sampled_from(SubjectKind), provider=st.none() | texts, prompt=st.none(), settings=objects
    ),
    cases=st.lists(cases, max_size=2).map(tuple),
    providers=st.dictionaries(texts, values, max_size=2).map(
        lambda rows: freeze({name: {"name": name, "x": value} for name, value in rows.items()})
    ),
    prompts=st.lists(prompts, max_size=2).map(tuple),
    samples=st.integers(1, 20),
    reducer=st.sampled_from(["all", "any"]) | st.just(freeze({"minimum_pass_rate": 0.5})),
    policy=st.lists(objects, max_size=2).map(tuple),
    limits=st.builds(Limits, concurrency=st.none() | st.integers(1, 9), budget_usd=st.none() | st.floats(0.1, 9)),
)


def through_text(value: Any) -> Any:
    return parse_strict(canonical(value))


@given(cases)
def test_a_case_reads_back_as_the_same(case: Case) -> None:
    assert case_from_json(through_text(case_to_json(case))) == case


@given(cases)
def test_the_hash_of_a_case_is_that_of_its_canonical_json(case: Case) -> None:
    assert case_hash(case) == content_id(canonical(case_to_json(case)).encode())


@given(prompts)
def test_a_prompt_reads_back_as_the_same(prompt: Prompt) -> None:
    assert prompt_from_json(through_text(prompt_to_json(prompt)), prompt.name) == prompt
    assert prompt_hash(prompt) == content_id(canonical(prompt_to_json(prompt)).encode())


@given(suites)
def test_a_suite_reads_back_as_the_same_with_its_cases(suite: Suite) -> None:
    assert suite_from_json(through_text(suite_to_json(suite)), suite.cases) == suite
    assert suite_hash(suite) == content_id(canonical(suite_to_json(suite)).encode())


def test_what_has_its_default_is_not_in_the_data() -> None:
    assert case_to_json(Case(name="a")) == {"name": "a"}
    assert case_to_json(Case(name="a", output="")) == {"name": "a", "output": ""}
    assert prompt_to_json(Prompt(text="x")) == {"text": "x"}


def test_the_hash_of_a_case_stays_what_it_is() -> None:
    # A change here would part every new run from every old one.
    case = Case(name="france", variables=freeze({"country": "France"}), labels=("a",))

    assert canonical(case_to_json(case)) == '{"labels":["a"],"name":"france","variables":{"country":"France"}}'
    assert case_hash(case) == "sha256:96e2f1ba903bedf82c5fd70ca5fa438fea011569e3c647bde453db50f33db80b"


def test_where_and_how_a_suite_was_written_does_not_matter() -> None:
    text = CAPITALS.replace('prompt: "What is', 'prompt: "What\\nis')
    spread = "# A remark.\n\n" + text.replace("{country: France}", "\n      country: 'France'")

    assert suite_hash(suite_of(text)) == suite_hash(suite_of(text.replace("\n", "\r\n")))
    assert suite_hash(suite_of(text)) == suite_hash(suite_of(spread))
    assert suite_hash(suite_of(text)) == suite_hash(replace(suite_of(text), file="elsewhere.yaml"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("France", "Spain"),
        ("name: france", "name: frankreich"),
        ("samples: 3", "samples: 4"),
        ("gpt-x", "gpt-y"),
        ("What is", "Which is"),
        ("minimum: 0.9", "minimum: 0.8"),
        ("threshold: 85", "threshold: 86"),
        ("subject: answerer", "subject: judge"),
    ],
)
def test_what_decides_an_outcome_is_in_the_hash(old: str, new: str) -> None:
    assert suite_hash(suite_of(CAPITALS)) != suite_hash(suite_of(CAPITALS.replace(old, new)))


def test_a_document_counts_by_what_it_says_once_it_was_read() -> None:
    read = CaseDocument(name="d", path="a/d.txt", media_type="text/plain", text="x", sha256="1" * 64)

    assert case_hash(Case(name="a", documents=(read,))) == case_hash(
        Case(name="a", documents=(replace(read, path="b/d.txt"),), place=Place(file="x", line=3))
    )
    assert case_hash(Case(name="a", documents=(read,))) != case_hash(
        Case(name="a", documents=(replace(read, sha256="2" * 64),))
    )


def test_the_name_of_a_prompt_is_no_part_of_what_it_says() -> None:
    assert prompt_hash(Prompt(name="a", text="x")) == prompt_hash(Prompt(name="b", text="x"))
    assert prompt_hash(Prompt(text="x")) != prompt_hash(Prompt(system="x"))
