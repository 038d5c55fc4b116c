"""A key that is sent is in no file, no report, no log and no traceback, however loudly servers repeat it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from loopback import Answer, answer, serving_elsewhere

KEY = "planted-Zx81-0123456789-abcdef"
LOUD = f"Incorrect API key provided: {KEY}. Header was Authorization: Bearer {KEY}"

PROGRAM = """\
import logging, sys
logging.basicConfig(level=logging.DEBUG, filename="debug.log")
from jurat.cli import main
try:
    main()
finally:
    key = __import__("os").environ["JUDGE_KEY"]
    logging.getLogger("aiohttp.client").debug("sent %s", {"Authorization": key})
"""

CALM = "from jurat.cli import main; main()"

CRASH = """\
import asyncio, logging
logging.basicConfig(level=logging.DEBUG)
from jurat.provider import HttpProvider, ProviderSettings
from jurat.provider.protocol import ChatMessage, Frame, ModelRequest

class Broken:
    async def post(self, url, headers, body):
        raise LookupError("a fault in the transport")
    async def aclose(self): ...

settings = ProviderSettings(
    name="p", kind="openai_compatible", model="m", endpoint="http://127.0.0.1:9/v1", api_key_env="JUDGE_KEY"
)
provider = HttpProvider(settings, transport=Broken())
call = provider.prepare(ModelRequest(frame=Frame(messages=(ChatMessage(role="system", content="x"),)), user="y"))
asyncio.run(provider.send(call), debug=True)
"""


def program(folder: Path, code: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("JURAT_")}
    environment |= {"JUDGE_KEY": KEY, "PYTHONASYNCIODEBUG": "1"}
    command = [sys.executable, "-X", "dev", "-c", code, *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)


def suite(url: str) -> str:
    row = {"kind": "openai_compatible", "base_url": url, "model": "m", "api_key_env": "JUDGE_KEY", "max_attempts": 2}
    return json.dumps(
        {
            "schema_version": 1,
            "suite": "loud",
            "providers": [{**row, "name": "answerer"}, {**row, "name": "judge"}],
            "prompt": "Capital of {{country}}?",
            "subject": "answerer",
            "assertions": [{"type": "rubric_judge", "template": "correctness", "provider": "judge"}],
            "cases": [{"name": f"c{number}", "variables": {"country": f"land {number}"}} for number in range(8)],
        }
    )


def chat(text: str) -> Answer:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return answer({"object": "chat.completion", "model": "m", "choices": [choice]}, x_request_id=KEY)


LOUD_ANSWERS = [
    chat("Paris"),
    answer({"error": {"message": LOUD, "type": KEY, "code": KEY, "param": KEY}}, 400),
    answer({"error": {"message": LOUD}}, 500, retry_after_ms="0"),
    answer({"error": {"message": LOUD}}, 403),
    Answer(status=502, headers={"Content-Type": "text/html", "Retry-After": "0"}, body=LOUD.encode()),
    Answer(status=301, headers={"Location": f"http://127.0.0.1:9/?key={KEY}"}, body=b""),
    Answer(body=LOUD.encode()),
    answer({"error": LOUD}),
    chat("Rome"),
]


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_planted_key_is_in_nothing_that_a_run_leaves(tmp_path: Path, form: str) -> None:
    with serving_elsewhere(*LOUD_ANSWERS) as server:
        (tmp_path / "suite.json").write_text(suite(server.url))
        done = program(
            tmp_path, PROGRAM, "run", "suite.json", "--format", form, "--output", "report.txt", "--include-output",
            "--fail-on", "never",
        )  # fmt: skip
        sent = [request.headers["authorization"] for request in server.requests]
    assert done.returncode == 0, done.stderr.decode()
    assert f"Bearer {KEY}" in sent
    left = {"stdout": done.stdout, "stderr": done.stderr}
    log = (tmp_path / "debug.log").read_bytes()
    assert b"sent {'Authorization': '***'}" in log
    left["log"] = log
    (tmp_path / "debug.log").unlink()
    for words in (("export", "latest", "--format", "json", "--include-output"), ("show", "latest"), ("runs",)):
        told = program(tmp_path, CALM, *words)
        left["out " + words[0]], left["err " + words[0]] = told.stdout, told.stderr
    left |= {str(file.relative_to(tmp_path)): file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    assert {"log", "report.txt", str(Path(".jurat/jurat.db"))} <= set(left)
    assert [name for name, data in left.items() if KEY.encode() in data] == []


def test_a_planted_key_is_in_no_traceback_of_a_crash(tmp_path: Path) -> None:
    done = program(tmp_path, CRASH)
    assert done.returncode == 1
    assert b"LookupError: a fault in the transport" in done.stderr
    assert KEY.encode() not in done.stdout + done.stderr
