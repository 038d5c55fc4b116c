"""A run's verdicts as events over OTLP: `gen_ai.evaluation.result`, one for each assertion on each trial.

Where a case says from which span it was recorded (`trace_id` and `span_id` in its metadata), its events belong to that
span; where it says which response was judged (`response_id`), they name that. What could not be delivered is an error:
a collector that refuses a batch, or a part of one, has not got the run. OpenTelemetry's SDK comes with the extra
`otel`, and reads its own variables for headers, certificates and time limits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from jurat.cli._collector import PARTLY, address_of, quiet, refuse_unreadable_headers, session_for
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
        "gen_ai.response.id": _text(case.metadata.get("response_id")),
        "error.type": error,
        "jurat.run.id": run.id,
        "jurat.suite.name": run.suite,
        "jurat.case.name": case.name,
        "jurat.trial.index": trial.trial_index,
        "jurat.assertion.type": one.type,
        "jurat.threshold": metadata.get("threshold"),
    }
    return {key: part for key, part in made.items() if part is not None}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


@dataclass(slots=True)
class _Delivery:
    """How many events arrived, and why others did not."""

    taken: int = 0
    why: str = "look at OpenTelemetry's variables, of which one may turn it off (OTEL_SDK_DISABLED)"


class Events:
    """Sends events in batches, and knows whether all of them arrived."""

    def __init__(self, provider: Any, delivery: _Delivery) -> None:
        self._provider, self._logger = provider, provider.get_logger("jurat")
        self._delivery = delivery
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
                    timestamp=_nanoseconds(run.finished_at or run.created_at),
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
        if not (self._provider.force_flush() and self._delivery.taken == self.count):
            what = f"the collector did not take the events: {self._delivery.why}"
            raise StoreError(f"{what}. Nothing of the run is lost: export it again")


def _nanoseconds(time: str) -> int:
    """A time of the record in nanoseconds since 1970: when the verdict was there, and not when it is sent."""
    return int(datetime.fromisoformat(time).timestamp()) * 1_000_000_000


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
        endpoint: the collector's address (`address_of`). None: what the variables `OTEL_EXPORTER_OTLP_…` say.

    Raises:
        AuthoringError: when the extra is not installed, and for what is no address or no header.
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
    refuse_unreadable_headers()
    address = address_of(endpoint)
    delivery = _Delivery()
    reasons: list[str] = []
    with quiet():
        exporter = OTLPLogExporter(address, session=session_for(reasons))
        provider = LoggerProvider(Resource.create({"service.name": "jurat"}), shutdown_on_exit=False)
        watched = _watched(exporter, delivery, reasons)
        provider.add_log_record_processor(
            BatchLogRecordProcessor(watched, max_queue_size=2 * _BATCH, max_export_batch_size=_BATCH)
        )
        try:
            events = Events(provider, delivery)
            yield events
            events.settle()
        finally:
            provider.shutdown()


def _watched(exporter: Any, delivery: _Delivery, reasons: list[str]) -> LogRecordExporter:
    """The exporter, whose every result is remembered: the SDK itself only logs them.

    Args:
        reasons: gets why something was not taken; of a batch that arrived after all, they are none.
    """
    from opentelemetry.sdk._logs.export import LogRecordExporter, LogRecordExportResult

    class Watched(LogRecordExporter):
        def export(self, batch: Any) -> Any:
            reasons.clear()
            result = exporter.export(batch)
            if result is LogRecordExportResult.SUCCESS and not any(one.startswith(PARTLY) for one in reasons[-1:]):
                delivery.taken += len(batch)
            else:
                delivery.why = reasons[-1] if reasons else "look whether it is there and takes OTLP over HTTP"
            return result

        def force_flush(self, timeout_millis: int = 10_000) -> bool:
            return bool(exporter.force_flush(timeout_millis))

        def shutdown(self) -> None:
            exporter.shutdown()

    return Watched()
