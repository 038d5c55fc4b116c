"""Log records without keys: a filter on the loggers of this package and of the HTTP library.

Nothing here logs a key, and aiohttp does not at its usual level; but a level may be set to DEBUG, and an exception may
carry what was sent. So whatever goes through those loggers is rendered first and masked then, before any handler can
cut it: the keys that were sent, to the letter, and whatever else looks like one.
"""

from __future__ import annotations

import logging
import traceback

from jurat.credentials import masked
from jurat.provider.credentials import SENT

__all__ = ["LOGGERS", "Redacting", "guard_logs"]

LOGGERS = (
    *("jurat", "asyncio", "aiohttp", "aiohttp.access", "aiohttp.client", "aiohttp.internal", "aiohttp.server"),
    *("aiohttp.web", "aiohttp.websocket", "charset_normalizer", "keyring"),
)
"""A filter holds for the records of its own logger alone, so each one gets it."""


class Redacting(logging.Filter):
    """Masks keys in a record's text and in its exception."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, masked."""
        try:
            text = record.getMessage()
        except Exception:
            text = "a log record whose arguments do not fit its text"
        record.msg, record.args = masked(text, SENT), None
        if record.exc_info and record.exc_info[0] is not None:
            told = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
            record.exc_text, record.exc_info = masked(told, SENT), None
        elif record.exc_text:
            record.exc_text = masked(record.exc_text, SENT)
        if record.stack_info:
            record.stack_info = masked(record.stack_info, SENT)
        return True


_FILTER = Redacting()


def guard_logs() -> None:
    """Put the filter where records of calls come from; a second time changes nothing."""
    for name in LOGGERS:
        logging.getLogger(name).addFilter(_FILTER)
