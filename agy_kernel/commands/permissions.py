"""``%agy permissions``: the rules, and what was decided by them and by people."""

from __future__ import annotations

from ..conversation.permissions import Decision
from ..display.headings import describe
from ..host import Host
from ..tables import table

SHOWN = 20


def permissions(host: Host, words: list[str]) -> str:
    """Show the rules and what was decided, or forget the rules of this session."""
    made = host.permissions
    if words == ["reset"]:
        count = len(made.session)
        made.session.clear()
        return f"{count} rule{'s' if count != 1 else ''} of this session forgotten."
    origin = host.configuration.origins
    rules = [(str(rule), "this session") for rule in made.session]
    rules += [(str(rule), origin.get("rules", "")) for rule in host.settings.rules]
    source = origin.get("permissions", "default")
    policy = f"Where no rule fits: **{host.settings.permissions}** ({source})."
    audit = [_decision(decision) for decision in list(made.audit)[-SHOWN:]]
    return "\n\n".join(
        [
            table(rules) if rules else "There are no rules.",
            policy,
            table(audit) if audit else "Nothing was asked in this kernel yet.",
        ]
    )


def _decision(decision: Decision) -> tuple[str, str]:
    facts = decision.facts
    about = facts.command or ", ".join(facts.paths) or facts.tool or decision.title
    return f"{facts.kind or 'call'}: {about}"[:120], describe(decision.answer)
