"""`jurat export --format otlp`: verdicts as events to a collector, here a real one on loopback."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from suitefolder import Folder

SUITE = """\
suite: recorded
cases:
  - name: here
    output: Paris
    metadata: {trace_id: 0af7651916cd43dd8448eb211c80319c, span_id: b7ad6b7169203331}
    assertions: [{type: contains, value: Paris}, {type: contains, value: Rome, name: rome}]
  - name: there
    output: "=1+1"
    assertions: [{type: max_latency_ms, value: 5}]
"""


class Collector:
    """Takes OTLP over HTTP and keeps what it got; or refuses all of it."""

    def __init__(self, status: int) -> None:
        self.requests: list[tuple[str, bytes]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                packed = self.headers.get("Content-Encoding") == "gzip"
                outer.requests.append((self.path, gzip.decompress(body) if packed else body))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Nothing is told."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Collector:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def events(self) -> list[Any]:
        from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

        found = []
        for _, body in self.requests:
            for resource in ExportLogsServiceRequest.FromString(body).resource_logs:
                found += [record for scope in resource.scope_logs for record in scope.log_records]
        return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    yield from Folder.entered(tmp_path, monkeypatch)


def attributes(record: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in record.attributes}


def test_each_verdict_arrives_as_an_event_at_the_span_of_its_case(folder: Folder) -> None:
    folder.write("recorded.yaml", SUITE)
    folder.jurat("run", "recorded.yaml")

    with Collector(200) as collector:
        done = folder.jurat("export", "latest", "--format", "otlp", "--endpoint", collector.url)
        events = collector.events()

    assert (done.code, done.out) == (0, "sent: 3 events\n")
    assert {path for path, _ in collector.requests} == {"/v1/logs"}
    assert [event.event_name for event in events] == ["gen_ai.evaluation.result"] * 3
    told = [attributes(event) for event in events]
    assert [one["gen_ai.evaluation.name"] for one in told] == ["contains", "rome", "max_latency_ms"]
    assert [one["gen_ai.evaluation.score.label"] for one in told] == ["pass", "fail", "unverified"]
    assert [one.get("gen_ai.evaluation.score.value") for one in told] == [100.0, 0.0, None]
    assert [one["jurat.case.name"] for one in told] == ["here", "here", "there"]
    assert [event.trace_id.hex() for event in events] == ["0af7651916cd43dd8448eb211c80319c"] * 2 + [""]
    assert [event.span_id.hex() for event in events] == ["b7ad6b7169203331"] * 2 + [""]


def test_a_collector_that_refuses_is_an_error(folder: Folder) -> None:
    folder.write("recorded.yaml", SUITE)
    folder.jurat("run", "recorded.yaml")

    with Collector(400) as collector:
        done = folder.jurat("export", "latest", "--format", "otlp", "--endpoint", f"{collector.url}/v1/logs")

    assert done.code == 4
    assert "the collector did not take the events" in done.err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--format", "otlp", "--output", "x"], "--output: expected no file with otlp"),
        (["--format", "csv", "--endpoint", "http://127.0.0.1:1"], "--endpoint: expected --format otlp"),
    ],
)
def test_a_file_for_events_and_a_collector_for_a_table_are_refused(
    folder: Folder, options: list[str], told: str
) -> None:
    done = folder.jurat("export", "latest", *options)

    assert done.code == 2
    assert told in done.err


def test_a_dataset_has_what_was_asked_and_answered_with_every_verdict_and_is_read_back(folder: Folder) -> None:
    folder.write("recorded.yaml", SUITE)
    folder.jurat("run", "recorded.yaml")

    done = folder.jurat("export", "latest", "--format", "dataset", "--output", "data.jsonl")

    assert done.code == 0
    rows = [json.loads(line) for line in Path("data.jsonl").read_text("utf-8").splitlines()]
    assert [(row["name"], row["output"], row["status"], row["trial"]) for row in rows] == [
        ("here", "Paris", "fail", 0),
        ("there", "=1+1", "unverified", 0),
    ]
    assert [(one["assertion"], one["status"]) for one in rows[0]["verdicts"]] == [
        ("contains", "pass"),
        ("rome", "fail"),
    ]
    folder.write(
        "again.yaml",
        "suite: again\nassertions: [{type: contains, value: '1'}]\n"
        "cases_file: {path: data.jsonl, columns: {name: name, output: output, metadata: metadata}}\n",
    )
    assert folder.jurat("suite", "validate", "again.yaml").out == (
        "again.yaml: again, 2 cases, 2 assertions, subject recorded outputs\n"
    )
