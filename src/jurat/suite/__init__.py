"""What is evaluated: rows of recorded outputs and how their columns become contexts; and suites, in modules of their
own (`suite`, `case`, `manifest`, `template`, `filter`, `codec`). Pure data.
"""

from jurat.suite.mapping import FIELDS, Columns, Item, parse_mapping
from jurat.suite.rows import Row, file_kind, read_rows

__all__ = ["FIELDS", "Columns", "Item", "Row", "file_kind", "parse_mapping", "read_rows"]
