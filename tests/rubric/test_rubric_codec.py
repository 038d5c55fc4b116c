"""Rubric files: what is read back, what is refused with which line, and what the schema says about it."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.errors import AuthoringError, RubricInvalid
from jurat.rubric import (
    NEEDS,
    Anchor,
    Criterion,
    Rubric,
    catalog,
    custom_rubric,
    read_rubric,
    rubric_from_json,
    rubric_schema,
)
from jurat.vocabulary import Scope
from jurat.yamltext import to_yaml

SMALL: dict[str, Any] = {
    "name": "tone",
    "definition": "Kind?",
    "criteria": [{"id": "warmth", "description": "It is kind."}],
}

FILE = """\
name: tone
revision: 2
definition: Is it kind?
criteria:
  - id: warmth
    description: It is kind.
    wieght: 2
    max: 1e999
  - description: 1.10
    min: true
anchors:
  - {score: 0.5, label: no}
purpse: x
"""


def sound(value: object) -> bool:
    return bool(jsonschema_rs.validator_for(rubric_schema()).is_valid(value))


# --- Reading ---------------------------------------------------------------------------------------------------------


def test_what_has_a_default_may_be_left_out() -> None:
    rubric = rubric_from_json(SMALL)

    assert rubric == Rubric(
        name="tone", definition="Kind?", criteria=(Criterion(id="warmth", description="It is kind."),)
    )


def test_yaml_and_json_files_read_alike() -> None:
    assert read_rubric(to_yaml(SMALL), "tone.yaml") == read_rubric(json.dumps(SMALL), "tone.json")


def test_words_that_other_readers_take_for_booleans_stay_labels() -> None:
    anchors = [{"score": 0, "label": "no", "description": "off"}, {"score": 1, "label": "yes", "description": "on"}]
    text = "name: tone\ndefinition: Kind?\ncriteria: [{id: y, description: n}]\nanchors:\n"
    text += "".join(
        f"  - {{score: {a['score']}, label: {a['label']}, description: {a['description']}}}\n" for a in anchors
    )

    assert read_rubric(text).to_json()["anchors"] == anchors


def test_all_faults_of_a_file_come_together_with_path_and_line() -> None:
    with pytest.raises(RubricInvalid) as caught:
        read_rubric(FILE.replace("1e999", "x"), "tone.yaml")

    assert [(fault.path, fault.line, fault.found, fault.hint) for fault in caught.value.faults] == [
        ("revision", 2, "the number 2", "Put it in quotes."),
        ("criteria[0].wieght", 7, "an unknown one", "Did you mean weight?"),
        ("criteria[0].max", 8, "the text 'x'", None),
        ("criteria[1].id", 9, "nothing", "Add it."),
        ("criteria[1].description", 9, "the number 1.10", "Put it in quotes."),
        ("criteria[1].min", 10, "the boolean true", None),
        ("anchors[0].description", 12, "nothing", "Add it."),
        ("purpse", 13, "an unknown one", "Did you mean purpose?"),
    ]
    assert all(fault.file == "tone.yaml" for fault in caught.value.faults)
    assert "tone.yaml:2: revision: expected text, found the number 2. Put it in quotes." in str(caught.value)


def test_a_number_that_is_not_finite_is_found_before_the_rubric_is_looked_at() -> None:
    with pytest.raises(AuthoringError, match=r"tone\.yaml:8: criteria\[0\]\.max: expected a finite number"):
        read_rubric(FILE, "tone.yaml")


def test_an_unknown_key_near_nothing_is_told_what_is_known() -> None:
    with pytest.raises(RubricInvalid, match="Known are name, revision, scope, purpose, definition"):
        rubric_from_json({**SMALL, "zzz": 1})


def test_paths_can_begin_inside_a_larger_document() -> None:
    with pytest.raises(RubricInvalid) as caught:
        rubric_from_json({**SMALL, "criteria": [{}]}, at="cases[0].rubric")

    assert [fault.path for fault in caught.value.faults] == [
        "cases[0].rubric.criteria[0].id",
        "cases[0].rubric.criteria[0].description",
    ]


@pytest.mark.parametrize("value", [None, "faithfulness", [], 3, True])
def test_what_is_no_object_is_no_rubric(value: object) -> None:
    with pytest.raises(RubricInvalid, match=r"\(top level\): expected a rubric \(an object\), found"):
        rubric_from_json(value)


def test_an_empty_object_is_told_all_that_is_missing() -> None:
    with pytest.raises(RubricInvalid) as caught:
        rubric_from_json({})

    assert [(fault.path, fault.found) for fault in caught.value.faults] == [
        ("name", "nothing"),
        ("definition", "nothing"),
        ("criteria", "nothing"),
    ]


# --- Properties ------------------------------------------------------------------------------------------------------

NAMES = st.from_regex("[A-Za-z0-9][A-Za-z0-9_-]{0,20}", fullmatch=True)
TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30).filter(str.strip)
BOUNDS = st.tuples(st.integers(-100, 100), st.integers(1, 100)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@st.composite
def rubrics(draw: st.DrawFn) -> Rubric:
    criteria = []
    for id_ in draw(st.lists(NAMES, min_size=1, max_size=4, unique=True)):
        low, high = draw(BOUNDS)
        weight = draw(st.floats(0.01, 100))
        criterion = Criterion(
            id=id_, description=draw(TEXTS), min=low, max=high, weight=weight, required=draw(st.booleans())
        )
        criteria.append(criterion)
    inside = st.floats(min(one.min for one in criteria), max(one.max for one in criteria))
    anchors = st.lists(st.builds(Anchor, score=inside, label=TEXTS, description=TEXTS), max_size=3)
    return Rubric(
        name=draw(NAMES),
        revision=draw(NAMES),
        scope=draw(st.sampled_from(Scope)),
        definition=draw(TEXTS),
        criteria=tuple(criteria),
        anchors=tuple(draw(anchors)),
        purpose=draw(st.just("") | TEXTS),
        needs=tuple(draw(st.lists(st.sampled_from(NEEDS), max_size=3))),
        threshold=draw(st.none() | inside),
        scores_absence=draw(st.booleans()),
    )


@given(rubrics())
def test_a_rubric_written_and_read_is_the_same_rubric(rubric: Rubric) -> None:
    for again in (
        rubric_from_json(rubric.to_json()),
        read_rubric(json.dumps(rubric.to_json()), "x.json"),
        read_rubric(to_yaml(rubric.to_json()), "x.yaml"),
    ):
        assert again == rubric
        assert again.content_hash == rubric.content_hash


@given(rubrics())
def test_the_schema_accepts_every_rubric_that_can_be_made(rubric: Rubric) -> None:
    assert sound(rubric.to_json())


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)
JSON = st.recursive(
    SCALARS, lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=6), part, max_size=3)
)
KEYS = st.sampled_from([*Rubric.__slots__, "id", "description", "min", "max", "weight", "score", "label", "x"])


@given(JSON | st.dictionaries(KEYS, JSON | st.lists(st.dictionaries(KEYS, JSON, max_size=5), max_size=3), max_size=8))
def test_any_value_is_a_rubric_or_invalid(value: object) -> None:
    try:
        rubric = rubric_from_json(value)
    except RubricInvalid as error:
        paths = [fault.path for fault in error.faults]
    else:
        paths = [f"none: {rubric.reference}"]

    assert paths


@given(st.text() | st.binary())
def test_any_file_is_a_rubric_or_an_authoring_error(text: str | bytes) -> None:
    with pytest.raises(AuthoringError):
        read_rubric(text, "x.yaml")


# --- The schema ------------------------------------------------------------------------------------------------------


def test_the_schema_is_itself_sound() -> None:
    jsonschema_rs.meta.validate(rubric_schema())


def test_the_schema_accepts_every_rubric_that_ships() -> None:
    assert all(sound(rubric.to_json()) for rubric in catalog())
    assert sound(custom_rubric("Mentions the year.").to_json())
    assert sound(SMALL)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "to ne"},
        {"name": "tone\n"},
        {"name": 3},
        {"revision": 2},
        {"revision": ""},
        {"scope": "galaxy"},
        {"definition": "  "},
        {"definition": "x" * 8_001},
        {"purpose": "x" * 1_001},
        {"criteria": []},
        {"criteria": SMALL["criteria"] * 65},
        {"criteria": [{"id": "a"}]},
        {"criteria": [{"id": "a", "description": "x", "wieght": 1}]},
        {"criteria": [{"id": "a", "description": "x", "weight": 0}]},
        {"criteria": [{"id": "a", "description": "x", "min": True}]},
        {"anchors": [{"score": "1", "label": "x", "description": "x"}]},
        {"anchors": [{"score": 1, "label": "x"}]},
        {"needs": ["luck"]},
        {"threshold": "80"},
        {"scores_absence": 1},
        {"purpse": "x"},
    ],
)
def test_the_schema_and_the_rules_refuse_the_same(change: dict[str, Any]) -> None:
    assert not sound({**SMALL, **change})
    with pytest.raises(RubricInvalid):
        rubric_from_json({**SMALL, **change})


def test_every_property_of_the_schema_tells_an_editor_what_it_is() -> None:
    schema: dict[str, Any] = rubric_schema()
    objects = [schema, schema["properties"]["criteria"]["items"], schema["properties"]["anchors"]["items"]]

    for one in objects:
        assert all(entry["description"] for entry in one["properties"].values())
        assert one["additionalProperties"] is False


def test_the_schema_handed_out_is_a_copy() -> None:
    rubric_schema()["properties"].clear()

    assert "name" in rubric_schema()["properties"]
