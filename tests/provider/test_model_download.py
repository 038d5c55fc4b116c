"""One file over a bad line: resumed, bounded, retried, checked; and nobody hears what is not theirs."""

from __future__ import annotations

import hashlib
import urllib.request
from email.message import Message
from pathlib import Path

import pytest
from wheel_index import WheelIndex, serving

from jurat.provider.model_download import Downloader, RemoteFile
from jurat.provider.model_http import DownloadError, Session, _CarefulRedirects, credentials_of, shown

CONTENT = bytes(range(256)) * 400  # 102,400 bytes
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Line:
    """A downloader that waits in no time, and a server with one file behind it."""

    def __init__(self, index: WheelIndex, directory: Path) -> None:
        self.index = index
        self.pauses: list[float] = []
        self.told: list[str] = []
        self.seen: list[int] = []
        self.target = directory / "file"
        self.partial = directory / "file.partial"
        self.downloader = Downloader(pause=self.pauses.append, tell=self.told.append)

    def fetch(
        self, *, sha256: str | None = SHA256, size: int | None = len(CONTENT), most: int = len(CONTENT), path: str = "f"
    ) -> None:
        remote = RemoteFile(url=f"{self.index.url}/files/{path}", sha256=sha256, bytes=size)
        self.downloader.file(remote, self.target, most=most, on_bytes=self.seen.append)


@pytest.fixture
def line(tmp_path: Path) -> Line:
    return Line(WheelIndex(files={"f": CONTENT}), tmp_path)


def test_a_file_comes_whole_and_its_progress_is_told(line: Line) -> None:
    with serving(line.index):
        line.fetch()

    assert line.target.read_bytes() == CONTENT
    assert line.seen == sorted(line.seen)
    assert line.seen[-1] == len(CONTENT)
    assert (line.pauses, line.partial.exists()) == ([], False)


def test_a_line_that_breaks_is_taken_up_where_it_broke(line: Line) -> None:
    line.index.cuts = [10_000, 30_000]
    with serving(line.index):
        line.fetch()

    assert line.target.read_bytes() == CONTENT
    assert line.index.ranges_asked == ["bytes=10000-", "bytes=40000-"]
    assert line.index.sent == len(CONTENT)
    assert "the connection ended after 10,000 of 102,400 bytes; trying again in 0 s" in line.told


def test_a_server_without_ranges_begins_anew(line: Line) -> None:
    line.index.cuts = [10_000]
    line.index.ranges = False
    with serving(line.index):
        line.fetch()

    assert line.target.read_bytes() == CONTENT
    assert line.index.sent == len(CONTENT) + 10_000


def test_what_an_earlier_pull_left_is_used(line: Line) -> None:
    line.partial.write_bytes(CONTENT[:90_000])
    with serving(line.index):
        line.fetch()

    assert line.target.read_bytes() == CONTENT
    assert line.index.sent == len(CONTENT) - 90_000


def test_a_complete_partial_file_costs_no_request(line: Line) -> None:
    line.partial.write_bytes(CONTENT)
    with serving(line.index):
        line.fetch()

    assert line.target.read_bytes() == CONTENT
    assert line.index.asked == []


def test_a_complete_partial_file_of_unknown_size_is_fetched_once_more(line: Line) -> None:
    line.partial.write_bytes(CONTENT)
    with serving(line.index):
        line.fetch(size=None)

    assert line.target.read_bytes() == CONTENT
    assert line.index.ranges_asked == ["bytes=102400-"]


def test_a_wrong_beginning_from_an_earlier_pull_is_thrown_away(line: Line) -> None:
    line.partial.write_bytes(b"x" * 90_000)
    with serving(line.index):
        line.fetch()

    assert line.target.read_bytes() == CONTENT


def test_a_file_with_another_hash_is_refused_and_not_kept(line: Line) -> None:
    with serving(line.index), pytest.raises(DownloadError, match=f"has SHA-256 {SHA256}, expected {'0' * 64}"):
        line.fetch(sha256="0" * 64)

    assert (line.target.exists(), line.partial.exists()) == (False, False)


def test_a_line_that_never_gets_further_is_given_up_and_keeps_what_came(line: Line) -> None:
    line.index.cuts = [10_000] + [0] * 20
    with serving(line.index), pytest.raises(DownloadError, match="ended after 10,000 of 102,400 bytes"):
        line.fetch()

    assert line.partial.read_bytes() == CONTENT[:10_000]
    assert len(line.index.asked) == 6
    assert len(line.pauses) == 5


def test_pauses_grow_from_try_to_try(line: Line) -> None:
    line.index.cuts = [0] * 20
    with serving(line.index), pytest.raises(DownloadError):
        line.fetch()

    for pause, longest in zip(line.pauses, [0.5, 1.0, 2.0, 4.0, 8.0], strict=True):
        assert 0.75 * longest <= pause <= longest


def test_a_busy_server_is_asked_again_after_the_pause_it_wants(line: Line) -> None:
    line.index.statuses = [(429, {"Retry-After": "7"}), (503, {}), (503, {"Retry-After": "86400"})]
    with serving(line.index):
        line.fetch()

    assert line.target.read_bytes() == CONTENT
    assert line.pauses[0] == 7.0
    assert line.pauses[2] == 60.0


def test_a_date_to_retry_after_is_understood(line: Line) -> None:
    line.index.statuses = [(503, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"})]
    with serving(line.index):
        line.fetch()

    assert line.pauses == [0.0]


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_a_final_answer_is_not_asked_for_again(line: Line, status: int) -> None:
    line.index.statuses = [(status, {})]
    with serving(line.index), pytest.raises(DownloadError, match=f"the server answered {status}") as caught:
        line.fetch()

    assert caught.value.status == status
    assert len(line.index.asked) == 1
    assert line.pauses == []


def test_more_bytes_than_announced_by_the_index_are_refused_unread(line: Line) -> None:
    with serving(line.index), pytest.raises(DownloadError, match="announces 102,400 bytes, expected 100"):
        line.fetch(size=100)

    assert line.seen == []


def test_more_bytes_than_a_part_can_have_are_refused_unread(line: Line) -> None:
    with serving(line.index), pytest.raises(DownloadError, match="announces 102,400 bytes, expected 102,399"):
        line.fetch(size=None, most=102_399)

    assert line.seen == []


def test_nobody_listening_is_told_in_words(line: Line) -> None:
    with serving(line.index):
        pass  # from here on its port is closed
    with pytest.raises(DownloadError, match=r"the connection failed \(Connection refused\)"):
        line.fetch()

    assert len(line.pauses) == 5


@pytest.mark.parametrize("url", ["ftp://host/f", "file:///etc/passwd", "f", "http://", "http://[", "http://host:x/"])
def test_an_impossible_address_is_refused_at_once(line: Line, url: str) -> None:
    with pytest.raises(DownloadError, match="is no http or https address"):
        line.downloader.page(url, "*/*")

    assert line.pauses == []


def test_an_address_with_spaces_is_refused_at_once(line: Line) -> None:
    with pytest.raises(DownloadError, match="is no valid address"):
        line.downloader.page("http://127.0.0.1/a b", "*/*")

    assert line.pauses == []


def test_credentials_go_to_their_host_alone(line: Line) -> None:
    with serving(line.index) as own, serving(WheelIndex(files={"f": CONTENT})) as other:
        line.downloader.session.credentials.update(credentials_of(own.url.replace("//", "//an%40na:s%20x@")))
        line.fetch()
        own.statuses = [(302, {"Location": f"{own.url}/files/f"})]
        line.fetch()
        own.statuses = [(302, {"Location": f"{other.url}/files/f"})]
        line.fetch()

    basic = "Basic YW5AbmE6cyB4"
    assert [one.headers.get("authorization") for one in own.asked] == [basic, basic, basic, basic]
    assert [one.headers.get("authorization") for one in other.asked] == [None]


def test_credentials_in_an_address_are_not_sent_as_part_of_it_nor_shown(line: Line) -> None:
    with serving(line.index) as index:
        address = index.url.replace("//", "//anna:secret@") + "/files/none?token=secret"
        with pytest.raises(DownloadError) as caught:
            line.downloader.page(address, "*/*")

    assert "secret" not in str(caught.value)
    assert index.asked[0].headers["host"] == index.url.removeprefix("http://")
    assert shown("https://anna:secret@host:1/a?b#c") == "https://host:1/a"


def test_a_redirect_from_https_to_http_is_refused() -> None:
    request = urllib.request.Request("https://host/a")

    with pytest.raises(DownloadError, match="redirects from https to http://host/b"):
        _CarefulRedirects().redirect_request(request, None, 302, "", Message(), "http://host/b")  # type: ignore[arg-type]


def test_a_proxy_of_the_environment_is_used(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving(line.index) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        line.downloader.page("http://index.invalid/files/f", "*/*")

    assert [one.path for one in proxy.asked] == ["http://index.invalid/files/f"]


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "PIP_CERT"])
def test_a_certificate_bundle_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, str(tmp_path / "none.pem"))

    with pytest.raises(DownloadError, match=f"{variable} names .*none.pem, which cannot be read as certificates"):
        Session().open("http://127.0.0.1:1/", {})
