"""Laying files out anew: nothing that is said is changed, no comment is lost, and twice is as good as once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from jurat.errors import AuthoringError
from jurat.yamlformat import format_document
from jurat.yamltext import parse_yaml, to_yaml

WRITTEN = """\
# A suite.

schema_version:    1
suite: 'capital-cities'   # by hand
prompt: |  # what is asked
    First.

    Then: what is the capital of {{country}}?


cases:
    - name: "france"
      variables: { country: France,   capital: 'Paris' }  # short
      labels: [smoke, # fast
        eu]

    # The next one is hard.
    -   # really
        name: no
        metadata:
          # who
          owner: ann
          # nobody after her
    - {name: spain, variables: {country: "Spain, again"}}
policy: []

# the end
"""

LAID_OUT = """\
# A suite.

schema_version: 1
suite: capital-cities  # by hand
prompt: |  # what is asked
  First.

  Then: what is the capital of {{country}}?

cases:
  - name: france
    variables: {country: France, capital: Paris}  # short
    labels:
      - smoke  # fast
      - eu

  # The next one is hard.
  # really
  - name: "no"
    metadata:
      # who
      owner: ann
  # nobody after her
  - {name: spain, variables: {country: "Spain, again"}}
policy: []

# the end
"""


def laid_out(text: str, file: str = "suite.yaml") -> str:
    return format_document(text.encode(), file)


def test_a_file_is_laid_out_with_its_comments_blank_lines_and_short_brackets() -> None:
    assert laid_out(WRITTEN) == LAID_OUT


def test_a_file_that_is_laid_out_stays_as_it_is() -> None:
    assert laid_out(LAID_OUT) == LAID_OUT


def test_windows_line_ends_and_a_byte_order_mark_make_no_difference() -> None:
    assert format_document(b"\xef\xbb\xbf" + WRITTEN.replace("\n", "\r\n").encode(), "suite.yaml") == LAID_OUT


def test_brackets_that_are_too_wide_are_written_out() -> None:
    wide = {"type": "contains", "value": "x" * 70, "name": "y" * 70}
    written = f"assertions:\n  - {{type: contains, value: {wide['value']}, name: {wide['name']}}}\n"

    assert (
        laid_out(written) == f"assertions:\n  - type: contains\n    value: {wide['value']}\n    name: {wide['name']}\n"
    )


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("a: 0.80\n", "a: 0.80\n"),
        ("a:\n", "a: null\n"),
        ("---\na: 'x # y' # z\n", 'a: "x # y"  # z\n'),
        ("a: {b: 1 # c\n  }\n", "a:\n  b: 1  # c\n"),
        ("- [ # c\n  x]\n", "- [x]  # c\n"),
        ("? a\n: b\n", "a: b\n"),
        ("a: [] # c\n", "a: []  # c\n"),
        ("a: | # c", 'a: ""  # c\n'),
        ("[]\n", "[]\n"),
        ("plain text # c\n", '"plain text"\n# c\n'),
    ],
)
def test_a_spelling_has_one_form(written: str, expected: str) -> None:
    assert laid_out(written) == expected
    assert laid_out(expected) == expected


def test_json_is_indented_and_keeps_the_order_of_its_keys() -> None:
    assert laid_out('{"b":1,"a":["é",{}]}', "suite.json") == '{\n  "b": 1,\n  "a": [\n    "é",\n    {}\n  ]\n}\n'


@pytest.mark.parametrize("text", ["a: 1\na: 2\n", "a: &x 1\n", "a: [1\n", "", "{", "a: *x\n"])
def test_what_is_no_sound_document_is_refused(text: str) -> None:
    with pytest.raises(AuthoringError):
        laid_out(text)


leaves = st.one_of(
    st.text(alphabet="ab #:-'\"\n{}[],é&*!|>%@", max_size=20),
    st.integers(-5, 5),
    st.booleans(),
    st.none(),
    st.floats(allow_nan=False, allow_infinity=False, width=16),
)
keys = st.text(alphabet="abé #:-", min_size=1, max_size=6)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)
documents = st.dictionaries(keys, values, min_size=1, max_size=4) | st.lists(values, min_size=1, max_size=4)


@st.composite
def written(draw: Any) -> str:
    """YAML with comments and blank lines strewn in, some of which change what it says, or spoil it."""
    value = draw(documents)
    text = draw(st.sampled_from([to_yaml(value), json.dumps(value, ensure_ascii=False) + "\n"]))
    made = []
    for line in text.removesuffix("\n").split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        match draw(st.integers(0, 7)):
            case 0:
                made += [f"{indent}# above", line]
            case 1:
                made.append(f"{line} # beside")
            case 2:
                made += ["", line]
            case 3:
                made += [line, f"{indent}  # below"]
            case 4:
                made.append(line.replace(", ", ", # between\n  ", 1))
            case _:
                made.append(line)
    return "\n".join(made) + "\n"


@settings(deadline=None)
@given(written())
def test_laying_out_changes_nothing_that_is_said_loses_no_comment_and_is_done_after_once(text: str) -> None:
    try:
        before = parse_yaml(text).value
    except AuthoringError:
        assume(False)
    after = laid_out(text)

    assert json.dumps(parse_yaml(after).value) == json.dumps(before)
    assert laid_out(after) == after


@settings(deadline=None)
@given(st.text(max_size=80) | st.text(alphabet="ab:- \n#|>'\"[]{},?&*!%", max_size=60))
def test_no_text_crashes_the_layout(text: str) -> None:
    for file in ("x.yaml", "x.json"):
        try:
            made = format_document(text.encode("utf-8", "surrogatepass"), file)
        except AuthoringError:
            continue
        assert format_document(made.encode(), file) == made


@pytest.mark.parametrize("spelling", ["0o17", "0x1F", "1e3", "1.10", "+5", "012", ".5", "-2.5E-1"])
def test_a_number_keeps_its_spelling(spelling: str) -> None:
    written = f"a: {spelling}\nb:\n  - {spelling}  # why\n  - {{c: [{spelling}, 1]}}\n"

    assert laid_out(written) == written


def test_a_number_keeps_its_spelling_in_json() -> None:
    made = format_document(b'{"a": 1e3, "b": [1.0, -0, {"c": 1E-2}], "d": {}}', "suite.json")

    assert made == '{\n  "a": 1e3,\n  "b": [\n    1.0,\n    -0,\n    {\n      "c": 1E-2\n    }\n  ],\n  "d": {}\n}\n'


@pytest.mark.parametrize(
    "escape", ["\\u202e", "\\u200b", "\\u2066", "\\u00ad", "\\ufeff", "\\u2028", "\\u0085", "\\U000e0041"]
)
def test_what_cannot_be_seen_stays_an_escape(escape: str) -> None:
    for text in (f"a{escape}b", f"two\\nlines{escape}", "long " * 30 + escape):
        written = f'a: "{text}"\n"k{escape}": ["{text}"]\n'

        made = laid_out(written)

        assert made.count(escape) == 3
        assert all(character.isprintable() or character == "\n" for character in made)


def test_in_json_too_what_cannot_be_seen_stays_an_escape() -> None:
    assert format_document(b'{"a": "\\u202e", "\\u200b": "\\udb40\\udc41"}', "a.json") == (
        '{\n  "a": "\\u202e",\n  "\\u200b": "\\udb40\\udc41"\n}\n'
    )


def test_joiners_stay_where_they_join_and_are_told_elsewhere() -> None:
    family, word = "\U0001f468\u200d\U0001f467", "\u0645\u06cc\u200c\u062e"

    assert laid_out(f'a: "{family} {word}"\nb: "pass\u200dword"\n') == (f'a: "{family} {word}"\nb: "pass\\u200dword"\n')
