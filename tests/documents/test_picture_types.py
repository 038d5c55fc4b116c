"""Pictures that models are shown: what they are, by their content, and what is none."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.documents import picture_type
from jurat.errors import AuthoringError
from papers import jpeg, png

GIF = b"GIF89a" + struct.pack("<HH", 3, 2) + b"\x00\x00\x00" + b"\x2c" + bytes(9) + b"\x02\x00\x3b"
WEBP = b"RIFF" + struct.pack("<I", 16) + b"WEBPVP8L" + struct.pack("<I", 4) + b"\x2f\x00\x00\x00"


@pytest.mark.parametrize(
    ("data", "name", "media_type"),
    [
        (png(4, 4), "a.png", "image/png"),
        (png(4, 4), "without an ending", None),
        (jpeg(4, 4), "a.JPG", "image/jpeg"),
        (jpeg(4, 4), "a.jpeg", "image/jpg"),
        (GIF, "a.gif", None),
        (WEBP, "a.webp", "image/webp"),
    ],
)
def test_a_picture_is_what_its_content_says(data: bytes, name: str, media_type: str | None) -> None:
    kind = {b"\x89P": "image/png", b"\xff\xd8": "image/jpeg", b"GI": "image/gif", b"RI": "image/webp"}[data[:2]]
    assert picture_type(data, name, media_type=media_type) == kind


@pytest.mark.parametrize(
    ("data", "name", "media_type", "told"),
    [
        (png(4, 4), "a.jpg", None, "expected JPEG, as the ending says, found PNG"),
        (GIF, "a.gif", "image/webp", "expected WebP, as the media type says, found GIF"),
        (GIF, "a.gif", "text/plain", "expected 'text/plain', as the media type says, found GIF"),
        (b"", "a.png", None, "expected a picture: PNG, JPEG, GIF or WebP, found an empty file"),
        (b"hello", "a.png", None, "expected a picture: PNG, JPEG, GIF or WebP, found something else"),
        (b"<svg xmlns='x'/>", "a.svg", None, "found another kind of picture. Convert it to PNG"),
        (png(4, 4)[:-1], "a.png", None, "expected a PNG, found one that is cut off"),
        (jpeg(4, 4)[:-2], "a.jpg", None, "expected a JPEG, found a damaged one, or one that is cut off"),
        (GIF[:12], "a.gif", None, "expected a GIF, found one that is damaged or cut off"),
        (WEBP[:-1], "a.webp", None, "expected a WebP, found one that is damaged or cut off"),
        (WEBP.replace(b"VP8L", b"VP9 "), "a.webp", None, "expected a WebP, found one that is damaged or cut off"),
    ],
)
def test_what_is_no_sound_picture_of_its_kind_is_told(
    data: bytes, name: str, media_type: str | None, told: str
) -> None:
    with pytest.raises(AuthoringError) as caught:
        picture_type(data, name, media_type=media_type)
    assert told in str(caught.value.faults[0])


@given(st.sampled_from([png(2, 2), jpeg(2, 2), GIF, WEBP]), st.data())
def test_no_bytes_make_it_crash(data: bytes, draw: st.DataObject) -> None:
    at = draw.draw(st.integers(0, len(data)))
    damaged = data[:at] + draw.draw(st.binary(max_size=4)) + data[at + draw.draw(st.integers(0, 4)) :]
    try:
        kind = picture_type(damaged)
    except AuthoringError as error:
        kind = f"{len(error.faults)} fault"
    assert kind in ("image/png", "image/jpeg", "image/gif", "image/webp", "1 fault")
