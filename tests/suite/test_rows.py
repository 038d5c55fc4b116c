"""Reading rows: a fault costs the row that it stands in."""

from __future__ import annotations

import io
from collections.abc import Collection
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from jurat.errors import AuthoringError
from jurat.suite import Row, csvrows, read_rows

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def read(data: bytes, kind: str = "csv", wanted: Collection[str] | None = None) -> list[Row]:
    return list(read_rows(io.BytesIO(data), kind, "rows", wanted))


def outputs(found: list[Row]) -> list[Any]:
    return [row.values["output"] if row.values else None for row in found]


def parquet(table: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="none", use_dictionary=False)
    return sink.getvalue()


def test_a_quote_that_is_never_closed_costs_its_own_line() -> None:
    body = b'id,output\n1,"open\n' + b"".join(b"%d,text\n" % number for number in range(2, 6))

    found = read(body)

    assert outputs(found) == [None, "text", "text", "text", "text"]
    assert [row.number for row in found] == [2, 3, 4, 5, 6]
    assert found[0].fault is not None
    assert "its end was looked for up to line 6, and lines 3 to 6 are read as rows" in found[0].fault.found
    assert found[0].digest != ""


def test_a_stray_quote_that_another_one_seems_to_close_costs_its_own_line() -> None:
    found = read(b'id,output\n1,"open\n2,text\n3,"said"\n4,text\n')

    assert outputs(found) == [None, "text", "said", "text"]


def test_no_cell_is_looked_for_further_than_a_number_of_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csvrows, "MAX_RECORD_LINES", 3)

    found = read(b'id,output\n1,"a\nb\nc"\n2,"a\n3,b\n4,c\n5,d\n6,"e"\n')

    assert outputs(found) == ["a\nb\nc", None, "b", "c", "d", "e"]
    assert found[1].fault is not None
    assert "more than 3 lines" in found[1].fault.found


def test_a_parquet_column_that_nobody_wants_may_hold_anything() -> None:
    data = parquet(pa.table({"output": ["a"], "when": [datetime(2024, 1, 1)], "raw": [b"\xff"]}))

    found = read(data, "parquet", {"output", "messages"})

    assert outputs(found) == ["a"]
    assert found[0].columns == ("output", "when", "raw")


def test_a_parquet_value_without_a_json_form_is_a_fault_of_its_row() -> None:
    found = read(parquet(pa.table({"output": ["a", "b"], "when": [None, datetime(2024, 1, 1)]})), "parquet")

    assert outputs(found) == ["a", None]
    assert found[1].fault is not None
    assert (found[1].fault.path, found[1].fault.found) == ("when", "a Python datetime")


def test_parquet_text_that_is_no_utf8_is_a_fault_of_its_row() -> None:
    raw = pa.array([b"a", b"\xff\xfe", b"c"], pa.binary())
    text = pa.StringArray.from_buffers(3, raw.buffers()[1], raw.buffers()[2])

    found = read(parquet(pa.table({"output": text})), "parquet")

    assert outputs(found) == ["a", None, "c"]


def test_repeated_parquet_column_names_are_refused() -> None:
    table = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["output", "output"])

    with pytest.raises(AuthoringError, match="'output' more than once"):
        read(parquet(table), "parquet")


def test_damaged_parquet_pages_cost_the_rows_of_their_group_and_raise_nothing_else() -> None:
    data = bytearray(parquet(pa.table({"output": ["text"] * 3})))
    data[4:20] = b"\xff" * 16

    found = read(bytes(data), "parquet")

    assert outputs(found) == [None, None, None]
    assert [row.number for row in found] == [1, 2, 3]


@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1" + b"\xff" * 40 + b"PAR1"])
def test_what_is_no_parquet_file_is_refused(data: bytes) -> None:
    with pytest.raises(AuthoringError, match="expected a Parquet file"):
        read(data, "parquet")


def test_any_damage_to_a_parquet_file_is_told_and_never_a_traceback(tmp_path: Path) -> None:
    whole = parquet(pa.table({"output": ["text", "more"], "n": [1, 2]}))
    for place in range(0, len(whole), 7):
        data = bytearray(whole)
        data[place] ^= 0xFF
        try:
            found = read(bytes(data), "parquet", {"output"})
        except AuthoringError:
            continue
        assert all((row.values is None) != (row.fault is None) for row in found)
