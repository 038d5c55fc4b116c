"""CSV as spreadsheets and programs write it, and as nobody should."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.errors import AuthoringError
from jurat.suite import Row, csvrows, read_rows

LIMIT = 131_072
"""The limit of cells that Python's csv module begins with."""


def read(data: bytes, delimiter: str | None = None) -> list[Row]:
    return list(read_rows(io.BytesIO(data), "csv", "rows", delimiter=delimiter))


def cells(data: bytes, delimiter: str | None = None) -> list[dict[str, str]]:
    """The rows of a file without faults."""
    rows = read(data, delimiter)
    assert [row.fault for row in rows] == [None] * len(rows)
    return [dict(row.values or {}) for row in rows]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_the_delimiter_is_found_in_the_line_of_column_names(mark: str) -> None:
    data = f"a{mark}b\n1,5;x\ty{mark}2\n".encode()

    found = cells(data.replace(b"1,5;x\ty", b'"1,5;x\ty"'))

    assert found == [{"a": "1,5;x\ty", "b": "2"}]


def test_delimiters_inside_of_quoted_column_names_do_not_count() -> None:
    assert cells(b'"a;b;c;d",e\n1,2\n') == [{"a;b;c;d": "1", "e": "2"}]


def test_the_line_with_which_a_spreadsheet_names_its_delimiter_is_followed() -> None:
    rows = read(b"sep=;\r\na,b;c\r\n1;2\r\n")

    assert [(row.number, row.values) for row in rows] == [(3, {"a,b": "1", "c": "2"})]


def test_the_author_may_name_the_delimiter() -> None:
    assert cells(b"a|b;c\n1|2\n", "|") == [{"a": "1", "b;c": "2"}]


def test_one_byte_order_mark_is_dropped_and_one_inside_of_a_cell_is_kept() -> None:
    assert cells("\ufeffa,b\n\ufeff1,2\n".encode()) == [{"a": "\ufeff1", "b": "2"}]


@pytest.mark.parametrize("data", [b"a\n1\n2\n", b"a\r\n1\r\n2\r\n", b"a\n1\n2"])
def test_short_lines_and_either_kind_of_line_end_are_read(data: bytes) -> None:
    assert cells(data) == [{"a": "1"}, {"a": "2"}]


def test_quoted_cells_may_hold_line_ends_delimiters_and_doubled_marks() -> None:
    rows = read(b'a,b\n"1\r\n2, ""x""",y\nz,z\n')

    assert [row.number for row in rows] == [2, 4]
    assert [row.values for row in rows] == [{"a": '1\r\n2, "x"', "b": "y"}, {"a": "z", "b": "z"}]


def test_blank_rows_are_passed_over_however_many_cells_they_have() -> None:
    assert [row.number for row in read(b"a,b\n1,2\n\n,\n , ,,\n   \n3,4\n")] == [2, 7]


def test_json_in_a_cell_without_quotation_marks_is_the_cell_as_it_stands() -> None:
    assert cells(b'label,expected\na,{"answer":"x"}\n') == [{"label": "a", "expected": '{"answer":"x"}'}]


def test_json_that_holds_the_delimiter_needs_quotation_marks_and_the_message_shows_how() -> None:
    (row,) = read(b'label,expected\na,{"n":[1,2]}\n')

    assert str(row.fault) == (
        "rows:2: row: expected 2 cells, found 3. Put a cell that holds quotation marks or delimiters in such marks, "
        'and double those inside: "{""a"": 1}"'
    )


def test_too_few_cells_are_a_fault() -> None:
    (row,) = read(b"a,b,c\n1,2\n")

    assert str(row.fault) == "rows:2: row: expected 3 cells, found 2"


@pytest.mark.parametrize(
    ("line", "column", "found"),
    [
        (b'x,"y" z', "b", "text behind a closing quotation mark"),
        (b'"x"y,z', "a", "text behind a closing quotation mark"),
        (b'"x""y,z', "a", "a quotation mark that is never closed"),
        (b'x,"y', "b", "a quotation mark that is never closed"),
        (b"x\ry,z", "row", "a carriage return inside of an unquoted cell"),
    ],
)
def test_wrong_quotation_marks_are_told_with_line_and_column(line: bytes, column: str, found: str) -> None:
    row = read(b"a,b\n1,2\n" + line + b"\n")[1]

    assert row.fault is not None
    assert (row.fault.line, row.fault.path, row.fault.found) == (3, column, found)


def test_a_cell_longer_than_the_limit_of_the_csv_module_is_read_and_the_limit_stays() -> None:
    before = csv.field_size_limit()
    rows = read_rows(io.BytesIO(b"a\n" + b"x" * 200_000 + b"\n2\n"), "csv", "rows")

    first = next(rows)

    assert csv.field_size_limit() == before == LIMIT
    assert first.values == {"a": "x" * 200_000}


def test_two_files_can_be_read_in_turn() -> None:
    one, two = (read_rows(io.BytesIO(b"a\n" + b"x" * 200_000 + b"\n2\n"), "csv", "rows") for _ in range(2))

    lengths = [len((row.values or {})["a"]) for pair in zip(one, two, strict=True) for row in pair]

    assert lengths == [200_000, 200_000, 1, 1]


class Gigabyte(io.BytesIO):
    """A file with one line of a gigabyte between two others, made while it is read."""

    def __init__(self) -> None:
        super().__init__(b"a,b\n1,2\n")
        self._left = 2**30
        self._tail = io.BytesIO(b'x"\n5,6\n')

    def readline(self, limit: int | None = -1, /) -> bytes:
        assert limit is not None
        assert 0 < limit <= csvrows.MAX_CELL + 1, "no more than a cell is asked for at once"
        if head := super().readline(limit):
            return head
        count = min(limit, self._left)
        self._left -= count
        return b"x" * count if count else self._tail.readline(limit)


def test_a_field_of_a_gigabyte_is_a_fault_of_its_row_and_is_never_held() -> None:
    rows = list(read_rows(Gigabyte(), "csv", "rows"))

    assert [row.number for row in rows] == [2, 3, 4]
    assert [row.values for row in rows] == [{"a": "1", "b": "2"}, None, {"a": "5", "b": "6"}]
    assert rows[1].fault is not None
    assert rows[1].fault.found == "a cell of more than 16,777,216 characters"


def test_a_cell_of_many_lines_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csvrows, "MAX_CELL", 100)

    rows = read(b'a\n"' + b"x" * 60 + b"\n" + b"y" * 60 + b'"\nz\n')

    assert [row.number for row in rows] == [2, 3, 4]
    assert rows[-1].values == {"a": "z"}
    assert rows[0].fault is not None
    assert rows[0].fault.found.startswith("a cell of more than 100 characters; its end was looked for up to line 3")


def test_a_row_of_many_long_cells_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csvrows, "MAX_RECORD", 100)

    rows = read(b'a,b\n"' + b"x" * 60 + b'\n","' + b"y" * 60 + b'"\nz,z\n')

    assert rows[0].fault is not None
    assert rows[0].fault.found.startswith("one of more than 100 characters")
    assert rows[-1].values == {"a": "z", "b": "z"}


_TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=12)


@given(
    st.lists(st.lists(_TEXT, min_size=3, max_size=3), min_size=1, max_size=5),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_what_is_written_as_csv_comes_back(table: list[list[str]], mark: str, end: str) -> None:
    sink = io.StringIO(newline="")
    writer = csv.writer(sink, delimiter=mark, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([["a", "b", "c"], *table])

    found = cells(sink.getvalue().encode())

    assert [list(row.values()) for row in found] == [row for row in table if any(cell.strip() for cell in row)]


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_but_a_fault(data: bytes) -> None:
    try:
        rows = read(data)
    except AuthoringError:
        return
    assert all((row.values is None) != (row.fault is None) for row in rows)
