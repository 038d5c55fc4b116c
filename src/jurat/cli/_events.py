"""A run's verdicts as events over OTLP: `gen_ai.evaluation.result`, one for each assertion on each trial.

Where a case says from which span it was recorded (`trace_id` and `span_id` in its metadata), its events belong to that
span. What could not be delivered is an error: a collector that refuses a batch has not got the run. OpenTelemetry's
SDK comes with the extra `otel`, and reads its own variables for headers, certificates and time limits.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from jurat.errors import AuthoringError, Fault, StoreError
from jurat.report.record import AssessmentRecord, CaseRecord, RunRecord, TrialRecord

if TYPE_CHECKING:
    from opentelemetry.sdk._logs.export import LogRecordExporter

__all__ = ["EVENT", "Events", "attributes_of", "sending"]

EVENT = "gen_ai.evaluation.result"
_BATCH = 256
_EXPLANATION = 4_000


def attributes_of(
    run: RunRecord, case: CaseRecord, trial: TrialRecord, one: AssessmentRecord
) -> dict[str, str | int | float]:
    """The attributes of one verdict's event, by the GenAI conventions and, for what they do not name, under `jurat.`"""
    metadata, evaluator = one.result.get("metadata", {}), one.result.get("evaluator", {})
    error = (evaluator.get("error") or {}).get("type")
    reason = one.result.get("reason")
    made: dict[str, Any] = {
        "gen_ai.evaluation.name": one.name,
        "gen_ai.evaluation.score.value": one.score,
        "gen_ai.evaluation.score.label": one.status.value,
        "gen_ai.evaluation.explanation": reason[:_EXPLANATION] if isinstance(reason, str) else None,
        "error.type": error,
        "jurat.run.id": run.id,
        "jurat.suite.name": run.suite,
        "jurat.case.name": case.name,
        "jurat.trial.index": trial.trial_index,
        "jurat.assertion.type": one.type,
        "jurat.threshold": metadata.get("threshold"),
    }
    return {key: part for key, part in made.items() if part is not None}


class Events:
    """Sends events in batches, and remembers whether all of them arrived."""

    def __init__(self, provider: Any, delivered: list[bool]) -> None:
        self._provider, self._logger, self._delivered = provider, provider.get_logger("jurat"), delivered
        self.count = 0

    def send(self, run: RunRecord, case: CaseRecord, trials: Sequence[TrialRecord]) -> None:
        """The events of one case.

        Raises:
            StoreError: when the collector did not take them.
        """
        from opentelemetry._logs import LogRecord, SeverityNumber

        context = _span_of(case.metadata)
        for trial in trials:
            for one in trial.assessments:
                record = LogRecord(
                    context=context,
                    severity_number=SeverityNumber.INFO,
                    event_name=EVENT,
                    attributes=attributes_of(run, case, trial, one),
                )
                self._logger.emit(record)
                self.count += 1
                if self.count % _BATCH == 0:
                    self.settle()

    def settle(self) -> None:
        """Wait until what was sent has arrived.

        Raises:
            StoreError: when it did not.
        """
        if not (self._provider.force_flush() and all(self._delivered)):
            what = "the collector did not take the events; look whether it is there and takes OTLP over HTTP"
            raise StoreError(f"{what}. Nothing of the run is lost: export it again")


_TRACE, _SPAN = re.compile(r"[0-9a-f]{32}"), re.compile(r"[0-9a-f]{16}")


def _span_of(metadata: Mapping[str, Any]) -> Any:
    """The context of the span from which a case was recorded, or None."""
    trace_id, span_id = metadata.get("trace_id"), metadata.get("span_id")
    if not (isinstance(trace_id, str) and isinstance(span_id, str)):
        return None
    if not (_TRACE.fullmatch(trace_id) and _SPAN.fullmatch(span_id)):
        return None
    from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

    flags = TraceFlags(TraceFlags.SAMPLED)
    return set_span_in_context(NonRecordingSpan(SpanContext(int(trace_id, 16), int(span_id, 16), True, flags)))


@contextmanager
def sending(endpoint: str | None) -> Iterator[Events]:
    """Events to a collector, all of them delivered at the end.

    Args:
        endpoint: the collector's address; `/v1/logs` is added where it has no path. None: what the variables
            `OTEL_EXPORTER_OTLP_…` say.

    Raises:
        AuthoringError: when the extra is not installed.
        StoreError: when the collector did not take them.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
        from opentelemetry.sdk._logs import LoggerProvider
        from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
        from opentelemetry.sdk.resources import Resource
    except ImportError:
        hint = "Install it: pip install 'jurat[otel]'"
        fault = Fault(path="--format", expected="OpenTelemetry's SDK for otlp", found="none", hint=hint)
        raise AuthoringError("jurat export", [fault]) from None
    delivered: list[bool] = []
    provider = LoggerProvider(Resource.create({"service.name": "jurat"}), shutdown_on_exit=False)
    provider.add_log_record_processor(BatchLogRecordProcessor(_watched(OTLPLogExporter(_address(endpoint)), delivered)))
    with _quiet():
        try:
            events = Events(provider, delivered)
            yield events
            events.settle()
        finally:
            provider.shutdown()


def _address(endpoint: str | None) -> str | None:
    if endpoint is None or re.match(r"https?://[^/]+/.", endpoint):
        return endpoint
    return endpoint.rstrip("/") + "/v1/logs"


def _watched(exporter: Any, delivered: list[bool]) -> LogRecordExporter:
    """The exporter, whose every result is remembered: the SDK itself only logs them."""
    from opentelemetry.sdk._logs.export import LogRecordExporter, LogRecordExportResult

    class Watched(LogRecordExporter):
        def export(self, batch: Any) -> Any:
            result = exporter.export(batch)
            delivered.append(result is LogRecordExportResult.SUCCESS)
            return result

        def force_flush(self, timeout_millis: int = 10_000) -> bool:
            return bool(exporter.force_flush(timeout_millis))

        def shutdown(self) -> None:
            exporter.shutdown()

    return Watched()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the SDK's own log lines, which repeat what a collector answers, off standard error."""
    logger = logging.getLogger("opentelemetry")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)
