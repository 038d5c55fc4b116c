"""The workbench: configuration in, ready parts out. It alone names concrete classes and reads the environment.

A workbench stands in a directory. It reads `jurat.toml` (or `[tool.jurat]` in pyproject.toml) there or in the nearest
parent that has one, looks up providers and rubrics by name, makes judges, and opens the store.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jurat.errors import AuthoringError, ErrorCategory, Fault, RequestError
from jurat.jsontext import Json, canonical, type_name
from jurat.judge import Judge, JudgeSettings
from jurat.provider import Provider, is_shorthand, make_provider, parse_shorthand
from jurat.provider.addresses import holds_key
from jurat.provider.hosts import HostTrust
from jurat.provider.rows import secret_fault
from jurat.regularfiles import read_regular
from jurat.rubric import Rubric, find, read_rubric
from jurat.vocabulary import nearest
from jurat.yamltext import MAX_BYTES

if TYPE_CHECKING:
    from jurat.store import Store

__all__ = ["DEFAULT_PROVIDER", "Config", "Workbench", "read_config"]

DEFAULT_PROVIDER = "local"
"""The provider where none is named: the embedded model, which needs no key and no server."""

_DEFAULT_STORE = ".jurat/jurat.db"
_HOST = re.compile(r"(?:\*\.)?[A-Za-z0-9._:\[\]-]+")
_RUBRIC_FILES = (".yaml", ".yml", ".json")
_KEYS = ("providers", "store", "allowed_hosts", "policy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What a configuration file says.

    Attributes:
        file: where it was found, or None.
        providers: rows by name.
        store: a path or a PostgreSQL URL, or None for the default.
        allowed_hosts: hosts that suites may name, beside vendors' and this machine.
        policy: the rules for suites that have none of their own.
    """

    file: Path | None = None
    providers: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    store: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    policy: tuple[Mapping[str, Json], ...] = ()


def read_config(directory: Path) -> Config:
    """The configuration that holds in a directory: the nearest file, here or in a parent.

    Raises:
        AuthoringError: when that file cannot be read or says something unknown.
    """
    for place in (directory, *directory.parents):
        own, project = place / "jurat.toml", place / "pyproject.toml"
        if own.is_file():
            return _config(_toml(own), own)
        if project.is_file() and (table := _tool_table(project)) is not None:
            return _config(table, project)
    return Config()


def _tool_table(project: Path) -> object:
    tool = _toml(project).get("tool", {})
    if not isinstance(tool, Mapping):
        raise AuthoringError("configuration", [_fault(project, "tool", "a table", type_name(tool))])
    return tool.get("jurat")


def _toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        found = str(error)
    except RecursionError:
        found = "one that nests too deep"
    except ValueError:  # an integer of thousands of digits
        found = "a number that is too long"
    raise AuthoringError("configuration", [_fault(file, "", "a TOML file", found)])


def _config(table: object, file: Path) -> Config:
    faults: list[Fault] = []
    if not isinstance(table, Mapping):
        raise AuthoringError("configuration", [_fault(file, "", "a table", type_name(table))])
    for key in table:
        if key not in _KEYS:
            near = nearest(str(key), _KEYS)
            faults.append(_fault(file, str(key), "one of " + ", ".join(_KEYS), "this key", near))
    store = table.get("store")
    if store is not None and not isinstance(store, str):
        faults.append(_fault(file, "store", "a path or a postgresql URL", type_name(store)))
    elif store is not None and "://" in store and holds_key(store):
        hint = "Put the address into the environment variable JURAT_STORE, or the password into PGPASSWORD or ~/.pgpass"
        expected = "an address without a password, since files are shared"
        faults.append(Fault(path="store", expected=expected, found="one that has some", hint=hint, file=str(file)))
    hosts = table.get("allowed_hosts", [])
    if not isinstance(hosts, list) or not all(isinstance(host, str) and _HOST.fullmatch(host) for host in hosts):
        expected = "a list of hosts, such as gpu.example, *.corp.example or 10.0.0.7"
        faults.append(_fault(file, "allowed_hosts", expected, "something else"))
    providers = _provider_rows(table.get("providers", []), file, faults)
    policy = _rules(table["policy"], file, faults) if "policy" in table else ()
    if faults:
        raise AuthoringError("configuration", faults)
    return Config(file=file, providers=providers, store=store, allowed_hosts=tuple(hosts), policy=policy)


def _rules(values: object, file: Path, faults: list[Fault]) -> tuple[Mapping[str, Json], ...]:
    from jurat.metrics.policy import policy_to_json, read_policy

    found: list[Fault] = []
    rules = policy_to_json(read_policy(values, "policy", found))
    faults += [replace(fault, file=str(file)) for fault in found]
    return tuple(rule for rule in rules if isinstance(rule, dict))


def _provider_rows(rows: object, file: Path, faults: list[Fault]) -> dict[str, Mapping[str, Json]]:
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        faults.append(_fault(file, "providers", "an array of tables", type_name(rows)))
        return {}
    named: dict[str, Mapping[str, Json]] = {}
    for index, row in enumerate(rows):
        name = row.get("name") if isinstance(row, Mapping) else None
        if not isinstance(name, str) or not name.strip():
            faults.append(_fault(file, f"providers[{index}].name", "a name", type_name(name)))
        elif name in named:
            faults.append(_fault(file, f"providers[{index}].name", "a name of its own", "one that is taken"))
        elif (secret := secret_fault(row)) is not None:  # whoever is asked, and be it another
            faults.append(replace(secret, path=f"providers[{index}].{secret.path}", file=str(file)))
        else:
            named[name] = row
    return named


def _fault(file: Path, path: str, expected: str, found: str, near: str | None = None) -> Fault:
    hint = f"Did you mean {near}?" if near else None
    return Fault(path=path, expected=expected, found=found, hint=hint, file=str(file))


def _as_made(_: str, make: Callable[[], Provider]) -> Provider:
    return make()


def _name_of(row: Mapping[str, Json]) -> str:
    return str(row.get("name") or f"{row.get('kind')}:{row.get('model', '')}")


def provider_faults(given: object) -> list[Fault]:
    """What is wrong with providers that a program hands in, as far as their kinds are concerned."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        return [Fault(path="providers", expected="providers by name", found=type_name(given))]
    faults = []
    for name, one in given.items():
        if not isinstance(name, str):
            faults.append(Fault(path="providers", expected="names that are text", found=type_name(name)))
        elif not isinstance(one, str | Mapping | Provider):
            expected = "a provider, a row, a shorthand kind:model or another provider's name"
            faults.append(Fault(path=f"providers.{name[:80]}", expected=expected, found=type_name(one)))
    return faults


class Workbench:
    """Ready parts for one directory.

    Args:
        directory: where files are looked for; the working directory by default.
        providers: further providers by name, which come before all others: rows, objects, shorthands `kind:model`, or
            another provider's name.
        suite_rows: the provider rows of a suite, by name, which come before the configuration's.
        suite_folder: what file names in those rows, and in shorthands, are relative to.
        of_file: whether those rows stand in a file, which may be a stranger's and so not name every host.
        through: gets each provider's name and what makes it, and gives the provider that is used: whoever records
            or replays.
    """

    def __init__(
        self,
        directory: str | Path | None = None,
        *,
        providers: Mapping[str, Provider | Mapping[str, Json] | str] | None = None,
        suite_rows: Mapping[str, Mapping[str, Json]] | None = None,
        suite_folder: Path | None = None,
        of_file: bool = False,
        through: Callable[[str, Callable[[], Provider]], Provider] | None = None,
    ) -> None:
        if faults := provider_faults(providers):
            raise AuthoringError("providers", faults)
        self.directory = Path(directory) if directory is not None else Path.cwd()
        self.config = read_config(self.directory.resolve())
        self._given = dict(providers or {})
        self._suite_rows = dict(suite_rows or {})
        self._suite_folder, self._of_file = suite_folder or self.directory, of_file
        self._through = through or _as_made
        self._made: dict[str, Provider] = {}

    def provider(self, wanted: Provider | Mapping[str, Json] | str | None = None) -> Provider:
        """A provider: one that is given, a row, a name, or a shorthand `kind:model`. One name gives one provider.

        Names are looked up in the call's own providers, then in the suite, then in the configuration file.

        Raises:
            RequestError: `provider_not_found`, with the names that exist.
            AuthoringError: when its row or shorthand is wrong.
        """
        if wanted is None:
            wanted = DEFAULT_PROVIDER
        if isinstance(wanted, Mapping):
            written = canonical(wanted)
            if written not in self._made:  # braces are no name
                make = partial(make_provider, wanted, base_dir=self._suite_folder, trust=self.trust)
                self._made[written] = self._through(_name_of(wanted), make)
            return self._made[written]
        if not isinstance(wanted, str):
            return wanted
        if wanted not in self._made:
            self._made[wanted] = self._through(wanted, partial(self._make, wanted))
        return self._made[wanted]

    @property
    def trust(self) -> HostTrust | None:
        """The hosts that a suite may name: vendors', this machine, and those that the user's own settings allow.

        None where no suite file is at work: what the user's own program says may name any.
        """
        if not self._of_file:
            return None
        more = os.environ.get("JURAT_ALLOWED_HOSTS", "").split(",")
        return HostTrust.of((*self.config.allowed_hosts, *more))

    @property
    def providers(self) -> tuple[Provider, ...]:
        """The providers that were made here so far."""
        return tuple(self._made.values())

    @property
    def names(self) -> list[str]:
        """The names under which providers can be had, sorted."""
        return sorted({*self._given, *self._suite_rows, *self.config.providers, DEFAULT_PROVIDER})

    def _make(self, wanted: str) -> Provider:
        given = self._given.get(wanted)
        if isinstance(given, str):
            if not is_shorthand(given):  # another provider's name
                return self._found(given)
            given = {**parse_shorthand(given), "name": wanted}
        if isinstance(given, Mapping):
            return make_provider({"name": wanted, **given}, base_dir=self.directory)
        return self._found(wanted) if given is None else given

    def _found(self, wanted: str) -> Provider:
        """What the suite or the configuration says of a name, or a shorthand stands for."""
        if (row := self._suite_rows.get(wanted)) is not None:
            return make_provider(row, base_dir=self._suite_folder, trust=self.trust)
        if (row := self.config.providers.get(wanted)) is not None:
            base = self.config.file.parent if self.config.file else self.directory
            return make_provider(row, base_dir=base)
        if is_shorthand(wanted):
            return make_provider(wanted, base_dir=self._suite_folder)
        names = self.names
        near = nearest(wanted, names)
        hint = f"; did you mean {near}?" if near else ""
        message = (
            f"there is no provider {wanted[:80]!r}; there are {', '.join(names)}, and any kind:model such as "
            f"openai:MODEL{hint}"
        )
        raise RequestError(ErrorCategory.PROVIDER_NOT_FOUND, message)

    def rubric(self, wanted: str) -> Rubric:
        """A rubric: a template's reference (`groundedness`, `faithfulness@v1`), or a file that ends in .yaml or .json.

        Raises:
            AuthoringError: when there is none such, or the file holds no valid rubric.
        """
        if not wanted.lower().endswith(_RUBRIC_FILES):
            return find(wanted)
        file = self.directory / wanted
        try:
            text = read_regular(file, MAX_BYTES + 1)
        except OSError as error:
            fault = Fault(
                path="rubric", file=wanted, expected="a file that can be read", found=error.strerror or "none"
            )
            raise AuthoringError("rubric file", [fault]) from None
        return read_rubric(text, wanted)

    def judge(
        self,
        rubric: Rubric | str,
        provider: Provider | str | None = None,
        settings: JudgeSettings | None = None,
        *,
        name: str = "rubric_judge",
    ) -> Judge:
        """A judge, its rubric and provider looked up.

        Raises:
            AuthoringError: for whatever is wrong with rubric, provider or settings.
        """
        resolved = rubric if isinstance(rubric, Rubric) else self.rubric(rubric)
        return Judge(resolved, self.provider(provider), settings, name=name)

    async def open_store(self, address: str | None = None, *, must_exist: bool = False, reads: bool = False) -> Store:
        """The store: at the address, or where the environment or the configuration says, or in `.jurat/`.

        Args:
            must_exist: whether a missing file is a fault. Whoever only reads would otherwise make an empty store.
            reads: whether nothing will be written, so that a full disk is no obstacle.

        Raises:
            AuthoringError: when there has to be a file, and is none.
            StoreError: when it cannot be opened.
        """
        from jurat.store import Store

        place = self.store_place(address)
        if must_exist and isinstance(place, Path) and not place.exists():
            hint = "Run a suite first, or say with --store where runs are kept"
            fault = Fault(path="store", expected="a store that holds runs", found=f"no file {place}", hint=hint)
            raise AuthoringError("store", [fault])
        return await Store.open(place, reads=reads)

    def store_place(self, address: str | None = None) -> str | Path:
        """Where `open_store` opens it: a URL or a path."""
        chosen = address or os.environ.get("JURAT_STORE") or self.config.store or _DEFAULT_STORE
        return chosen if "://" in chosen else self.directory / chosen

    def files_of_providers(self) -> list[tuple[str, Path]]:
        """The files that the configuration's providers name, with the provider's name."""
        base = self.config.file.parent if self.config.file else self.directory
        words = [(name, word) for name, row in self.config.providers.items() for word in row.values()]
        return [(name, base / word) for name, word in words if isinstance(word, str) and "\0" not in word]

    async def aclose(self) -> None:
        """Close the providers that were made here."""
        for provider in self._made.values():
            await provider.aclose()
