"""``%agy set`` and ``%agy config``: the settings, and where each comes from."""

from __future__ import annotations

from difflib import get_close_matches

from ..host import Host
from ..tables import table

CHANGES = {"set": 3, "unset": 2}
"""How many words a change of the file has, at least."""


def config(host: Host, words: list[str]) -> str:
    """Show each setting with where it comes from, or change the user's own file."""
    configuration = host.configuration
    if not words:
        configuration.load()
        rows = [
            (f"`{name}`", f"{value} ({source})") for name, value, source in configuration.rows()
        ]
        problems = "".join(f"\n- ⚠ {problem}" for problem in configuration.problems)
        return f"{table(rows)}\n\nYour own file is `{configuration.file}`.{problems}"
    action, name, *value = words
    configuration.save(name, " ".join(value) if action == "set" else None)
    return f"{_now(host, name)}. {where_saved(host, name)}"


def set_here(host: Host, words: list[str]) -> str:
    """Set a value until this kernel ends."""
    name, *value = words
    host.configuration.set(name, " ".join(value))
    return f"{_now(host, name)} until this kernel ends."


def where_saved(host: Host, name: str) -> str:
    """Whether what was saved counts, or something that comes before the file."""
    source, file = host.configuration.origins.get(name, "default"), host.configuration.file
    if source in (str(file), "default"):
        return f"That holds for this and every later kernel; your own file is `{file}`."
    return f"⚠ It is in `{file}`, but {source} comes before that."


def _now(host: Host, name: str) -> str:
    _, value, source = next(row for row in host.configuration.rows() if row[0] == name)
    return f"`{name}` is **{value}** ({source})"


def fits(words: list[str]) -> bool:
    """The name of a setting, and a value."""
    return len(words) > 1 and _is_setting(words[0])


def is_config(words: list[str]) -> bool:
    """Nothing, or a change of a setting."""
    is_change = len(words) >= CHANGES.get(words[0], 99) if words else True
    return not words or (is_change and _is_setting(words[1]))


def _is_setting(name: str) -> bool:
    from ..settings import Settings

    # What is nearly a setting is a slip: its value must not go to the agent as a prompt.
    return bool(get_close_matches(name, Settings.model_fields, n=1, cutoff=0.7))
