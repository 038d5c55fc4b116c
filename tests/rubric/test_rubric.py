"""The rubric: its rules, its hash, and what counts as the same meaning."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from jurat.errors import ErrorCategory, RubricInvalid
from jurat.rubric import Anchor, Criterion, Rubric, custom_rubric
from jurat.vocabulary import Scope


def small(**changes: Any) -> Rubric:
    fields: dict[str, Any] = {
        "name": "tone",
        "definition": "How friendly the output is.",
        "criteria": (Criterion(id="warmth", description="It is kind."),),
    }
    return Rubric(**{**fields, **changes})


def faults(**changes: Any) -> list[tuple[str, str]]:
    with pytest.raises(RubricInvalid) as caught:
        small(**changes)
    return [(fault.path, fault.found) for fault in caught.value.faults]


def criterion(**changes: Any) -> Criterion:
    return replace(Criterion(id="warmth", description="It is kind."), **changes)


# --- What is derived -------------------------------------------------------------------------------------------------


def test_the_score_range_is_the_envelope_of_the_criteria() -> None:
    rubric = small(criteria=(criterion(min=1, max=5), criterion(id="b", min=-2, max=3)))

    assert rubric.score_range == (-2.0, 5.0)


def test_the_pass_threshold_is_the_midpoint_unless_one_is_given() -> None:
    one_to_five = (criterion(min=1, max=5),)

    assert small(criteria=one_to_five).pass_threshold == 3.0
    assert small(criteria=one_to_five, threshold=4).pass_threshold == 4.0
    assert small(criteria=one_to_five, threshold=1).pass_threshold == 1.0


def test_the_reference_is_name_and_revision() -> None:
    assert small().reference == "tone@v1"
    assert small(revision="2026-01-16").reference == "tone@2026-01-16"


def test_defaults_are_as_documented() -> None:
    rubric = small()

    assert (rubric.revision, rubric.scope, rubric.anchors, rubric.needs) == ("v1", Scope.CASE, (), ())
    assert (rubric.purpose, rubric.threshold, rubric.scores_absence) == ("", None, False)
    assert rubric.criteria[0] == Criterion(
        id="warmth", description="It is kind.", min=0.0, max=1.0, weight=1.0, required=False
    )


def test_a_rubric_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        small().name = "other"  # type: ignore[misc]


def test_the_json_shape_is_whole_and_writes_whole_numbers_without_fraction() -> None:
    anchor = Anchor(score=0.5, label="half", description="Half way.")

    assert small(criteria=(criterion(max=100),), anchors=[anchor], needs=["context", "output"]).to_json() == {
        "name": "tone",
        "revision": "v1",
        "scope": "case",
        "purpose": "",
        "definition": "How friendly the output is.",
        "criteria": [
            {"id": "warmth", "description": "It is kind.", "min": 0, "max": 100, "weight": 1, "required": False}
        ],
        "anchors": [{"score": 0.5, "label": "half", "description": "Half way."}],
        "needs": ["output", "context"],
        "threshold": None,
        "scores_absence": False,
    }


# --- The hash --------------------------------------------------------------------------------------------------------


def test_the_hash_of_a_small_rubric_is_pinned() -> None:
    # SHA-256 of {"anchors":[],"criteria":[{"description":"It is kind.","id":"warmth","max":1,"min":0,"required":false,
    # "weight":1}],"definition":"How friendly the output is.","name":"tone","needs":[],"revision":"v1","scope":"case",
    # "scores_absence":false,"threshold":null}
    assert small().content_hash == ("sha256:1cba3a1471572146a05f391fba288f89cf016eaeb553e81dd6b24c7c802026e2")


@pytest.mark.parametrize(
    "same",
    [
        {"criteria": (criterion(min=0, max=1, weight=1),)},
        {"criteria": [criterion(min=-0.0)]},
        {"criteria": (criterion(description="  It is kind.\r\n"),)},
        {"definition": "How friendly the output is.\n"},
        {"scope": "case"},
        {"purpose": "For people who choose one."},
    ],
)
def test_what_means_the_same_has_the_same_hash(same: dict[str, Any]) -> None:
    assert small(**same).content_hash == small().content_hash


@pytest.mark.parametrize(
    "other",
    [
        {"name": "mood"},
        {"revision": "v2"},
        {"scope": Scope.TURN},
        {"definition": "How friendly the output is!"},
        {"criteria": (criterion(id="heat"),)},
        {"criteria": (criterion(description="It is not."),)},
        {"criteria": (criterion(min=-1),)},
        {"criteria": (criterion(max=2),)},
        {"criteria": (criterion(weight=2),)},
        {"criteria": (criterion(required=True),)},
        {"criteria": (criterion(), criterion(id="b"))},
        {"anchors": (Anchor(score=1, label="kind", description="Kind."),)},
        {"needs": ("output",)},
        {"threshold": 0.5},
        {"scores_absence": True},
    ],
)
def test_what_means_something_else_has_another_hash(other: dict[str, Any]) -> None:
    assert small(**other).content_hash != small().content_hash


def test_line_ends_and_the_order_of_needs_make_no_difference() -> None:
    unix = small(definition="a\nb", needs=("output", "context", "documents"))
    windows = small(definition="a\r\nb", needs=("documents", "output", "context", "output"))

    assert unix == windows
    assert unix.content_hash == windows.content_hash


# --- The rules -------------------------------------------------------------------------------------------------------


def test_a_rubric_with_ten_faults_reports_ten() -> None:
    with pytest.raises(RubricInvalid) as caught:
        Rubric(
            name="to ne",
            revision="",
            scope="galaxy",  # type: ignore[arg-type]
            definition="  ",
            criteria=(
                Criterion(id="a", description="", min=1, max=1),
                Criterion(id="a", description="x", weight=0),
                Criterion(id="b", description="x", min=float("nan")),
            ),
            anchors=(Anchor(score=7, label="high", description="x"),),
        )

    assert [fault.path for fault in caught.value.faults] == [
        "name",
        "revision",
        "scope",
        "definition",
        "criteria[0].description",
        "criteria[0].max",
        "criteria[1].weight",
        "criteria[2].min",
        "criteria[1].id",
        "anchors[0].score",
    ]
    assert len(caught.value.faults) == 10
    assert caught.value.category is ErrorCategory.RUBRIC_INVALID
    assert str(caught.value).startswith("rubric: 10 faults\n")


@pytest.mark.parametrize("name", ["", "-a", "a b", "a@v1", "a/b", "a.b", "ä", "a\n", "a" * 65, "\ud800"])
def test_names_and_ids_keep_to_their_pattern(name: str) -> None:
    assert [path for path, _ in faults(name=name)] == ["name"]
    assert [path for path, _ in faults(criteria=(criterion(id=name),))] == ["criteria[0].id"]


@pytest.mark.parametrize("name", ["a", "7", "Tone_of-Voice2", "a" * 64])
def test_ordinary_names_and_ids_are_fine(name: str) -> None:
    assert small(name=name, criteria=(criterion(id=name),)).name == name


@pytest.mark.parametrize("number", [True, False, "1", None, [1], float("nan"), float("inf"), 10**400, -(10**400)])
def test_only_finite_numbers_are_numbers(number: Any) -> None:
    assert [path for path, _ in faults(criteria=(criterion(min=number),))] == ["criteria[0].min"]
    assert [path for path, _ in faults(criteria=(criterion(max=number),))] == ["criteria[0].max"]
    assert [path for path, _ in faults(criteria=(criterion(weight=number),))] == ["criteria[0].weight"]
    if number is not None:
        assert [path for path, _ in faults(threshold=number)] == ["threshold"]


@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 1), (0.0, -0.0)])
def test_min_is_below_max(low: float, high: float) -> None:
    assert [path for path, _ in faults(criteria=(criterion(min=low, max=high),))] == ["criteria[0].max"]


@pytest.mark.parametrize("weight", [0, -1, 1e-7, 1e7])
def test_weights_are_positive_and_within_reason(weight: float) -> None:
    assert [path for path, _ in faults(criteria=(criterion(weight=weight),))] == ["criteria[0].weight"]


@pytest.mark.parametrize("threshold", [-0.1, 1.1, 80])
def test_the_threshold_lies_inside_the_range(threshold: float) -> None:
    with pytest.raises(RubricInvalid, match="a number inside the score range, 0 to 1, found the number"):
        small(threshold=threshold)


def test_anchors_lie_inside_the_envelope_and_its_ends_count() -> None:
    def at(score: float) -> Anchor:
        return Anchor(score=score, label="x", description="x")

    assert len(small(anchors=(at(0), at(1))).anchors) == 2
    assert faults(anchors=(at(0), at(1.5), at(-1))) == [
        ("anchors[1].score", "the number 1.5"),
        ("anchors[2].score", "the number -1"),
    ]


def test_there_are_1_to_64_criteria_and_up_to_64_anchors() -> None:
    def some(count: int) -> tuple[Criterion, ...]:
        return tuple(criterion(id=f"c{i}") for i in range(count))

    anchor = Anchor(score=1, label="x", description="x")

    assert len(small(criteria=some(64), anchors=(anchor,) * 64).criteria) == 64
    assert faults(criteria=()) == [("criteria", "0")]
    assert faults(criteria=some(65)) == [("criteria", "65")]
    assert faults(anchors=(anchor,) * 65) == [("anchors", "65")]


def test_every_repeated_id_is_a_fault_that_names_the_first() -> None:
    assert faults(criteria=(criterion(), criterion(), criterion(id="b"), criterion())) == [
        ("criteria[1].id", "that of criteria[0]"),
        ("criteria[3].id", "that of criteria[0]"),
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "empty text"),
        (" \n\u3000", "blank text"),
        ("a\ud800", "a lone surrogate, which is no character"),
        ("a\0b", "the character U+0000"),
        ("a\x1b[2J", "the character U+001B"),
        (7, "the number 7"),
        (None, "null"),
        (b"a", "bytes"),
    ],
)
def test_texts_are_sound_and_not_blank(text: Any, found: str) -> None:
    assert faults(definition=text) == [("definition", found)]
    assert faults(criteria=(criterion(description=text),)) == [("criteria[0].description", found)]
    assert faults(anchors=(Anchor(score=0, label=text, description=text),)) == [
        ("anchors[0].label", found),
        ("anchors[0].description", found),
    ]


def test_texts_are_bounded() -> None:
    assert len(small(definition="x" * 8_000, purpose="x" * 1_000).definition) == 8_000
    assert faults(definition="x" * 8_001, purpose="x" * 1_001) == [("purpose", "1,001"), ("definition", "8,001")]
    assert faults(criteria=(criterion(description="x" * 4_001),)) == [("criteria[0].description", "4,001")]
    assert faults(anchors=(Anchor(score=0, label="x" * 201, description="x"),)) == [("anchors[0].label", "201")]


def test_needs_are_of_the_known_words() -> None:
    assert faults(needs=("output", "luck", 3)) == [("needs[1]", "the text 'luck'"), ("needs[2]", "the number 3")]
    assert faults(needs="output") == [("needs", "the text 'output'")]


def test_flags_are_booleans() -> None:
    assert faults(scores_absence=1) == [("scores_absence", "the number 1")]
    assert faults(criteria=(criterion(required="yes"),)) == [("criteria[0].required", "the text 'yes'")]


def test_what_is_no_criterion_and_no_anchor_is_refused() -> None:
    assert faults(criteria=({"id": "a", "description": "x"}, "b"), anchors=(1,)) == [
        ("criteria[0]", "a Python dict"),
        ("criteria[1]", "the text 'b'"),
        ("anchors[0]", "the number 1"),
    ]
    assert faults(criteria=None) == [("criteria", "null")]


# --- Custom rubrics --------------------------------------------------------------------------------------------------


def test_a_custom_rubric_has_one_criterion_from_0_to_100_and_threshold_80() -> None:
    rubric = custom_rubric("The answer mentions the year.\n")

    assert rubric.name == "custom"
    assert rubric.definition == "The answer mentions the year."
    assert len(rubric.criteria) == 1
    assert rubric.score_range == (0.0, 100.0)
    assert rubric.pass_threshold == 80.0


def test_the_revision_of_a_custom_rubric_follows_from_its_text() -> None:
    assert custom_rubric("a").reference == "custom@ca978112ca1b"  # SHA-256 of "a" begins so
    assert custom_rubric("a\r\nb") == custom_rubric("a\nb")
    assert custom_rubric("b").revision != custom_rubric("a").revision


def test_a_custom_rubric_keeps_its_text_whatever_it_looks_like() -> None:
    assert custom_rubric("Part A\n---\nPart B").definition == "Part A\n---\nPart B"


def test_a_custom_rubric_has_up_to_4000_characters() -> None:
    assert len(custom_rubric("é" * 4_000).definition) == 4_000
    with pytest.raises(RubricInvalid, match="found 4,001 characters"):
        custom_rubric("é" * 4_001)


@pytest.mark.parametrize("text", ["", " \n\t", "a\0", "\ud800", None, 7])
def test_a_custom_rubric_is_sound_text(text: Any) -> None:
    with pytest.raises(RubricInvalid) as caught:
        custom_rubric(text)

    assert [fault.path for fault in caught.value.faults] == [""]
