"""The context: what it takes, what it refuses with all faults together, and that nothing changes it later."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.errors import AuthoringError
from jurat.evidence import (
    Context,
    Document,
    Message,
    RefusalBlock,
    Role,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    as_context,
    context_from_json,
    context_to_json,
)
from jurat.jsontext import canonical, parse_strict

texts = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(texts, json_values, max_size=3)
plain_blocks = st.one_of(
    st.builds(TextBlock, text=texts),
    st.builds(RefusalBlock, text=texts),
    st.builds(ThinkingBlock, text=texts),
    st.builds(ToolCallBlock, id=texts, name=texts, arguments=objects),
)
blocks = plain_blocks | st.builds(
    ToolResultBlock, tool_call_id=texts, content=st.lists(plain_blocks, max_size=2).map(tuple), failed=st.booleans()
)
messages = st.builds(Message, role=st.sampled_from(Role), content=texts | st.lists(blocks, max_size=3).map(tuple))
contexts = st.builds(
    Context,
    output=texts,
    expected=json_values,
    rendered_input=st.none() | texts,
    prompt_template=st.none() | texts,
    variables=objects,
    messages=st.lists(messages, max_size=3).map(tuple),
    documents=st.lists(st.builds(Document, text=texts, name=texts), max_size=2).map(tuple),
    metadata=objects,
    provider=st.none() | texts,
    prompt_version=st.none() | texts,
    execution=objects,
)


def faults(value: Any) -> list[tuple[str, str]]:
    with pytest.raises(AuthoringError) as caught:
        context_from_json(value)
    return [(fault.path, fault.found) for fault in caught.value.faults]


# --- What it holds ---------------------------------------------------------------------------------------------------


def test_only_the_output_is_required_and_the_rest_has_documented_defaults() -> None:
    context = Context(output="x")

    assert context_to_json(context) == {
        "output": "x",
        "expected": None,
        "rendered_input": None,
        "prompt_template": None,
        "variables": {},
        "messages": [],
        "documents": [],
        "metadata": {},
        "provider": None,
        "prompt_version": None,
        "execution": {},
    }


def test_a_plain_string_is_a_context_with_that_output() -> None:
    context = Context(output="x")

    assert as_context("x") == context
    assert as_context(context) is context


@given(context=contexts)
def test_a_context_written_as_json_reads_back_unchanged(context: Context) -> None:
    assert context_from_json(context_to_json(context)) == context
    assert context_from_json(parse_strict(canonical(context_to_json(context)))) == context


@given(value=st.dictionaries(st.sampled_from([item.name for item in fields(Context)]), json_values))
def test_whatever_json_is_read_it_becomes_a_context_or_an_authoring_error(value: dict[str, Any]) -> None:
    found: Context | AuthoringError
    try:
        found = context_from_json(value)
    except AuthoringError as error:
        found = error

    assert found.faults if isinstance(found, AuthoringError) else found.output == value["output"]


def test_documents_may_be_written_as_bare_text() -> None:
    context = context_from_json({"output": "x", "documents": ["a", {"text": "b", "name": "b.pdf"}]})

    assert context.documents == (Document(text="a"), Document(text="b", name="b.pdf"))
    assert context.documents[0].media_type == "text/plain"


def test_messages_may_be_objects_or_plain_data_and_blocks_may_stand_in_a_list() -> None:
    plain = {"role": "user", "content": [{"type": "text", "text": "a"}]}
    made = Message(role=Role.USER, content=[TextBlock(text="a")])  # type: ignore[arg-type]

    context = context_from_json({"output": "x", "messages": [plain, made]})

    assert context.messages[0] == context.messages[1] == Message(role=Role.USER, content=(TextBlock(text="a"),))


def test_a_role_written_as_plain_text_is_the_closed_word() -> None:
    message: Any = Message(role="user", content="a")  # type: ignore[arg-type]

    assert Context(output="x", messages=(message,)).messages[0].role is Role.USER


# --- What it refuses -------------------------------------------------------------------------------------------------


def test_an_unknown_field_names_the_nearest_known_one() -> None:
    with pytest.raises(AuthoringError) as caught:
        context_from_json({"output": "x", "expectd": "y", "zzz": 1})

    first, second = caught.value.faults
    assert (first.path, first.hint) == ("expectd", "Did you mean expected?")
    assert (second.path, second.hint) == ("zzz", None)


@pytest.mark.parametrize("value", ["x", None, [], 5, b"x"])
def test_what_is_no_object_is_no_context(value: Any) -> None:
    assert [path for path, _ in faults(value)] == [""]


@pytest.mark.parametrize(
    ("output", "found"),
    [
        (None, "null"),
        (5, "a number"),
        (True, "a boolean"),
        ({"total": 12}, "an object"),
        (["a"], "an array"),
        (b"\x00\x01\xff", "bytes"),
        ("\ud800", "text with a lone surrogate, which is no Unicode character"),
    ],
)
def test_an_output_that_is_no_text_is_refused_by_its_type(output: Any, found: str) -> None:
    assert faults({"output": output}) == [("output", found)]


@pytest.mark.parametrize(
    ("field", "value", "path"),
    [
        ("expected", b"x", "expected"),
        ("expected", {"a": [float("nan")]}, "expected.a[0]"),
        ("expected", {"a": {1: 2}}, "expected.a"),
        ("expected", {1}, "expected"),
        pytest.param("expected", 10**5000, "expected", id="a huge integer"),
        ("metadata", {"a": "\udfff"}, "metadata.a"),
        ("metadata", {"\udfff": 1}, "metadata"),
        ("metadata", [], "metadata"),
        ("variables", "x", "variables"),
        ("execution", None, "execution"),
        ("rendered_input", 5, "rendered_input"),
        ("messages", "hello", "messages"),
        ("messages", None, "messages"),
        ("messages", ["hello"], "messages[0]"),
        ("messages", [{"role": "user"}], "messages[0].content"),
        ("messages", [{"content": "x"}], "messages[0].role"),
        ("messages", [{"role": "bot", "content": "x"}], "messages[0].role"),
        ("messages", [{"role": "user", "content": "x", "name": "y"}], "messages[0].name"),
        ("messages", [{"role": "user", "content": "\ud800"}], "messages[0].content"),
        ("messages", [{"role": "user", "content": ["x"]}], "messages[0].content[0]"),
        ("messages", [{"role": "user", "content": [{"type": "image"}]}], "messages[0].content[0]"),
        ("messages", [{"role": "user", "content": [{"type": "text"}]}], "messages[0].content[0].text"),
        (
            "messages",
            [{"role": "tool", "content": [{"type": "tool_result", "content": "x", "failed": 1}]}],
            "messages[0].content[0].failed",
        ),
        ("documents", "text", "documents"),
        ("documents", [5], "documents[0]"),
        ("documents", [{"name": "a.pdf"}], "documents[0].text"),
        ("documents", [{"text": b"x"}], "documents[0].text"),
    ],
)
def test_a_field_of_the_wrong_kind_is_named_by_its_path(field: str, value: Any, path: str) -> None:
    assert [where for where, _ in faults({"output": "x", field: value})] == [path]


def test_all_faults_come_together() -> None:
    found = faults({"outputs": "x", "expected": b"", "metadata": [], "messages": [{"role": "bot", "content": 5}]})

    assert [path for path, _ in found] == [
        "outputs",
        "output",
        "metadata",
        "expected",
        "messages[0].role",
        "messages[0].content",
    ]


def test_no_fault_repeats_the_text_of_a_message() -> None:
    with pytest.raises(AuthoringError) as caught:
        context_from_json({"output": "x", "messages": [{"role": "user", "content": ["zq7canary"]}, "zq7canary"]})

    assert "zq7canary" not in str(caught.value)


def test_blocks_within_blocks_have_a_bound() -> None:
    content: Any = "x"
    for _ in range(1000):
        content = [{"type": "tool_result", "tool_call_id": "t", "content": content}]

    assert "levels of blocks" in str(_fault_text({"output": "x", "messages": [{"role": "tool", "content": content}]}))


def _fault_text(value: Any) -> AuthoringError:
    with pytest.raises(AuthoringError) as caught:
        context_from_json(value)
    return caught.value


# --- Nothing changes it ----------------------------------------------------------------------------------------------


def test_changing_what_was_handed_in_later_changes_nothing() -> None:
    source: dict[str, Any] = {
        "output": "x",
        "expected": {"a": [1]},
        "metadata": {"k": {"n": [1]}},
        "variables": {"v": [1]},
        "messages": [{"role": "user", "content": [{"type": "tool_call", "name": "t", "arguments": {"q": [1]}}]}],
        "documents": [{"text": "d"}],
        "execution": {"tool_calls": [1]},
    }
    context = context_from_json(source)
    before = context_to_json(context_from_json(context_to_json(context)))

    source["expected"]["a"].append(2)
    source["metadata"]["k"]["n"].append(2)
    source["variables"]["v"].append(2)
    source["messages"][0]["content"][0]["arguments"]["q"].append(2)
    source["messages"].clear()
    source["documents"][0]["text"] = "e"
    source["execution"]["tool_calls"].append(2)

    assert context_to_json(context) == before


def test_a_context_and_what_it_holds_cannot_be_changed() -> None:
    context = Context(output="x", metadata={"a": {"b": [1]}})

    with pytest.raises(FrozenInstanceError):
        context.output = "y"  # type: ignore[misc]
    with pytest.raises(TypeError):
        context.metadata["c"] = 1  # type: ignore[index]
    assert isinstance(context.metadata["a"], MappingProxyType)
    assert context.metadata["a"]["b"] == (1,)
