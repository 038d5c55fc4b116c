"""The workbench of single evaluations: the command line's providers come first; replies are recorded or replayed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from jurat.errors import AuthoringError, Fault
from jurat.jsontext import Json
from jurat.provider import Provider, RecordingProvider, ReplayProvider
from jurat.provider.recording import read_recording
from jurat.provider.replay import head_of
from jurat.suiterun.recordings import recording_path
from jurat.workbench import Workbench

if TYPE_CHECKING:
    from jurat.pytest_plugin.options import Options

__all__ = ["bench_of"]


def bench_of(options: Options, providers: Mapping[str, Provider | Mapping[str, Json] | str] | None = None) -> Workbench:
    """A workbench for single evaluations.

    Args:
        providers: those that a test names, by name; the command line's come before them.
    """
    record, replay = options.recordings(None)

    def through(name: str, make: Callable[[], Provider]) -> Provider:
        if replay is not None:
            return ReplayProvider(recording_path(Path(replay), name), name=name)
        return make() if record is None else _recorded(make(), recording_path(Path(record), name))

    given = {**(providers or {}), **options.providers}
    return Workbench(options.directory, providers=given, through=through)


def _recorded(provider: Provider, path: Path) -> Provider:
    """The provider, its replies kept beside those that the recording holds already."""
    if path.exists() and not read_recording(path).is_of(head_of(provider.settings)):
        name = provider.settings.name
        hint = "Record into another folder, or take the old recording away"
        expected = f"for --jurat-record, a recording of the same {name} in {path}, to add to"
        raise AuthoringError("recordings", [Fault(path="", expected=expected, found="another", hint=hint)])
    return RecordingProvider(provider, path)
