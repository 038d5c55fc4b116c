"""`jurat providers`: who can be asked, and what a model can do.

Nothing here reaches the network, and no key is shown: only whether its variable is set, or the keyring has its entry.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jurat.cli._exits import exits
from jurat.cli._stdout import line, say_json
from jurat.cli._text import visible

if TYPE_CHECKING:
    from jurat.provider import ProviderSettings
    from jurat.workbench import Workbench

__all__ = ["app"]

app = typer.Typer(help="List who can be asked, or show what a model can do.", invoke_without_command=True)


class Form(StrEnum):
    """How it is printed."""

    CONSOLE = "console"
    JSON = "json"


@app.callback()
def providers(
    context: typer.Context,
    form: Annotated[Form, typer.Option("--format", help="How to print the list.")] = Form.CONSOLE,
) -> None:
    """List the providers of the configuration, and every kind with its address and its key's variable."""
    if context.invoked_subcommand is not None:
        return
    from jurat.workbench import Workbench

    with exits():
        bench = Workbench(Path.cwd())
        told = {
            "configured": [_facts(bench.provider(name).settings) for name in bench.config.providers],
            "kinds": _kinds(),
        }
    say_json(told) if form is Form.JSON else line(_list(told))


@app.command()
def capabilities(
    model: Annotated[str, typer.Argument(metavar="NAME|KIND:MODEL|MODEL", help="A provider, or a model.")],
    form: Annotated[Form, typer.Option("--format", help="How to print them.")] = Form.CONSOLE,
) -> None:
    """Show what a model can do, and whose word that is: the author's, the table's, or the default of the kind.

    A model without a kind is shown for every kind whose table knows it.
    """
    from jurat.provider.capabilities import table_revision
    from jurat.workbench import Workbench

    with exits():
        found = _found(Workbench(Path.cwd()), model)
    if form is Form.JSON:
        say_json({"table": table_revision(), "models": found})
    else:
        line("\n\n".join(_block(one) for one in found) + f"\n\ntable of models: {table_revision()}")


def _found(bench: Workbench, asked: str) -> list[dict[str, Any]]:
    from jurat.provider import is_shorthand
    from jurat.provider.capabilities import capabilities_for, knows, usual_api
    from jurat.provider.rows import KINDS

    row = bench.config.providers.get(asked)
    if row is not None:
        return [_able(bench.provider(asked).settings, row.get("capabilities"))]
    if is_shorthand(asked):
        return [_able(_of_nowhere(bench, asked))]
    kinds = [kind for kind in KINDS if knows(kind, asked)]
    if not kinds:
        bench.provider(asked)  # says which names there are
    from jurat.provider import ProviderSettings

    return [
        _able(
            ProviderSettings(
                name=f"{kind}:{asked}",
                kind=kind,
                model=asked,
                api=usual_api(kind, asked),
                capabilities=capabilities_for(kind, asked),
            )
        )
        for kind in kinds
    ]


def _of_nowhere(bench: Workbench, asked: str) -> ProviderSettings:
    """What `kind:model` stands for. Where the kind's servers are elsewhere for everybody, any address will do."""
    from jurat.provider import make_provider, parse_shorthand
    from jurat.provider.rows import PRESETS

    row = parse_shorthand(asked)
    preset = PRESETS.get(str(row["kind"]))
    if preset is None or preset.base_url:
        return bench.provider(asked).settings
    return make_provider({**row, "base_url": "https://host.invalid"}).settings


def _able(settings: ProviderSettings, declared: Any = None) -> dict[str, Any]:
    from jurat.provider.capabilities import capability_sources

    sources = capability_sources(settings.kind, settings.model, declared)
    values = asdict(settings.capabilities)
    return {
        "name": settings.name,
        "kind": settings.kind,
        "model": settings.model,
        "api": settings.api or None,
        "capabilities": {name: {"value": value, "source": sources[name]} for name, value in values.items()},
    }


def _facts(settings: ProviderSettings) -> dict[str, Any]:
    from jurat.provider.credentials import keyring_has

    variable, entry = settings.api_key_env, settings.api_key_keyring
    return {
        "name": settings.name,
        "kind": settings.kind,
        "model": settings.model,
        "endpoint": settings.endpoint or None,
        "api_key_env": variable,
        "api_key_keyring": entry,
        "key_is_set": keyring_has(entry) if entry else bool(os.environ.get(variable)) if variable else None,
    }


def _kinds() -> list[dict[str, Any]]:
    from jurat.provider.rows import KINDS, PRESETS

    listed: list[dict[str, Any]] = []
    for kind in KINDS:
        preset = PRESETS.get(kind)
        variable = preset.api_key_env if preset else ""
        listed.append(
            {
                "kind": kind,
                "endpoint": (preset.base_url if preset else "") or None,
                "api_key_env": variable or None,
                "key_is_set": bool(os.environ.get(variable)) if variable else None,
            }
        )
    return listed


# --- For people ------------------------------------------------------------------------------------------------------


def _list(told: dict[str, list[dict[str, Any]]]) -> str:
    lines: list[str] = []
    for one in told["configured"]:
        lines.append(f"{one['name']:<18}{one['kind']}:{one['model']}")
        lines += [f"{'':<18}{_where(one)}"] if _where(one) else []
    lines += ["", f"{'kind':<18}address and key"] if lines else [f"{'kind':<18}address and key"]
    lines += [f"{one['kind']:<18}{_where(one)}" for one in told["kinds"]]
    return "\n".join(visible(text).rstrip() for text in lines)


def _where(one: dict[str, Any]) -> str:
    key, entry = one["api_key_env"], one.get("api_key_keyring")
    words = [one["endpoint"] or "", f"{key} is {'set' if one['key_is_set'] else 'not set'}" if key else ""]
    words.append(f"the keyring has {'' if one['key_is_set'] else 'no '}{entry}" if entry else "")
    return ", ".join(word for word in words if word)


def _block(one: dict[str, Any]) -> str:
    lines = [f"{one['kind']}:{one['model']}" + (f" (by the interface {one['api']})" if one["api"] else "")]
    for name, told in one["capabilities"].items():
        lines.append(f"  {name:<25}{_word(told['value']):<26}{told['source']}")
    return "\n".join(visible(text).rstrip() for text in lines)


def _word(value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return ", ".join(value) or "none" if isinstance(value, tuple) else str(value)
