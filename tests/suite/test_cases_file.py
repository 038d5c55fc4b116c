"""Cases from a table: which column becomes what, and every faulty row told with its line."""

from __future__ import annotations

import io
from pathlib import Path
from typing import IO, Any

import pytest

from jurat.errors import AuthoringError, Fault
from jurat.jsontext import Json
from jurat.suite.case import Place
from jurat.suite.cases_file import CASE_FIELDS, CaseRow, cases_file_spec, read_cases

FIELDS = (
    "expected one of name, variables, messages, documents, expected, output, execution, labels, metadata, assertions, "
    "pass_threshold, found this key"
)
ENDINGS = "expected a file that ends in .jsonl, .ndjson, .csv, .tsv, .parquet"
KEYS = "path, format, columns, values, delimiter"


class Held:
    """A folder of files that are held in memory."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._files = files

    def read(self, path: str, *, limit: int) -> bytes:
        return self._files[path][:limit]

    def open(self, path: str) -> IO[bytes]:
        if path not in self._files:
            raise AuthoringError("file", [Fault(path="", expected="a file", found=f"{path!r}, which is not there")])
        return io.BytesIO(self._files[path])


def read(data: bytes, spec: Json = "cases.csv") -> tuple[list[CaseRow], list[Fault]]:
    """The cases of a file, and its faults."""
    faults: list[Fault] = []
    made = cases_file_spec(spec, "cases_file", faults)
    assert made is not None, faults
    return list(read_cases(Held({made.path: data}), made, "cases_file", faults)), faults


def values(data: bytes, spec: Json = "cases.csv") -> list[dict[str, Any]]:
    """The cases of a file without faults."""
    rows, faults = read(data, spec)
    assert not faults
    return [dict(row.value) for row in rows]


def told(data: bytes, spec: Json = "cases.csv") -> list[str]:
    return [str(fault) for fault in read(data, spec)[1]]


def mapped(columns: dict[str, str], path: str = "cases.csv", **more: Json) -> dict[str, Json]:
    return {"path": path, "columns": columns, **more}


# --- columns -------------------------------------------------------------------------------------------------------


def test_without_a_mapping_fields_are_known_by_their_names_and_the_rest_are_variables() -> None:
    data = b"name,country,expected,metadata.tier\nfrance,France,Paris,gold\n"

    assert values(data) == [
        {
            "name": "france",
            "variables": {"country": "France"},
            "expected": "Paris",
            "metadata": {"tier": "gold"},
        }
    ]


def test_with_a_mapping_the_columns_that_it_names_are_read_and_no_others() -> None:
    data = b"id,Country,answer,private\nfr,France,Paris,4711\n"
    columns = {"name": "id", "variables.country": "Country", "variables.land": "Country", "expected": "answer"}

    rows, faults = read(data, mapped(columns))

    assert not faults
    assert rows[0].value == {
        "name": "fr",
        "variables": {"country": "France", "land": "France"},
        "expected": "Paris",
    }
    assert (rows[0].place, rows[0].columns) == (Place(file="cases.csv", line=2), columns)


def test_blanks_around_the_column_names_of_csv_do_not_count() -> None:
    assert values(b"name , country\nfr,France\n") == [{"name": "fr", "variables": {"country": "France"}}]
    assert values(b" id\nfr\n", mapped({"name": "id"})) == [{"name": "fr"}]


def test_columns_without_a_name_are_passed_over() -> None:
    assert values(b",name,,\n0,fr,x,\n") == [{"name": "fr"}]


def test_a_mapped_column_that_is_not_there_is_told_once_with_the_nearest() -> None:
    data = b"ident,Country\nfr,France\nde,Germany\n"

    assert told(data, mapped({"name": "id", "expected": "Countri"})) == [
        "cases_file.columns.name: expected a column of cases.csv, found 'id', which it does not have",
        (
            "cases_file.columns.expected: expected a column of cases.csv, found 'Countri', which it does not have"
            ". Did you mean 'Country'?"
        ),
    ]


def test_a_line_of_json_may_lack_a_column_but_all_of_them_may_not() -> None:
    data = b'{"id": "a"}\n{"id": "b", "note": "x"}\n'

    assert values(data, mapped({"name": "id", "metadata.note": "note"}, "c.jsonl")) == [
        {"name": "a"},
        {"name": "b", "metadata": {"note": "x"}},
    ]
    assert told(data, mapped({"name": "id", "metadata.note": "remark"}, "c.jsonl")) == [
        "cases_file.columns.metadata.note: expected a column of c.jsonl, found 'remark', which it does not have"
    ]


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        (7, "cases_file: expected a path or {path, columns, …}, found a number"),
        ({}, "cases_file.path: expected the path of a file, found null"),
        (
            {"path": "c.csv", "colums": {}},
            f"cases_file.colums: expected one of {KEYS}, found this key. Did you mean columns?",
        ),
        (
            {"path": "cases.xlsx"},
            f"cases_file.path: {ENDINGS}, found 'cases.xlsx'. Say which it is: format: jsonl, csv, tsv, parquet",
        ),
        (
            {"path": "c.csv", "format": "xml"},
            "cases_file.format: expected one of 'jsonl', 'csv', 'tsv', 'parquet', found 'xml'",
        ),
        ({"path": "c.csv", "values": "auto"}, "cases_file.values: expected one of 'text', 'typed', found 'auto'"),
        ({"path": "c.csv", "delimiter": ":"}, "cases_file.delimiter: expected one of ',', ';', '\\t', '|', found ':'"),
        (
            {"path": "c.csv", "columns": []},
            "cases_file.columns: expected from field to column: {name: id, …}, found an array",
        ),
        (
            {"path": "c.csv", "columns": {"name": 1}},
            "cases_file.columns.name: expected the name of a column, found a number",
        ),
        (
            {"path": "c.csv", "columns": {"country": "Country"}},
            f"cases_file.columns.country: {FIELDS}. For a variable, write variables.country",
        ),
        (
            {"path": "c.csv", "columns": {"expectd": "x"}},
            f"cases_file.columns.expectd: {FIELDS}. Did you mean expected?",
        ),
    ],
)
def test_what_the_suite_says_of_its_cases_file_is_checked(spec: Json, fault: str) -> None:
    faults: list[Fault] = []

    assert cases_file_spec(spec, "cases_file", faults) is None
    assert [str(one) for one in faults] == [fault]


def test_all_faults_of_what_the_suite_says_come_together() -> None:
    faults: list[Fault] = []

    cases_file_spec({"path": "c.txt", "values": 1, "columns": {"x": 2}, "y": 0}, "cases_file", faults)

    assert [fault.path for fault in faults] == [
        "cases_file.y",
        "cases_file.path",
        "cases_file.columns.x",
        "cases_file.columns.x",
        "cases_file.values",
    ]


# --- names ---------------------------------------------------------------------------------------------------------


def test_a_file_without_names_gives_each_case_the_name_of_its_line() -> None:
    assert [case["name"] for case in values(b"input,expected\nhi,hello\n\nbye,ciao\n")] == ["cases-2", "cases-4"]


def test_a_name_that_is_missing_where_others_have_one_is_a_fault() -> None:
    assert told(b"name,x\na,1\n ,2\n,3\n") == [
        "cases.csv:3: name: expected a name, found none",
        "cases.csv:4: name: expected a name, found none",
    ]
    assert told(b'{"name": "a"}\n{"x": 1}\n', "c.jsonl") == ["c.jsonl:2: name: expected a name, found none"]


def test_a_name_that_stands_twice_is_told_with_both_lines() -> None:
    assert told(b"id\na\nb\na\n", mapped({"name": "id"})) == [
        "cases.csv:4: id: expected a name of its own, found 'a', which line 2 has"
    ]


def test_a_number_can_be_a_name() -> None:
    assert values(b'{"id": 7}\n', mapped({"name": "id"}, "c.jsonl")) == [{"name": "7"}]
    assert values(b"id\n007\n", mapped({"name": "id"}, values="typed")) == [{"name": "007"}]


# --- cells ---------------------------------------------------------------------------------------------------------


def test_cells_are_text_unless_the_author_wants_values() -> None:
    data = b"name,n,b,nothing,expected\na,42,true,null,-1.5\n"

    assert values(data)[0] == {
        "name": "a",
        "variables": {"n": "42", "b": "true", "nothing": "null"},
        "expected": "-1.5",
    }
    assert values(data, {"path": "cases.csv", "values": "typed"})[0] == {
        "name": "a",
        "variables": {"n": 42, "b": True, "nothing": None},
        "expected": -1.5,
    }


@pytest.mark.parametrize(
    "cell",
    ["007", "1.10", "1e3", "1E5", "+1", ".5", "1.", "-0.0e0", "0x10", "1_000", "NaN", "Infinity", "TRUE", "True", "no",
     "2024-01-16", "1:30", " 1", "1e999", "123456789012345678.5", "0.1000000000000000055511151231257827", "９"],
)  # fmt: skip
def test_a_value_that_would_not_print_as_it_is_written_stays_text(cell: str) -> None:
    data = f"name,x\na,{cell}\n".encode()

    assert values(data, {"path": "cases.csv", "values": "typed"}) == [{"name": "a", "variables": {"x": cell}}]


def test_an_empty_cell_is_no_value_but_an_output_and_a_variable_can_be_empty() -> None:
    data = b"name,x,expected,output,labels,metadata.t,pass_threshold,documents\na,,,,,,,\n"

    assert values(data) == [{"name": "a", "variables": {"x": ""}, "output": ""}]


def test_labels_are_words_between_commas_semicolons_or_bars() -> None:
    data = b'name;labels\na;fast, slow\nb;"x;y"\nc;x|y|\nd;"[""a, b""]"\n'

    assert [case["labels"] for case in values(data)] == [["fast", "slow"], ["x", "y"], ["x", "y"], ["a, b"]]


def test_lists_and_objects_are_written_as_json() -> None:
    data = b'name,messages,metadata\na,"[{""role"": ""user"", ""content"": ""Hi""}]","{""tier"": 1}"\n'

    assert values(data) == [{"name": "a", "messages": [{"role": "user", "content": "Hi"}], "metadata": {"tier": 1}}]


def test_a_document_is_a_path_and_several_are_a_json_list() -> None:
    data = b'name,documents\na,docs/faq.md\nb,"[""a.pdf"", ""b.pdf""]"\n'

    assert [case["documents"] for case in values(data)] == [["docs/faq.md"], ["a.pdf", "b.pdf"]]


def test_a_cell_that_should_be_json_and_is_none_is_told_with_its_column() -> None:
    assert told(b'name,messages,metadata\na,hello,\nb,,"{""a"": }"\n') == [
        "cases.csv:2: messages: expected JSON (an array), found other text",
        "cases.csv:3: metadata: expected JSON, found a value was expected (character 7 of the cell)",
    ]


def test_a_field_can_come_from_one_column_only() -> None:
    data = b'name,variables,variables.x\na,"{""x"": 1}",2\n'

    assert told(data) == [
        "cases.csv:2: variables.x: expected variables.x from one column, found another column that gives variables"
    ]
    assert values(b'name,variables,y\na,"{""x"": 1}",2\n') == [{"name": "a", "variables": {"x": 1, "y": "2"}}]


def test_thresholds_and_measurements_are_numbers() -> None:
    data = b"name,output,execution.latency_ms,pass_threshold\na,x,812,0.80\n"

    assert values(data)[0] == {"name": "a", "output": "x", "execution": {"latency_ms": 812}, "pass_threshold": 0.8}


def test_json_lines_keep_their_values_and_a_null_is_none() -> None:
    data = (
        b'{"name": "a", "n": 1.5, "nothing": null, "variables": {"x": null}, "expected": {"b": [1]}, "labels": ["x"]}\n'
    )

    assert values(data, "c.jsonl") == [
        {"name": "a", "variables": {"n": 1.5, "x": None}, "expected": {"b": [1]}, "labels": ["x"]}
    ]


def test_an_output_that_is_no_text_becomes_json_text_unless_its_spelling_could_be_lost() -> None:
    data = b'{"output": {"b": 1, "a": true}}\n{"output": 7}\n{"output": 1.5}\n'

    assert [case["output"] for case in values(data, "c.jsonl")] == ['{"a":true,"b":1}', "7", 1.5]


def test_parquet_rows_become_cases() -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    sink = io.BytesIO()
    table = {"id": [1, 2], "q": ["a", None], "tags": [["x"], []], "raw": [b"\xff", b""], "conv": ["[]", None]}
    pq.write_table(pa.table(table), sink)
    columns = {"name": "id", "variables.q": "q", "labels": "tags", "messages": "conv"}

    assert values(sink.getvalue(), mapped(columns, "c.parquet")) == [
        {"name": "1", "variables": {"q": "a"}, "labels": ["x"], "messages": []},
        {"name": "2", "labels": []},
    ]
    assert told(sink.getvalue(), mapped({"name": "ID"}, "c.parquet")) == [
        "cases_file.columns.name: expected a column of c.parquet, found 'ID', which it does not have"
    ]


# --- faults --------------------------------------------------------------------------------------------------------


def test_a_file_that_is_not_there_is_told_where_the_suite_names_it() -> None:
    faults: list[Fault] = []
    spec = cases_file_spec("no.csv", "cases_file", faults)
    assert spec is not None

    assert list(read_cases(Held({}), spec, "cases_file", faults)) == []
    assert [str(fault) for fault in faults] == ["cases_file: expected a file, found 'no.csv', which is not there"]


def test_a_faulty_row_costs_itself_and_every_one_is_told() -> None:
    rows, faults = read(b'name,x\na,1\nb\nc,"1"2\nd,\x00\ne,\xff\nf,6\n')

    assert [row.value["name"] for row in rows] == ["a", "f"]
    assert [(fault.line, fault.path, fault.found) for fault in faults] == [
        (3, "row", "1"),
        (4, "x", "text behind a closing quotation mark"),
        (5, "x", "a NUL character"),
        (6, "x", "a byte that is none"),
    ]


def test_a_hundred_faults_are_listed_and_the_others_counted() -> None:
    faults = read(b"name,x\n" + b"too,many,cells\n" * 1_350)[1]

    assert len(faults) == 101
    assert str(faults[-1]) == "cases.csv: rows: expected cases, found and 1,250 more faults, which are not listed"


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", "an empty file"),
        (b"\n\n", "an empty one"),
        ("name,x\n".encode("utf-16"), "UTF-16"),
        (b"name,x,x\na,1,2\n", "'x' in columns 2 and 3"),
        (b"name,x, x\na,1,2\n", "'x' twice"),
        (b'name,"x\n', "one too long, or unmatched quotation marks"),
        (b"name,\xe4\na,1\n", "a byte that is none in column 2"),
        (b"name,x\ra,1\rb,2\r", "lines that end in a carriage return alone"),
        (b"n\x00ame\n", "a NUL character in column 1"),
    ],
)
def test_what_is_wrong_with_the_file_as_a_whole_is_one_fault(data: bytes, found: str) -> None:
    rows, faults = read(data)

    assert rows == []
    assert [(fault.file, fault.found) for fault in faults] == [("cases.csv", found)]


def test_a_disk_that_fails_in_the_middle_is_a_fault_and_no_traceback() -> None:
    class Failing(io.BytesIO):
        def readline(self, limit: int | None = -1, /) -> bytes:
            raise OSError(5, "Input/output error")

    class Folder(Held):
        def open(self, path: str) -> IO[bytes]:
            return Failing(b"name\n")

    faults: list[Fault] = []
    spec = cases_file_spec("c.csv", "cases_file", faults)
    assert spec is not None

    assert list(read_cases(Folder({}), spec, "cases_file", faults)) == []
    assert [str(one) for one in faults] == [
        "cases_file: expected a file that can be read, found 'c.csv': Input/output error"
    ]


def test_every_key_and_field_of_a_cases_file_is_documented() -> None:
    told = (Path(__file__).parents[2] / "docs" / "cases_files.md").read_text("utf-8")

    assert [word for word in (*CASE_FIELDS, *KEYS.split(", ")) if f"`{word}" not in told] == []
