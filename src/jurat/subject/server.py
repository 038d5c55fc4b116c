"""A server as the subject: the task becomes a JSON request by a mapping, and a path finds the answer in the reply.

`request` is any JSON value; in its texts `{{input}}`, `{{system}}`, `{{repeat}}` and the case's variables stand for
their values, in one pass. A text that is `{{messages}}` and nothing else becomes the conversation, a list of `role` and
`content`. `output` is the dotted path of the answer in the reply (`choices[0].text`); without it the whole reply is the
answer. The way there is a provider's: the same transport, retries, bounds and errors, and a key that is named by its
environment variable and stands in no record.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from jurat.errors import AuthoringError, ErrorCategory, Fault, ProviderError
from jurat.evaluation.subject import SubjectReply, Task
from jurat.jsontext import Json, JsonSyntaxError, NotJson, canonical, freeze, parse_strict, thaw
from jurat.provider.addresses import BadAddress, checked_base_url, distrusted, mask_url, place
from jurat.provider.credentials import (
    KeySource,
    is_credential_name,
    is_keyring_entry,
    is_variable_name,
    looks_like_credential,
    shown_variable,
)
from jurat.provider.errors_from_http import Destination
from jurat.provider.headers import header_name_fault
from jurat.provider.hosts import HostTrust
from jurat.provider.http import AiohttpTransport, Transport
from jurat.provider.protocol import Call, Raw, Reply
from jurat.provider.retry import RetryPolicy, Timing
from jurat.provider.sender import HttpSender
from jurat.subject.answers import tool_call_faults
from jurat.suite.template import render

__all__ = ["HttpSubject"]

_TIMEOUT_S = 60.0
_HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "gzip, deflate", "User-Agent": "jurat"}
_MESSAGES = re.compile(r"\{\{[ \t]*messages[ \t]*\}\}")
_STEP = re.compile(r"[^.\[\]]+")
_DEFAULT_REQUEST: Mapping[str, Json] = {"input": "{{input}}"}


class HttpSubject:
    """A server that answers.

    Args:
        url: the full address.
        request: the template of the request's JSON.
        output: the path of the answer in the reply; None: the whole reply.
        tool_calls: the path of the list of tool calls in the reply; None: nothing is known of tools.
        headers: further headers, which hold no secret.
        api_key_env: the environment variable of the key; None where none is wanted.
        api_key_keyring: `service/user` of the keyring's entry that holds the key, instead.
        api_key_header: the header that carries it; any but `Authorization` takes it bare.
        timeout_s: the time of one request; all of an answer's tries may take five times as long.
        allow_plain_http: whether http may leave this machine.
        trust: the hosts that it may be at, and their addresses; None: any.

    Raises:
        AuthoringError: with every fault.
    """

    def __init__(
        self,
        url: str,
        *,
        request: Json = _DEFAULT_REQUEST,
        output: str | None = None,
        tool_calls: str | None = None,
        headers: Mapping[str, str] | None = None,
        api_key_env: str | None = None,
        api_key_keyring: str | None = None,
        api_key_header: str = "Authorization",
        timeout_s: float = _TIMEOUT_S,
        allow_plain_http: bool = False,
        trust: HostTrust | None = None,
        transport: Transport | None = None,
        policy: RetryPolicy | None = None,
        timing: Timing | None = None,
    ) -> None:
        self._request, self._path, self._tools = freeze(request), output, tool_calls
        static = dict(headers or {})
        self._url = _checked(
            url, static, allow_plain_http, trust, _key_faults(api_key_env, api_key_keyring, api_key_header)
        )
        variable = shown_variable(api_key_env)
        self._to = Destination(
            where=place(self._url), model="the subject", key_variable=variable, keyring=api_key_keyring
        )
        self._identity: dict[str, Json] = {
            "kind": "http",
            "url": mask_url(self._url),
            "headers": static,
            "request": thaw(self._request),
            "output": output,
            "tool_calls": tool_calls,
        }
        self._prefix = canonical(["http", self._url, static]).encode() + b"\n"
        self._keys = KeySource(api_key_env, {**_HEADERS, **static}, api_key_header, keyring=api_key_keyring)
        self._sender = HttpSender(
            url=self._url,
            headers=self._keys.headers,
            destination=self._to,
            read=_unread,
            tells_key=self._keys.repeated_in if api_key_env or api_key_keyring else None,
            transport=transport or AiohttpTransport(timeout_s=timeout_s, trust=trust),
            policy=policy or RetryPolicy(deadline_s=5 * timeout_s),
            timing=timing,
        )

    @classmethod
    def from_settings(cls, settings: Mapping[str, Json], trust: HostTrust | None = None) -> HttpSubject:
        """The subject that a suite describes.

        Raises:
            AuthoringError: with every fault.
        """
        given = {name: value for name, value in settings.items() if value is not None}
        method = given.pop("method", "POST")
        if str(method).upper() != "POST":
            raise AuthoringError("subject", [Fault(path="http.method", expected="POST", found=repr(method)[:40])])
        return cls(str(given.pop("url")), trust=trust, **given)

    def __repr__(self) -> str:
        return f"<http subject {self._to.where}>"

    @property
    def name(self) -> str:
        """Host and path."""
        return self._to.where

    @property
    def identity(self) -> Mapping[str, Json]:
        """Address, headers and mapping; never the key."""
        return self._identity

    def check(self) -> None:
        """See that there is a key where one is wanted.

        Raises:
            ProviderError: `missing_api_key`, with the variable to set.
        """
        self._keys.headers()

    def prepare(self, task: Task) -> Call:
        """The request.

        Raises:
            AuthoringError: for a placeholder of the mapping without a value, and for pictures and attached documents:
                a request of texts cannot show them.
        """
        _refuse_shown(task)
        body = json.dumps(
            _filled(self._request, _values(task), task), ensure_ascii=False, separators=(",", ":")
        ).encode()
        named = self._prefix + body + b"\n%d" % task.repeat
        return Call(key=hashlib.sha256(named).hexdigest(), body=body)

    async def send(self, call: Call) -> Raw:
        """Ask the server.

        Raises:
            ProviderError: after the last try.
        """
        return await self._sender.send(call.body)

    def read(self, raw: Raw) -> SubjectReply:
        """What it answered.

        Raises:
            ProviderError: `api_error` when there is no answer where the mapping looks for it.
        """
        if self._path is None and self._tools is None:
            return SubjectReply(output=_text(raw.body, self._to.where))
        told = _json(raw.body, self._to.where)
        output = told if self._path is None else _at(told, self._path)
        if output is None:
            raise _no_answer(self._to.where, f"an answer at {self._path}")
        execution = {} if self._tools is None else {"tool_calls": self._called(told)}
        return SubjectReply(output=output if isinstance(output, str) else canonical(output), execution=execution)

    def _called(self, told: Json) -> Json:
        """The tool calls; where the reply has none at the path, none was made."""
        found = _at(told, str(self._tools))
        if tool_call_faults(found):
            raise _no_answer(self._to.where, f"a list of objects with a name at {self._tools}")
        return [] if found is None else found

    async def aclose(self) -> None:
        """Close the running loop's connections. The subject can be asked again afterwards."""
        await self._sender.aclose()


def _unread(_: bytes, __: Destination) -> Reply:
    """Whatever a server of one's own sends with a 200 is a reply; the mapping says later whether it is an answer."""
    return Reply(text=None)


def _key_faults(variable: str | None, entry: str | None, header: str) -> list[Fault]:
    """What is wrong with where the key is; what stands there may be the key itself, and is not repeated."""
    odd = header_name_fault(header, "http.api_key_header")
    faults = [] if odd is None else [odd]
    if variable is not None and not is_variable_name(variable):
        expected = "the name of an environment variable"
        faults.append(Fault(path="http.api_key_env", expected=expected, found="something else"))
    if entry is not None and not is_keyring_entry(entry):
        expected = "service/user of a keyring's entry"
        faults.append(Fault(path="http.api_key_keyring", expected=expected, found="something else"))
    if variable is not None and entry is not None:
        beside = "api_key_env beside it"
        faults.append(Fault(path="http.api_key_keyring", expected="one place of the key", found=beside))
    return faults


def _checked(
    url: str, headers: Mapping[str, str], allow_plain_http: bool, trust: HostTrust | None, faults: list[Fault]
) -> str:
    for name, value in headers.items():
        if (odd := header_name_fault(name, f"http.headers.{name}")) is not None:
            faults.append(odd)
        if is_credential_name(name) or looks_like_credential(value):
            hint = "Name the key's variable: api_key_env"
            faults.append(Fault(path=f"http.headers.{name}", expected="no secret", found="what may be one", hint=hint))
    try:
        checked = checked_base_url(url, allow_plain_http=allow_plain_http)
        if trust is not None and (stranger := distrusted(checked, trust)) is not None:
            raise stranger
    except BadAddress as bad:
        faults.append(Fault(path="http.url", expected=bad.expected, found=bad.found, hint=bad.hint))
        checked = url
    if faults:
        raise AuthoringError("subject", faults)
    return checked


def _refuse_shown(task: Task) -> None:
    """A request of texts that left pictures out would ask something else."""
    hint = "Ask it from a function of yours (subject: {python: …}), which is given the bytes"
    faults = [
        Fault(
            path=f"messages[{index}].{path}", expected="text, which the request can hold", found="a picture", hint=hint
        )
        for index, message in enumerate(task.messages)
        for path, _ in message.pictures()
    ]
    if task.attached:
        found = "an attached one"
        faults.append(Fault(path="documents", expected="documents that the server is not sent", found=found, hint=hint))
    if faults:
        raise AuthoringError("conversation for a server", faults)


def _values(task: Task) -> dict[str, Json]:
    values: dict[str, Json] = {**task.variables, "repeat": task.repeat}
    if task.rendered_input is not None:
        values["input"] = task.rendered_input
    elif task.messages:
        values["input"] = task.messages[-1].visible_text
    values.setdefault("system", task.system or "")
    return values


def _filled(value: Json, values: Mapping[str, Json], task: Task) -> Json:
    if isinstance(value, str):
        if _MESSAGES.fullmatch(value) and "messages" not in values:
            return [{"role": message.role.value, "content": message.visible_text} for message in task.messages]
        return render(value, values)
    if isinstance(value, Mapping):
        return {key: _filled(part, values, task) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_filled(part, values, task) for part in value]
    return value


def _text(body: bytes, where: str) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise _no_answer(where, "text in UTF-8") from None


def _json(body: bytes, where: str) -> Json:
    try:
        told: Json = freeze(parse_strict(body.decode()))
    except (UnicodeDecodeError, JsonSyntaxError, NotJson):
        raise _no_answer(where, "one JSON value, no key of an object twice") from None
    return told


def _no_answer(where: str, expected: str) -> ProviderError:
    hint = "Is the subject's mapping right? See docs/subjects.md"
    what = f"the reply from {where} holds no answer: expected {expected}. {hint}"
    return ProviderError(ErrorCategory.API_ERROR, what, status=200)


def _at(value: Any, path: str) -> Json:
    """What stands at a dotted path with array indexes; None where nothing does."""
    for step in _STEP.findall(path):
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list | tuple) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value
