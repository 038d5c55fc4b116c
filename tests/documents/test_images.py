"""Pictures: their size comes from the header, and a damaged file is a fault."""

from __future__ import annotations

import pytest

from jurat.documents.faults import Unreadable
from jurat.documents.images import jpeg_size, png_size
from papers import jpeg, png


@pytest.mark.parametrize("size", [(1, 1), (640, 480), (65_535, 40_000)])
def test_width_and_height_are_read_from_the_header(size: tuple[int, int]) -> None:
    assert png_size(png(*size)) == size
    assert jpeg_size(jpeg(*size)) == size


def test_a_png_with_a_wrong_checksum_is_damaged() -> None:
    data = bytearray(png(3, 2))
    data[20] ^= 1

    with pytest.raises(Unreadable, match=r"a damaged one \(checksum of the part at byte 9\)"):
        png_size(bytes(data))


def test_a_png_that_is_cut_off_is_told() -> None:
    with pytest.raises(Unreadable, match="one that is cut off"):
        png_size(png(3, 2)[:-12])


@pytest.mark.parametrize("size", [(0, 2), (3, 0), (2**31, 1)])
def test_a_png_without_an_area_is_refused(size: tuple[int, int]) -> None:
    with pytest.raises(Unreadable, match=f"found one of {size[0]} × {size[1]} pixels"):
        png_size(png(*size))


def test_a_picture_of_a_billion_pixels_costs_no_more_than_its_header() -> None:
    assert png_size(png(2**31 - 1, 2**31 - 1)) == (2147483647, 2147483647)


@pytest.mark.parametrize("length", range(2, len(jpeg(64, 48))))
def test_a_jpeg_that_is_cut_off_is_told(length: int) -> None:
    with pytest.raises(Unreadable, match="a damaged one, or one that is cut off"):
        jpeg_size(jpeg(64, 48)[:length])


def test_a_jpeg_without_a_size_is_refused() -> None:
    with pytest.raises(Unreadable, match="a damaged one"):
        jpeg_size(jpeg(64, 0))
