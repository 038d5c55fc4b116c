"""The built-in rubrics: which there are, how they are found, and what each must offer."""

from __future__ import annotations

import pytest

from jurat.errors import RubricInvalid
from jurat.rubric import Rubric, catalog, find, names
from jurat.vocabulary import Scope

PERCENT = ("correctness", "relevance", "faithfulness", "safety", "refusal", "pii", "hallucination")
UNIT = {
    "answer_relevance": Scope.CASE,
    "groundedness": Scope.CASE,
    "instruction_adherence": Scope.TURN,
    "goal_adherence": Scope.SESSION,
    "toxicity": Scope.CASE,
    "vulgarity": Scope.CASE,
    "internet_use_appropriateness": Scope.TURN,
}
every = pytest.mark.parametrize("rubric", catalog(), ids=lambda rubric: rubric.name)


def test_the_catalog_holds_the_two_families() -> None:
    assert names() == (*PERCENT, *UNIT)


@pytest.mark.parametrize("name", PERCENT)
def test_the_first_family_scores_0_to_100_with_threshold_80(name: str) -> None:
    rubric = find(name)

    assert (rubric.score_range, rubric.pass_threshold, rubric.scope) == ((0.0, 100.0), 80.0, Scope.CASE)
    assert [anchor.score for anchor in rubric.anchors] == [0, 50, 80, 100]


@pytest.mark.parametrize("name", UNIT)
def test_the_second_family_scores_0_to_1_with_threshold_one_half(name: str) -> None:
    rubric = find(name)

    assert (rubric.score_range, rubric.pass_threshold, rubric.scope) == ((0.0, 1.0), 0.5, UNIT[name])
    assert [(anchor.score, anchor.label) for anchor in rubric.anchors] == [
        (0, "poor"),
        (0.5, "partial"),
        (1, "excellent"),
    ]


def test_those_named_after_a_fault_say_that_they_score_its_absence() -> None:
    absence = {rubric.name for rubric in catalog() if rubric.scores_absence}

    assert absence == {"toxicity", "vulgarity", "hallucination", "pii"}
    for rubric in catalog():
        assert rubric.definition.startswith("The absence of") == rubric.scores_absence
        assert rubric.purpose.endswith("High is clean.") == rubric.scores_absence


@every
def test_every_criterion_spans_the_whole_range(rubric: Rubric) -> None:
    assert {(one.min, one.max) for one in rubric.criteria} == {rubric.score_range}
    assert len(rubric.criteria) >= 2


@every
def test_texts_are_short_enough_for_a_small_judge(rubric: Rubric) -> None:
    assert len(rubric.definition) <= 600
    assert max(len(one.description) for one in rubric.criteria) <= 200
    assert max(len(one.description) for one in rubric.anchors) <= 150
    assert len(rubric.purpose) <= 100


@every
def test_every_entry_says_what_it_is_for_and_which_evidence_it_needs(rubric: Rubric) -> None:
    assert rubric.purpose
    assert "output" in rubric.needs


@every
def test_every_entry_is_found_by_name_and_by_revision(rubric: Rubric) -> None:
    assert find(rubric.reference) is rubric
    assert find(rubric.name).name == rubric.name


def test_a_name_alone_means_the_newest_revision() -> None:
    for name in names():
        assert find(name) is [rubric for rubric in catalog() if rubric.name == name][-1]


def test_hashes_tell_all_entries_apart() -> None:
    assert len({rubric.content_hash for rubric in catalog()}) == len(catalog())


def test_an_unknown_name_is_told_the_nearest_and_all_there_are() -> None:
    with pytest.raises(RubricInvalid) as caught:
        find("faithfullness")

    (fault,) = caught.value.faults
    assert fault.found == "the name 'faithfullness'"
    assert fault.hint == "Did you mean faithfulness?"
    assert all(name in fault.expected for name in names())


def test_an_unknown_revision_is_told_the_revisions_there_are() -> None:
    with pytest.raises(RubricInvalid, match=r"a revision of pii: v1, found the revision 'v9'\. Did you mean pii@v1"):
        find("pii@v9")


@pytest.mark.parametrize("reference", ["", "@", "@v1", "pii@", "pii@v1@v1", "PII", " pii", "x" * 10_000])
def test_nothing_but_an_exact_reference_is_found(reference: str) -> None:
    with pytest.raises(RubricInvalid) as caught:
        find(reference)

    assert len(str(caught.value)) < 500
