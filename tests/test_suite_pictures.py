"""Pictures and attached documents of a suite: read and checked before anything is spent, shown, and never recorded."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

import jurat
from jurat.errors import AuthoringError
from jurat.report.run_schema import report_schema
from jurat.suite.codec import case_from_json, case_hash, case_to_json
from jurat.suitefiles import load_suite
from papers import jpeg, pdf, png
from suitefolder import Folder

CAT = png(40, 30)
CAT_TEXT = base64.b64encode(CAT).decode()
HASH = hashlib.sha256(CAT).hexdigest()
SUITE = """\
suite: pictures
providers:
  - name: eyes
    kind: scripted
    order: by_request
    call_log: calls.txt
    replies:
      - {match: "Is this ", text: "A cat."}
      - {text: "I see nothing."}
  - name: judge
    kind: scripted
    replies:
      - json: {evidence: [{message_index: 0, quote: "the picture itself is not shown"}], reason: "Well.", score: 95}
    cycle: true
subject: eyes
assertions:
  - {type: contains, value: cat}
cases:
"""
BY_PATH = """\
  - name: cat
    messages:
      - role: user
        content:
          - {type: text, text: "Is this "}
          - {type: image, path: pictures/cat.png}
          - {type: text, text: " a {{animal}}?"}
    variables: {animal: cat}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    for made in Folder.entered(tmp_path, monkeypatch):
        (tmp_path / "pictures").mkdir()
        (tmp_path / "pictures" / "cat.png").write_bytes(CAT)
        (tmp_path / "report.pdf").write_bytes(pdf(["Returns within 30 days"]))
        yield made


def faults_of(folder: Folder, cases: str, head: str = SUITE) -> str:
    folder.write("suite.yaml", head + cases)
    done = folder.jurat("suite", "validate", "suite.yaml")
    assert done.code == 2
    return done.err


def image(told: str) -> str:
    return f"  - {{name: a, messages: [{{role: user, content: [{{type: image, {told}}}]}}]}}\n"


# --- Read and checked ------------------------------------------------------------------------------------------------


def test_a_picture_is_read_with_its_kind_hash_and_size(folder: Folder) -> None:
    folder.write("suite.yaml", SUITE + BY_PATH)
    (block,) = (block for _, block in load_suite(Path("suite.yaml")).suite.cases[0].messages[0].pictures())
    assert (block.media_type, block.sha256, block.size_bytes, block.data) == ("image/png", HASH, len(CAT), CAT)


def test_a_file_that_many_cases_show_is_read_once_and_its_fault_told_once(folder: Folder) -> None:
    folder.write("suite.yaml", SUITE + BY_PATH + BY_PATH.replace("name: cat", "name: again"))
    cases = load_suite(Path("suite.yaml")).suite.cases
    first, second = (next(case.messages[0].pictures())[1].data for case in cases)
    assert first is second
    both = BY_PATH + BY_PATH.replace("name: cat", "name: again")
    assert faults_of(folder, both.replace("cat.png", "dog.png")).count("pictures/dog.png") == 1


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (
            "path: pictures/dog.png",
            "suite.yaml:19: cases[0].messages[0].content[0].path: expected a file of the suite's",
        ),
        ("path: pictures/dog.png", "found 'pictures/dog.png', which is not there"),
        ("path: pictures/catt.png", "Did you mean pictures/cat.png?"),
        ("path: ../cat.png", "expected a path inside of the suite's folder"),
        ("path: 'https://x.example/cat.png'", "an address. Nothing is fetched; keep a copy in the folder"),
        (
            "path: report.pdf",
            "content[0].path: expected a picture: PNG, JPEG, GIF or WebP, found something else (report",
        ),
        ("path: pictures/cat.png, media_type: image/gif", "expected GIF, as the media type says, found PNG (pictures/"),
        ("path: pictures/wrong.jpg", "expected JPEG, as the ending says, found PNG (pictures/wrong.jpg)"),
        ("path: pictures/cut.png", "content[0].path: expected a PNG, found one that is cut off (pictures/cut.png)"),
        ("path: pictures/large.png", "expected a file of at most 10 MiB, found 'pictures/large.png', which is larger"),
        (
            f"path: pictures/cat.png, sha256: '{'0' * 64}'",
            "expected the picture whose hash was recorded, 0000000000000000…",
        ),
        (
            "data: cat.png",
            "cases[0].messages[0].content[0].data: expected a picture in base64, found other text. A file",
        ),
        (f"data: {CAT_TEXT[:40]}", "content[0].data: expected a PNG, found one that is cut off"),
        (f"data: {CAT_TEXT}, path: pictures/cat.png", "content[0]: expected a picture by its path"),
        ("pfad: pictures/cat.png", "content[0].pfad: expected one of type, path, data, media_type"),
        (f"sha256: '{HASH}'", "content[0]: expected a picture to show, found only what was recorded of it"),
    ],
)
def test_what_cannot_be_shown_is_told_with_file_line_and_path(folder: Folder, told: str, expected: str) -> None:
    (folder.path / "pictures" / "wrong.jpg").write_bytes(CAT)
    (folder.path / "pictures" / "cut.png").write_bytes(CAT[:-3])
    (folder.path / "pictures" / "large.png").write_bytes(CAT + bytes(10 * 2**20))
    assert expected in faults_of(folder, image(told))


def test_a_model_that_takes_no_pictures_is_told_before_anything_is_asked(folder: Folder) -> None:
    head = SUITE.replace("call_log: calls.txt", "call_log: calls.txt\n    capabilities: {images: false}", 1)
    told = faults_of(folder, BY_PATH, head)
    assert "suite.yaml:20: cases[0]: expected a conversation that can be sent" in told
    assert "model scripted takes no images, and the request holds 1" in told
    assert folder.jurat("run", "suite.yaml").code == 2
    assert folder.calls == []


def test_a_fault_in_the_prompts_own_turns_is_told_at_the_case_that_they_make(folder: Folder) -> None:
    head = SUITE.replace("subject: eyes", "prompt: {messages: [{role: user, content: Hm?}]}\nsubject: eyes")
    told = faults_of(
        folder, "  - {name: a, messages: [{role: assistant, content: [{type: tool_call, name: n}]}]}\n", head
    )
    assert "cases[0].messages: expected the results of the tools that were called (n), found the end" in told
    told = faults_of(folder, "  - {name: a, messages: [{role: tool, content: x}]}\n", head)
    assert "suite.yaml:20: cases[0].messages[0]: expected the result of a call right before it" in told


def test_a_picture_may_stand_in_the_prompts_turns_and_in_a_table_of_cases(folder: Folder) -> None:
    turns = "[{role: user, content: [{type: image, path: pictures/cat.png}]}, {role: assistant, content: Yes.}]"
    prompt = f"prompt: {{text: 'Is this {{{{animal}}}}?', messages: {turns}}}"
    head = SUITE.replace("subject: eyes", f"{prompt}\nsubject: eyes\ncases_file: cases.jsonl").replace("cases:\n", "")
    talk = [{"role": "user", "content": [{"type": "image", "path": "pictures/cat.png"}, {"type": "text", "text": "?"}]}]
    row = {"name": "a", "variables": {"animal": "a cat"}, "messages": talk}
    folder.write("cases.jsonl", json.dumps(row) + "\n")
    folder.write("suite.yaml", head)
    assert folder.jurat("run", "suite.yaml").code == 0
    (folder.path / "pictures" / "cat.png").unlink()
    told = folder.jurat("suite", "validate", "suite.yaml").err
    assert "suite.yaml:17: prompt.messages[0].content[0].path: expected a file of the suite's folder" in told or (
        "cases.jsonl:1: cases[0].messages[0].content[0].path" in told
    )


TABLE = """\
prompt:
  messages:
    - role: user
      content:
        - {type: text, text: "Is this "}
        - {type: image, path: "pictures/{{file}}"}
        - {type: text, text: "{{question}}"}
cases_file: cases.csv
"""


def table(folder: Folder, *rows: str) -> None:
    folder.write("suite.yaml", SUITE.replace("subject: eyes", f"subject: eyes\n{TABLE}").replace("\ncases:\n", "\n"))
    folder.write("cases.csv", "name,file,question\n" + "".join(f"{row}\n" for row in rows))


def test_each_row_of_a_table_shows_the_picture_that_it_names(folder: Folder) -> None:
    (folder.path / "pictures" / "dog.png").write_bytes(png(9, 9))
    table(folder, "a,cat.png,a cat?", "b,dog.png,a dog?")
    assert folder.jurat("run", "suite.yaml").code == 0
    assert len(set(folder.calls)) == 2
    first, second = load_suite(Path("suite.yaml")).suite.cases
    assert [picture.sha256 for picture in first.pictures] == [HASH]
    assert case_hash(first) != case_hash(second)
    assert case_from_json(case_to_json(first)) == first

    shown = jurat.run_suite("suite.yaml", filter="a", store="s.db").cases()[0]["trials"][0]["subject"]["messages"]
    assert shown[0]["content"][1]["path"] == "pictures/cat.png"
    assert shown[0]["content"][1]["sha256"] == HASH


def test_a_row_that_names_no_picture_is_told_with_its_line(folder: Folder) -> None:
    table(folder, "a,cat.png,a cat?", "b,dgo.png,a dog?")
    told = folder.jurat("suite", "validate", "suite.yaml")
    assert told.code == 2
    assert (
        "cases.csv:3: cases[1].variables: expected a file of the suite's folder, found 'pictures/dgo.png'" in told.err
    )
    assert "1 fault" in told.err
    folder.write("cases.csv", "name,question\na,a cat?\n")
    told = folder.jurat("suite", "validate", "suite.yaml")
    assert "cases.csv:2: variables: expected a value for {{file}} of the prompt" in told.err
    assert "1 fault" in told.err


def test_a_run_of_a_table_is_resumed_with_the_pictures_that_it_was_begun_with(folder: Folder) -> None:
    table(folder, "a,cat.png,a cat?")
    suite = (folder.path / "suite.yaml").read_text()
    folder.write(
        "suite.yaml", suite.replace('- {match: "Is this ", text: "A cat."}', '- {match: "Is", error: timeout}')
    )
    assert folder.jurat("run", "suite.yaml").code == 3
    (folder.path / "suite.yaml").unlink()
    (folder.path / "cases.csv").unlink()
    name = run_name(folder)
    assert folder.jurat("resume", name, "--retry-errors").code == 3
    assert len(folder.calls) == 2
    assert len(set(folder.calls)) == 1
    (folder.path / "pictures" / "cat.png").write_bytes(png(40, 31))
    assert "expected the picture whose hash was recorded" in folder.jurat("resume", name, "--retry-errors").err


def test_a_placeholder_in_the_path_of_a_cases_own_picture_is_filled(folder: Folder) -> None:
    cases = BY_PATH.replace("pictures/cat.png", '"pictures/{{animal}}.png"')
    folder.write("suite.yaml", SUITE + cases)
    assert folder.jurat("run", "suite.yaml").code == 0
    told = faults_of(folder, cases.replace("{{animal}}.png", "{{anmal}}.png"))
    assert "expected a value for {{anmal}} of the messages, found no variable of that name. The variable animal" in told


# --- Attached documents ----------------------------------------------------------------------------------------------

ATTACHED = """\
  - name: a
    messages: [{role: user, content: "Is this a cat?"}]
    documents: [{path: report.pdf, attach: true}, {path: pictures/cat.png, attach: true, name: cat}]
"""


def asked_of(folder: Folder, cases: str) -> list[dict[str, Any]]:
    """The messages that a model of one's own is sent."""
    folder.write(
        "eyes.py",
        "import json, pathlib\n\n\ndef see(messages):\n"
        "    pathlib.Path('seen.json').write_text(json.dumps(messages))\n    return 'A cat.'\n",
    )
    provider = "  - {name: seer, kind: python, function: 'eyes:see', capabilities: {images: true, documents: true}}\n"
    folder.write(
        "suite.yaml",
        SUITE.replace("providers:\n", f"providers:\n{provider}").replace("subject: eyes", "subject: seer") + cases,
    )
    done = folder.jurat("run", "suite.yaml")
    assert done.code == 0, done.out + done.err
    seen: list[dict[str, Any]] = json.loads(Path("seen.json").read_text())
    return seen


def test_attached_documents_are_shown_before_the_question_as_they_are(folder: Folder) -> None:
    report = base64.b64encode((folder.path / "report.pdf").read_bytes()).decode()
    file = {"filename": "report.pdf", "file_data": f"data:application/pdf;base64,{report}"}
    assert asked_of(folder, ATTACHED) == [
        {
            "role": "user",
            "content": [
                {"type": "file", "file": file},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{CAT_TEXT}"}},
                {"type": "text", "text": "Is this a cat?"},
            ],
        }
    ]


def test_documents_that_are_not_attached_are_not_sent_to_a_model(folder: Folder) -> None:
    assert asked_of(folder, ATTACHED.replace(", attach: true", "")) == [{"role": "user", "content": "Is this a cat?"}]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (
            "{path: note.md, attach: true}",
            "documents[0].attach: expected a PDF, PNG or JPEG, which a model can be shown",
        ),
        ("{text: Hello, attach: true}", "documents[0].attach: expected a PDF, PNG or JPEG, which a model can be shown"),
        ("{path: report.pdf, attach: yes}", "documents[0].attach: expected true or false"),
        ("{path: gone.pdf, attach: true}", "documents[0]: expected a file of the suite's folder"),
    ],
)
def test_what_cannot_be_attached_is_told(folder: Folder, document: str, expected: str) -> None:
    folder.write("note.md", "Hello")
    cases = f"  - {{name: a, messages: [{{role: user, content: Hm?}}], documents: [{document}]}}\n"
    assert f"suite.yaml:19: cases[0].{expected}" in faults_of(folder, cases)


def test_a_model_that_reads_no_documents_is_told_before_anything_is_asked(folder: Folder) -> None:
    head = SUITE.replace("call_log: calls.txt", "call_log: calls.txt\n    capabilities: {documents: false}", 1)
    prompted = head.replace("subject: eyes", "prompt: Is this a cat?\nsubject: eyes")
    cases = "  - {name: a, documents: [{path: report.pdf, attach: true}]}\n"
    assert "model scripted takes no documents, and the request holds 1" in faults_of(folder, cases, prompted)


def test_a_function_is_given_the_bytes_and_a_server_is_refused_them(folder: Folder) -> None:
    folder.write(
        "app.py",
        "import json, pathlib\n\n\ndef answer(task):\n"
        "    pathlib.Path('seen.json').write_text(json.dumps(task))\n    return 'A cat.'\n",
    )
    head = SUITE.replace("subject: eyes", "subject: {python: 'app:answer'}")
    folder.write("suite.yaml", head + BY_PATH + "    documents: [{path: report.pdf, attach: true}]\n")
    assert folder.jurat("run", "suite.yaml").code == 0
    seen = json.loads(Path("seen.json").read_text())
    assert seen["messages"][0]["content"][1]["data"] == CAT_TEXT
    assert seen["input"] == "Is this  a cat?"
    assert [one["name"] for one in seen["attached"]] == ["report.pdf"]

    told = faults_of(folder, BY_PATH, SUITE.replace("subject: eyes", "subject: {http: {url: 'http://127.0.0.1:1/'}}"))
    assert "cases[0].messages[0].content[1]: expected text, which the request can hold, found a picture" in told


# --- Recorded and replayed -------------------------------------------------------------------------------------------


def judged(cases: str) -> str:
    return (
        SUITE.replace(
            "cases:\n", "  - {type: rubric_judge, rubric: Says what it is., provider: judge, threshold: 80}\ncases:\n"
        )
        + cases
    )


def test_a_run_records_what_was_shown_and_no_byte_of_it(folder: Folder) -> None:
    folder.write("suite.yaml", judged(BY_PATH))
    done = folder.jurat(
        *("run", "suite.yaml", "--include-output", "--store", "s.db"),
        *("--report", "html=page.html", "--report", "json=report.json"),
    )
    assert done.code == 0, done.out + done.err
    kept = b"".join(file.read_bytes() for file in folder.path.glob("s.db*"))
    written = kept + Path("page.html").read_bytes() + Path("report.json").read_bytes()
    assert HASH.encode() in kept
    assert CAT_TEXT[:60].encode() not in written
    assert CAT[:30] not in written
    assert f"[image/png, {len(CAT):,} bytes, sha256 {HASH[:16]};" in Path("page.html").read_text()


def test_a_page_and_the_terminal_show_the_line_where_no_judge_saw_anything_either(folder: Folder) -> None:
    folder.write("suite.yaml", SUITE + BY_PATH)
    assert folder.jurat("run", "suite.yaml", "--include-output", "--report", "html=page.html").code == 0
    line = f"Is this [image/png, {len(CAT)} bytes, sha256 {HASH[:16]}; the picture itself is not shown] a cat?"
    assert line in Path("page.html").read_text()
    shown = folder.jurat("show", "latest", "--case", "cat", "--include-output").out
    assert line in " ".join(shown.split())


def test_nobody_believes_that_the_judge_saw_it(folder: Folder) -> None:
    folder.write("suite.yaml", judged(BY_PATH))
    run = jurat.run_suite("suite.yaml", store="s.db")
    result = run.cases()[0]["trials"][0]["assessments"][1]["result"]
    assert result["metadata"]["unseen_fields"] == ["messages[0].content[1]"]
    assert [(one["code"], one["severity"]) for one in result["findings"]] == [("images_unseen", "info")]
    assert result["findings"][0]["message"] == (
        "the judge did not see a picture: a line stood in the place of messages[0].content[1]"
    )
    report = json.loads(json.dumps(run.report()))
    assert report["cases"][0]["trials"][0]["assessments"][1]["result"]["metadata"]["unseen_fields"]
    jsonschema_rs.validator_for(report_schema()).validate(report)


def test_a_replay_answers_the_same_picture_and_no_other(folder: Folder) -> None:
    folder.write("suite.yaml", SUITE + BY_PATH)
    assert folder.jurat("run", "suite.yaml", "--record", "kept").code == 0
    assert len(folder.calls) == 1
    assert folder.jurat("run", "suite.yaml", "--replay", "kept").code == 0
    (folder.path / "pictures" / "cat.png").write_bytes(png(40, 31))
    assert folder.jurat("run", "suite.yaml", "--replay", "kept").code == 3
    assert len(folder.calls) == 1


def test_answers_to_the_same_picture_are_recalled_and_to_another_are_not(folder: Folder) -> None:
    folder.write("suite.yaml", SUITE + BY_PATH)
    for _ in range(2):
        assert folder.jurat("run", "suite.yaml", "--cache", "read").code == 0
    assert len(folder.calls) == 1
    (folder.path / "pictures" / "cat.png").write_bytes(png(40, 31))
    assert folder.jurat("run", "suite.yaml", "--cache", "read").code == 0
    assert len(folder.calls) == 2


FAILING = SUITE.replace('- {match: "Is this ", text: "A cat."}', '- {match: "Is this ", error: network_error}')


def run_name(folder: Folder) -> str:
    name: str = folder.jurat("runs", "--format", "json").json[0]["id"]
    return name


def test_a_run_is_resumed_with_the_picture_that_it_was_begun_with_or_not_at_all(folder: Folder) -> None:
    folder.write("suite.yaml", FAILING + BY_PATH)
    assert folder.jurat("run", "suite.yaml").code == 3
    (folder.path / "suite.yaml").unlink()
    name = run_name(folder)
    assert folder.jurat("resume", name, "--retry-errors").code == 3
    assert len(folder.calls) == 2
    (folder.path / "pictures" / "cat.png").write_bytes(png(40, 31))
    told = folder.jurat("resume", name, "--retry-errors")
    assert told.code == 2
    assert f"expected the picture whose hash was recorded, {HASH[:16]}…, found another one" in told.err
    assert len(folder.calls) == 2


def test_a_picture_in_the_suite_itself_is_resumed_without_the_suite(folder: Folder) -> None:
    folder.write("suite.yaml", FAILING + BY_PATH.replace("path: pictures/cat.png", f"data: {CAT_TEXT}"))
    assert folder.jurat("run", "suite.yaml").code == 3
    (folder.path / "suite.yaml").unlink()
    assert folder.jurat("resume", run_name(folder), "--retry-errors").code == 3
    assert len(folder.calls) == 2
    assert len(set(folder.calls)) == 1


def test_a_recorded_answer_is_rescored_without_the_picture(folder: Folder) -> None:
    folder.write("suite.yaml", SUITE + BY_PATH)
    assert folder.jurat("run", "suite.yaml").code == 0
    (folder.path / "pictures" / "cat.png").unlink()
    name = run_name(folder)
    assert folder.jurat("show", name).code == 0
    assert folder.jurat("store", "verify").code == 0


def test_a_forecast_does_not_know_what_pictures_take(folder: Folder) -> None:
    priced = SUITE.replace("call_log: calls.txt", "call_log: calls.txt\n    prices: {input: 1.0, output: 1.0}", 1)
    priced = priced.replace("subject: eyes", "subject: {provider: eyes, max_output_tokens: 100}")
    folder.write("suite.yaml", priced + BY_PATH)
    told = folder.jurat("run", "suite.yaml", "--dry-run", "--format", "json").json
    (line,) = told["lines"]
    low, high = line["input_tokens"]
    assert 1 <= low < 20
    assert (high, line["cost_usd"][1], told["cost_usd"][1]) == (None, None, None)
    assert told["unknown"] == ["how many tokens the pictures and documents take that 1 call to eyes show"]
    assert folder.calls == []


def test_a_forecast_learns_of_pictures_from_calls_that_showed_some(folder: Folder) -> None:
    used = '{text: "A cat.", usage: {input_tokens: 900, output_tokens: 3}}'
    head = SUITE.replace('{match: "Is this ", text: "A cat."}', used).replace('{text: "I see nothing."}', used)
    question = "  - {{name: c{}, messages: [{{role: user, content: Is this {} a cat?}}]}}\n"
    folder.write("suite.yaml", head + "".join(question.format(n, n) for n in range(6)))
    assert folder.jurat("run", "suite.yaml").code == 0

    def told() -> Any:
        return folder.jurat("run", "suite.yaml", "--dry-run", "--format", "json").json["lines"][0]

    assert told()["basis"] == "from 6 such calls in the store"
    shown = "".join(BY_PATH.replace("name: cat", f"name: c{n}").replace("Is this", f"Is this {n}") for n in range(6))
    folder.write("suite.yaml", head + shown)
    assert (told()["basis"], told()["input_tokens"][1]) == ("estimated from the requests", None)
    assert folder.jurat("run", "suite.yaml").code == 0
    assert (told()["basis"], told()["input_tokens"]) == ("from 6 such calls in the store", [5400, 5400])


def test_a_case_is_named_by_its_pictures_hash_and_its_snapshot_holds_no_bytes(folder: Folder) -> None:
    folder.write("suite.yaml", SUITE + BY_PATH + ATTACHED)
    first, second = load_suite(Path("suite.yaml")).suite.cases
    for case in (first, second):
        plain = case_to_json(case)
        assert CAT_TEXT[:60] not in json.dumps(plain)
        assert case_from_json(plain) == case
    (folder.path / "pictures" / "cat.png").write_bytes(png(40, 31))
    assert case_hash(load_suite(Path("suite.yaml")).suite.cases[0]) != case_hash(first)


def test_the_picture_of_a_recorded_answer_need_not_be_there_once_its_hash_is_known(folder: Folder) -> None:
    recorded = f"{{type: image, path: gone.png, media_type: image/png, sha256: '{HASH}', size_bytes: 69}}"
    inline = f"{{type: image, data: {CAT_TEXT}}}"
    cases = "".join(
        f"  - {{name: {name}, output: A cat., messages: [{{role: user, content: [{block}]}}]}}\n"
        for name, block in (("recorded", recorded), ("inline", inline))
    )
    folder.write("suite.yaml", SUITE + cases)
    assert folder.jurat("run", "suite.yaml").code == 0
    first, second = load_suite(Path("suite.yaml")).suite.cases
    assert next(first.messages[0].pictures())[1].placeholder == next(second.messages[0].pictures())[1].placeholder
    for case in (first, second):
        assert "data" not in json.dumps(case_to_json(case))
        assert case_from_json(case_to_json(case)) == case


def test_a_dataset_of_a_run_tells_what_was_recorded_of_a_picture(folder: Folder) -> None:
    folder.write("suite.yaml", SUITE + BY_PATH)
    assert folder.jurat("run", "suite.yaml").code == 0
    told = folder.jurat("export", "latest", "--format", "dataset")
    (row,) = (json.loads(line) for line in told.out.splitlines())
    assert row["messages"][0]["content"][1] == {
        "type": "image",
        "path": "pictures/cat.png",
        "media_type": "image/png",
        "sha256": HASH,
        "size_bytes": len(CAT),
    }


def test_answers_about_one_attached_document_are_no_answers_about_another(folder: Folder) -> None:
    folder.write("suite.yaml", SUITE + ATTACHED)
    assert folder.jurat("run", "suite.yaml").code == 0
    assert folder.jurat("rescore", "latest", "--suite", "suite.yaml").code == 0
    (folder.path / "report.pdf").write_bytes(pdf(["Returns within 3 days"]))
    told = folder.jurat("rescore", run_name(folder), "--suite", "suite.yaml")
    assert told.code == 2
    assert "something else. Its answers are answers to the old question" in told.err


def test_pictures_together_are_bounded(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jurat.suitefiles.shown.MAX_SHOWN", 2**20)
    (folder.path / "pictures" / "noise.jpg").write_bytes(jpeg(4, 4)[:-2] + bytes(2**20) + b"\xff\xd9")
    folder.write("suite.yaml", SUITE + BY_PATH + image("path: pictures/noise.jpg"))
    with pytest.raises(AuthoringError, match="pictures and attached documents of at most 1 MiB together"):
        load_suite(Path("suite.yaml"))
