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
    metadata: {trace_id: 0af7651916cd43dd8448eb211c80319c, span_id: b7ad6b7169203331, response_id: r-1}
    assertions: [{type: contains, value: Paris}, {type: contains, value: Rome, name: rome}]
  - name: there
    output: "=1+1"
    assertions: [{type: max_latency_ms, value: 5}]
"""


class Collector:
    """Takes OTLP over HTTP and keeps what it got; or refuses all of it."""

    def __init__(self, status: int, answer: bytes = b"") -> None:
        self.requests: list[tuple[str, bytes]] = []
        self.keys: list[str | None] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                packed = self.headers.get("Content-Encoding") == "gzip"
                outer.requests.append((self.path, gzip.decompress(body) if packed else body))
                outer.keys.append(self.headers.get("Authorization"))
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

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
    assert [one.get("gen_ai.response.id") for one in told] == ["r-1", "r-1", None]
    assert len({event.time_unix_nano for event in events}) == 1
    assert 0 < events[0].time_unix_nano <= events[0].observed_time_unix_nano


@pytest.mark.parametrize(
    ("status", "told"),
    [(400, "it answered 400. "), (401, "it answered 401; a key belongs into OTEL_EXPORTER_OTLP_HEADERS")],
)
def test_a_collector_that_refuses_is_an_error_with_its_status_and_nothing_it_says(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, status: int, told: str
) -> None:
    folder.write("recorded.yaml", SUITE)
    folder.jurat("run", "recorded.yaml")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20SECRET,")

    with Collector(status, b"SAID") as collector:
        endpoint = f"{collector.url}/v1/logs".replace("//", "//me:SECRET@")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", endpoint)
        done = folder.jurat("export", "latest", "--format", "otlp")

    assert done.code == 4
    assert f"the collector did not take the events: {told}" in done.err
    assert "SECRET" not in done.err
    assert "SAID" not in done.err


@pytest.mark.parametrize("url", ["http://me:SECRET@127.0.0.1:9/v1/logs", "http://127.0.0.1:9/v1/logs?api_key=SECRET"])
def test_a_key_in_the_address_of_the_collector_is_refused_and_not_repeated(folder: Folder, url: str) -> None:
    folder.write("recorded.yaml", SUITE)
    folder.jurat("run", "recorded.yaml")
    done = folder.jurat("export", "latest", "--format", "otlp", "--endpoint", url)
    assert done.code == 2
    assert "--endpoint: expected an address without a key" in done.err
    assert "SECRET" not in done.err


def test_a_collector_that_takes_a_part_has_not_got_the_run(folder: Folder) -> None:
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse

    folder.write("recorded.yaml", SUITE)
    folder.jurat("run", "recorded.yaml")
    answer = ExportLogsServiceResponse()
    answer.partial_success.rejected_log_records = 2
    answer.partial_success.error_message = "SAID"

    with Collector(200, answer.SerializeToString()) as collector:
        done = folder.jurat("export", "latest", "--format", "otlp", "--endpoint", collector.url)

    assert done.code == 4
    assert "did not take the events: it refused 2 of a batch. " in done.err
    assert "SAID" not in done.err


def test_a_header_that_cannot_be_read_is_told_by_its_variable_and_nothing_is_sent(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write("recorded.yaml", SUITE)
    folder.jurat("run", "recorded.yaml")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "a=b, Authorization: Bearer SECRET")

    with Collector(200) as collector:
        done = folder.jurat("export", "latest", "--format", "otlp", "--endpoint", collector.url)

    assert (done.code, collector.requests) == (2, [])
    assert "OTEL_EXPORTER_OTLP_HEADERS: expected NAME=VALUE, separated by commas" in done.err
    assert "SECRET" not in done.err


def test_where_opentelemetry_is_turned_off_nothing_is_said_to_be_sent(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write("recorded.yaml", SUITE)
    folder.jurat("run", "recorded.yaml")
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")

    with Collector(200) as collector:
        done = folder.jurat("export", "latest", "--format", "otlp", "--endpoint", collector.url)

    assert (done.code, done.out, collector.requests) == (4, "", [])
    assert "look at OpenTelemetry's variables, of which one may turn it off (OTEL_SDK_DISABLED)" in done.err


def test_more_events_than_a_batch_has_all_arrive_whatever_the_environment_says_of_batches(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = "".join(f"  - {{name: c{number}, output: a}}\n" for number in range(300))
    folder.write("many.yaml", f"suite: many\nassertions: [{{type: contains, value: a}}]\ncases:\n{cases}")
    folder.jurat("run", "many.yaml")
    monkeypatch.setenv("OTEL_BLRP_MAX_QUEUE_SIZE", "8")
    monkeypatch.setenv("OTEL_BLRP_MAX_EXPORT_BATCH_SIZE", "8")

    with Collector(200) as collector:
        done = folder.jurat("export", "latest", "--format", "otlp", "--endpoint", collector.url)
        found = {attributes(event)["jurat.case.name"] for event in collector.events()}

    assert (done.code, done.out) == (0, "sent: 300 events\n")
    assert found == {f"c{number}" for number in range(300)}


def test_headers_and_address_may_stand_in_the_environment(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write("recorded.yaml", SUITE)
    folder.jurat("run", "recorded.yaml")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20SECRET")

    with Collector(200) as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        done = folder.jurat("export", "latest", "--format", "otlp")

    assert (done.code, done.out, done.err) == (0, "sent: 3 events\n", "")
    assert collector.keys == ["Bearer SECRET"]


def test_the_certificate_of_opentelemetrys_variable_comes_before_that_of_requests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from jurat.cli._collector import session_for

    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "everybodys.pem")
    session = session_for([])
    assert session.merge_environment_settings("https://h", {}, None, None, None)["verify"] == "everybodys.pem"
    session.verify = "own.pem"
    assert session.merge_environment_settings("https://h", {}, None, None, None)["verify"] == "own.pem"


@pytest.mark.parametrize("endpoint", ["127.0.0.1:4318", "ftp://x", "", "http://", "http:// x"])
def test_what_is_no_address_is_told_before_anything_is_sent(folder: Folder, endpoint: str) -> None:
    folder.write("recorded.yaml", SUITE)
    folder.jurat("run", "recorded.yaml")

    done = folder.jurat("export", "latest", "--format", "otlp", "--endpoint", endpoint)

    assert done.code == 2
    assert "--endpoint: expected http://HOST:PORT or https://HOST:PORT, found no such address" in done.err


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


ASKED = """\
suite: asked
providers: [{name: app, kind: scripted, replies: [{text: "Say {{word}}."}]}]
prompt: "{{word}}"
subject: app
cases:
  - name: braces
    variables: {word: "say {{word}}"}
    documents: [{name: rules, text: "Be kind."}]
    expected: {a: [1, null]}
    labels: [one]
    metadata: {k: {l: 1}}
    assertions: [{type: contains, value: Say}]
"""
AGAIN = """\
suite: again
assertions: [{type: contains, value: Say}]
cases_file:
  path: data.jsonl
  columns: {name: name, variables: variables, messages: messages, documents: documents, expected: expected,
            output: output, execution: execution, labels: labels, metadata: metadata}
"""


def test_a_dataset_that_is_read_back_and_exported_again_is_the_same(folder: Folder) -> None:
    folder.write("asked.yaml", ASKED)
    folder.write("again.yaml", AGAIN)
    folder.jurat("run", "asked.yaml")
    folder.jurat("export", "latest", "--format", "dataset", "--output", "data.jsonl")
    row = json.loads(Path("data.jsonl").read_text("utf-8"))

    assert folder.jurat("run", "again.yaml").code == 0
    again = json.loads(folder.jurat("export", "latest", "--format", "dataset").out)

    assert row["rendered_input"] == "say {{word}}"
    assert row["messages"] == [{"role": "user", "content": "say {{open_braces}}word}}"}]
    assert row["variables"] == {"word": "say {{word}}", "open_braces": "{{"}
    assert row["documents"] == [{"name": "rules", "text": "Be kind."}]
    of_case = ("name", "variables", "messages", "documents", "expected", "output", "execution", "labels", "metadata")
    assert {key: again[key] for key in of_case} == {key: row[key] for key in of_case}
