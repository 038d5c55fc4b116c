"""From what a suite says of its subject to the subject, or every fault at once."""

from __future__ import annotations

from pathlib import Path

from jurat.evaluation.subject import Subject
from jurat.provider.hosts import HostTrust
from jurat.provider.protocol import Provider
from jurat.subject.model import ProviderSubject
from jurat.suite.suite import SubjectKind, SubjectSpec

__all__ = ["make_subject"]


def make_subject(
    spec: SubjectSpec,
    *,
    provider: Provider | None = None,
    base_dir: Path | None = None,
    trust: HostTrust | None = None,
) -> Subject | None:
    """The subject that a suite names; None where every case brings its own output.

    Args:
        spec: as the suite has it.
        provider: of a `provider` subject: the one that it names.
        base_dir: the suite's folder, where modules of `python` subjects are found too.
        trust: the hosts that an `http` subject may be at; None: any.

    Raises:
        AuthoringError: with every fault of the settings.
    """
    if spec.kind is SubjectKind.PROVIDER:
        if provider is None:
            raise ValueError("a provider subject needs its provider")
        settings = spec.settings
        return ProviderSubject(
            provider,
            temperature=settings.get("temperature"),
            max_output_tokens=settings.get("max_output_tokens"),
            extra=settings.get("extra"),
        )
    if spec.kind is SubjectKind.PYTHON:
        from jurat.subject.function import PythonSubject

        return PythonSubject.named(
            str(spec.settings["function"]), timeout_s=spec.settings.get("timeout_s"), base_dir=base_dir
        )
    if spec.kind is SubjectKind.HTTP:
        from jurat.subject.server import HttpSubject

        return HttpSubject.from_settings(spec.settings, trust)
    return None
