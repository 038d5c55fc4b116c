"""What models are shown as it is: the pictures of messages, and documents that are attached. Their bytes are read here.

What a picture is, its content says; a name or a media type that says otherwise is a fault, and so is a file that has
changed since its hash was recorded. A file that many cases show is read once, and its fault told once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from jurat.documents import MAX_DOCUMENT_BYTES, picture_type
from jurat.errors import AuthoringError, Fault
from jurat.evidence import MAX_IMAGE_BYTES, Block, ImageBlock, Message, ToolResultBlock
from jurat.folderfiles import FolderFiles
from jurat.suite.case import Case, CaseDocument
from jurat.suite.suite import Suite
from jurat.suite.template import placeholders, render

__all__ = ["MAX_SHOWN", "with_bytes"]

MAX_SHOWN = 2**30
"""The most bytes that the pictures and attached documents of one suite may have together."""

_ATTACHED = ("application/pdf", "image/png", "image/jpeg")


def with_bytes(suite: Suite, files: FolderFiles, faults: list[Fault]) -> Suite:
    """The suite with the bytes of what it shows, checked.

    Args:
        suite: its documents are read already.
        faults: everything that is wrong is added, with the path in the suite.
    """
    work = _Showing(files, faults)
    used = (prompt for prompt in suite.prompts if suite.subject.prompt in (None, prompt.name))
    asked = next(used, None)
    templates = tuple(_templates(asked.messages)) if asked is not None else ()
    return replace(
        suite,
        cases=tuple(work.case(case, f"cases[{index}]", templates) for index, case in enumerate(suite.cases)),
        prompts=tuple(
            replace(prompt, messages=work.messages(prompt.messages, f"prompts[{index}].messages"))
            for index, prompt in enumerate(suite.prompts)
        ),
    )


def _templates(messages: tuple[Message, ...]) -> Iterator[ImageBlock]:
    """The pictures that are another one for each case."""
    for message in messages:
        yield from (picture for _, picture in message.pictures() if placeholders(picture.path or ""))


def _rendered(block: ImageBlock, case: Case) -> ImageBlock | None:
    """A picture whose path's placeholders are filled; None where that cannot be done, which is told elsewhere."""
    try:
        return replace(block, path=render(block.path or "", case.variables))
    except AuthoringError:
        return None


class _Showing:
    def __init__(self, files: FolderFiles, faults: list[Fault]) -> None:
        self._files, self._faults = files, faults
        self._read: dict[str, bytes | None] = {}
        self._left = MAX_SHOWN
        self._case: Case | None = None

    def case(self, case: Case, path: str, templates: Sequence[ImageBlock] = ()) -> Case:
        """A case; the very same one where it shows nothing.

        Args:
            templates: the pictures of its prompt whose paths its variables decide.
        """
        self._case = case
        messages = self.messages(case.messages, f"{path}.messages")
        pictures = case.pictures
        if templates and case.output is None:
            pictures = tuple(self._of_variables(templates, f"{path}.variables"))
        documents = case.documents
        if any(document.attach for document in documents):
            documents = tuple(
                self._document(document, f"{path}.documents[{index}]") for index, document in enumerate(documents)
            )
        self._case = None
        if messages is case.messages and documents is case.documents and pictures is case.pictures:
            return case
        return replace(case, messages=messages, documents=documents, pictures=pictures)

    def _of_variables(self, templates: Sequence[ImageBlock], path: str) -> Iterator[ImageBlock]:
        """The pictures of the prompt, as the case's variables have them."""
        assert self._case is not None  # noqa: S101 (who calls has one)
        recorded = {picture.path: picture for picture in self._case.pictures}
        for block in templates:
            filled = _rendered(block, self._case)
            if filled is not None:
                yield self._picture(recorded.get(filled.path, filled), path, own=True)

    def messages(self, messages: tuple[Message, ...], path: str) -> tuple[Message, ...]:
        """Messages; the very same ones where none shows a picture."""
        if not any(True for message in messages for _ in message.pictures()):
            return messages
        return tuple(self._message(message, f"{path}[{index}]") for index, message in enumerate(messages))

    def _message(self, message: Message, path: str) -> Message:
        if isinstance(message.content, str):
            return message
        return replace(message, content=self._blocks(message.content, f"{path}.content"))

    def _blocks(self, blocks: tuple[Block, ...], path: str) -> tuple[Block, ...]:
        return tuple(self._block(block, f"{path}[{index}]") for index, block in enumerate(blocks))

    def _block(self, block: Block, path: str) -> Block:
        if isinstance(block, ToolResultBlock):
            return replace(block, content=self._blocks(block.content, f"{path}.content"))
        if not isinstance(block, ImageBlock):
            return block
        if not placeholders(block.path or ""):
            return self._picture(block, path)
        filled = None if self._case is None else _rendered(block, self._case)
        return block if filled is None else self._picture(filled, path)

    def _picture(self, block: ImageBlock, path: str, *, own: bool = False) -> ImageBlock:
        """A picture with its bytes. `own`: the path is that of the value which names it."""
        case = self._case
        if case is not None and case.output is not None and block.data is None and block.sha256 is not None:
            return block  # nobody is shown it: what was recorded of it is enough
        if block.path is not None and block.data is None:
            path = path if own else f"{path}.path"
            data = self._content(block.path, path, MAX_IMAGE_BYTES)
        else:
            data, path = block.data, f"{path}.data"
        if data is None:
            return block
        try:
            media_type = picture_type(data, block.path or "", media_type=block.media_type)
        except AuthoringError as error:
            named = f" ({block.path})" if block.path else ""
            self._faults += [replace(one, path=path, found=one.found + named, file=None) for one in error.faults]
            return block
        self._refuse_changed(data, block.sha256, path, "picture")
        return replace(block, media_type=media_type, data=data)

    def _document(self, document: CaseDocument, path: str) -> CaseDocument:
        if not document.attach or document.sha256 is None:
            return document  # what could not be read has been told
        if document.path is None or document.media_type not in _ATTACHED:
            expected = "a PDF, PNG or JPEG, which a model can be shown as it is"
            hint = "Let the prompt say its text, with a variable"
            self._faults.append(
                Fault(path=f"{path}.attach", expected=expected, found=f"{document.media_type}", hint=hint)
            )
            return document
        data = self._content(document.path, path, MAX_DOCUMENT_BYTES)
        if data is None:
            return document
        self._refuse_changed(data, document.sha256, path, "document")
        return replace(document, data=data)

    def _refuse_changed(self, data: bytes, sha256: str | None, path: str, what: str) -> None:
        if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256:
            expected = f"the {what} whose hash was recorded, {sha256[:16]}…"
            self._faults.append(Fault(path=path, expected=expected, found="another one"))

    def _content(self, name: str, path: str, limit: int) -> bytes | None:
        """The bytes of a file; None where they cannot be had, which has been told then."""
        if name not in self._read:
            self._read[name] = self._first_read(name, path, limit)
        return self._read[name]

    def _first_read(self, name: str, path: str, limit: int) -> bytes | None:
        if self._left < 0:
            return None
        try:
            data = self._files.read(name, limit=limit)
        except AuthoringError as error:
            self._faults += [replace(fault, path=path, file=None) for fault in error.faults]
            return None
        self._left -= len(data)
        if self._left < 0:
            expected = f"pictures and attached documents of at most {MAX_SHOWN // 2**20:,} MiB together"
            self._faults.append(Fault(path=path, expected=expected, found="more"))
            return None
        return data
