"""``%agy auth``, ``%agy auth METHOD`` and ``%agy auth logout``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from ..abilities import AuthMethod
from ..agents import catalogue
from ..errors import AgentError, AuthenticationRequired, CommandError, SettingsError, TurnCancelled
from ..host import Host
from ..questions import Confirmation
from ..tables import table
from . import antigravity
from .methods import Groups, Methods

LOGOUT = "logout"
LOST = "Its `logout` is called: what it remembers of your sign-in is gone, for every program."
KEPT = (
    "It does not touch variables of the environment, nor what you have granted at a web site, "
    "nor the login of another program such as the agy CLI."
)


def fits(words: list[str]) -> bool:
    """Whether words behind ``%agy auth`` are arguments, and no prompt."""
    return len(words) < 2 or (words[0] in antigravity.WITH_PROJECT and len(words) == 3)


def auth(host: Host, words: list[str]) -> str:
    """Show how to sign in, sign in by a method, or sign out."""
    if words == [LOGOUT]:
        return _sign_out(host)
    methods = _methods(host)
    if not words:
        return _overview(host, methods)
    if (method := methods.find(words[0])) is None:
        offered = ", ".join(m.id for m in methods.offered) or "none"
        raise CommandError(
            f"the agent has no sign-in method {words[0]!r}. It offers: {offered}. "
            f"To send this as a prompt: %agy -- auth {' '.join(words)}"
        )
    gcp = dict(zip(("project", "location"), words[1:], strict=False))
    return _sign_in(host, methods, method, gcp)


def _methods(host: Host) -> Methods:
    settings = host.settings
    engine = host.wait_for(host.conversation.running())
    return Methods.of(catalogue.find(settings.agent, settings.acp_bin), engine.auth_methods)


# -- what there is


def _overview(host: Host, methods: Methods) -> str:
    label = host.conversation.info.label
    parts = [f"**{label}**: {_state(host)}"]
    chosen = host.settings.auth or methods.settings.get("auth", {}).get("type", "")
    rows = [(_name(m, chosen), _described(methods, m)) for m in methods.offered]
    parts += [table(rows)] if rows else ["It offers no sign-in method."]
    if methods.is_antigravity:
        parts += _about_antigravity(methods)
    elif methods.launch.sign_in:
        parts.append(methods.launch.sign_in)
    return "\n\n".join(parts)


def _state(host: Host) -> str:
    try:
        host.wait_for(host.conversation.ready())
    except AuthenticationRequired as error:
        return f"not signed in. {str(error).partition(chr(10))[0]}"
    except AgentError as error:
        return f"whether it is signed in is not known: {str(error).partition(chr(10))[0]}"
    return "signed in, or it needs no sign-in: it has opened a session."


def _name(method: AuthMethod, chosen: str) -> str:
    return f"`{method.id}`{' (chosen)' if method.id == chosen else ''}"


def _described(methods: Methods, method: AuthMethod) -> str:
    needs = methods.needs(method)
    sentences = [method.name, method.description, f"Needs {needs}" if needs else ""]
    sentences += [f"See {method.link}"] if method.link else []
    told = " ".join(f"{s.rstrip('.')}." for s in sentences if s)
    return f"{told} {methods.way(method)[0].upper()}{methods.way(method)[1:]}"


def _about_antigravity(methods: Methods) -> list[str]:
    file = antigravity.settings_file(methods.env)
    said = [f"Its settings are in `{file}`: the method is `auth.type` there."]
    try:
        antigravity.read(file)
    except SettingsError as error:
        said.append(f"⚠ {error}")
    has_cli = antigravity.cli_folder(methods.env).is_dir()
    here = " There is one of the CLI here; it is of no use to the server." if has_cli else ""
    said.append(
        f"The login of the `agy` CLI is another one.{here} "
        "This kernel neither reads nor copies any token."
    )
    return said


# -- signing in


def _sign_in(host: Host, methods: Methods, method: AuthMethod, gcp: Mapping[str, str]) -> str:
    if method.type == "terminal":
        return f"{method.name}: {methods.way(method)}. When that is done, run the cell again."
    if missing := methods.missing(method, bool(gcp) or methods.has_project()):
        return _how_to_set(method, missing)
    if methods.is_antigravity:
        _write_method(host, methods, method, gcp)
    conversation = host.conversation
    host.attend(lambda turn: conversation.authenticate(method.id, turn))
    return f"Signed in to {conversation.info.label} with `{method.id}`."


def _how_to_set(method: AuthMethod, missing: Groups) -> str:
    names = ", or ".join(" and ".join(f"`{name}`" for name in group) for group in missing)
    link = f" See {method.link}." if method.link else ""
    return (
        f"{method.name} needs {names} in the environment that Jupyter is started in.{link} "
        f"Set it there, restart Jupyter, and run `%agy auth {method.id}` again."
    )


def _write_method(host: Host, methods: Methods, method: AuthMethod, gcp: Mapping[str, str]) -> None:
    """Name the method in Antigravity's settings, if they do not, and the person agrees."""
    file = antigravity.settings_file(methods.env)
    before = antigravity.read(file)
    after = antigravity.with_method(before, method.id, gcp)
    if after == before:
        return
    values = [f"auth.type = {method.id}", *(f"gcp.{name} = {value}" for name, value in gcp.items())]
    details = (f"It gets {', '.join(values)}; all else in it stays.", "The agent is started anew.")
    question = Confirmation(
        f"Write the sign-in method to {file}?", details, yes="Write and sign in"
    )
    answer = host.ask(question)
    if not answer.accepted:
        _refuse("nothing was written, and nobody was signed in", answer.by, answer.why)
    antigravity.write(file, after)
    host.wait_for(host.conversation.restart())


# -- signing out


def _sign_out(host: Host) -> str:
    conversation = host.conversation
    engine = host.wait_for(conversation.running())
    label = conversation.info.label
    if not engine.capabilities.logout:
        return f"{label} has no way to be signed out from here; its own program may have one."
    answer = host.ask(Confirmation(f"Sign out of {label}?", (LOST, KEPT), yes="Sign out"))
    if not answer.accepted:
        _refuse("you are still signed in", answer.by, answer.why)
    host.wait_for(conversation.logout())
    return f"Signed out of {label}."


def _refuse(what: str, by: str, why: str) -> NoReturn:
    if by == "you":
        raise TurnCancelled(f"{what}.")
    raise CommandError(f"{what}: {why}.")
