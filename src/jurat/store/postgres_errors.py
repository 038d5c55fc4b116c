"""What PostgreSQL complains of, in sentences that say which server, what stands in the way, and what to do about it.

By the server's five-letter codes (PostgreSQL manual, appendix A), the exact ones before their class. The server's own
text is left out: it may repeat values, and the driver's may repeat the address with its password.
"""

from __future__ import annotations

from jurat.errors import StoreError

__all__ = ["explain", "is_clash", "is_outage", "is_refusal"]

_AGAIN = "the server cut the connection off or is not ready; see that it runs, then try again"
_SENTENCES = {
    "28": "the server refused the user or the password; check both in the store's address",
    "3D": "the server has no such database; create it (createdb), or name another",
    "42501": "the user may not do this; grant it the right to create and write tables in this schema",
    "42P07": "the schema holds a table of another program by the name of one of jurat's; use a database of its own",
    "42P01": "a table of jurat's is missing; use a database of its own, or restore a backup",
    "25006": "the server takes reads only; name the primary server",
    "53100": "the server's disk is full; make room there, then try again: what was committed before stays",
    "53300": "the server has too many connections; close some, or raise its max_connections",
    "53": "the server is out of memory or another resource; relieve it, then try again",
    "57014": "the server cancelled the statement (statement_timeout?); allow it more time, then try again",
    "57": _AGAIN,
    "08": _AGAIN,
    "40": "another process kept writing the same replies; try again",
    "XX": "the server reports an internal fault or damaged data; see its log",
}
_OUTAGES = ("08", "57P")
_CLASHES = ("40001", "40P01")


def explain(error: BaseException, shown: str) -> StoreError:
    """The sentence for an error of the driver's, of the network's, or of the server's."""
    code = _code(error)
    if code:
        sentence = _SENTENCES.get(code) or _SENTENCES.get(code[:2]) or f"the server failed (SQLSTATE {code})"
    elif isinstance(error, TimeoutError):
        sentence = "the server did not answer in time; see that it runs and can be reached, then try again"
    elif isinstance(error, OSError):
        sentence = "the server cannot be reached; check that it runs, and host and port in the store's address"
    elif type(error).__name__ == "ClientConfigurationError":
        sentence = "the driver cannot use the store's address; check its options"
    elif is_outage(error):
        sentence = _AGAIN
    else:
        sentence = f"the driver failed ({type(error).__name__})"
    return StoreError(f"{shown}: {sentence}")


def is_outage(error: BaseException) -> bool:
    """Whether the server is away or was, so that a new connection may do better."""
    # The driver has no code for a connection that closed between two statements, only its most general error.
    lost = isinstance(error, OSError) or type(error).__name__ in ("InterfaceError", "InternalClientError")
    return lost or _code(error).startswith(_OUTAGES)


def is_clash(error: BaseException) -> bool:
    """Whether two transactions stood in each other's way, so that trying again may do."""
    return _code(error) in _CLASHES


def is_refusal(error: BaseException) -> bool:
    """Whether the rows were refused for what they refer to, or for being there already."""
    return _code(error).startswith("23")


def _code(error: BaseException) -> str:
    return getattr(error, "sqlstate", None) or ""
