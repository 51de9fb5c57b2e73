"""Secrets, masked before anything is cut or sent: a half of one would still be one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote

MASK = "[secret masked]"
SECRET_NAME = re.compile(
    r"SECRET|PASSW|PASSPHRASE|API_?KEY|CREDENTIAL|CONNECTION_STRING|TOKEN(?:_|$)"
    r"|(?:^|_)(?:KEY|PASS|PAT|JWT|AUTH|COOKIE|DSN)(?:_|$)|_PWD(?:_|$)",  # PWD alone is a folder
    re.IGNORECASE,
)
SHORTEST = 6  # characters; a shorter value would mask ordinary words

# What a text must contain for a search to be worth its time, and what is searched for then.
KEY_FORMATS = tuple(
    (hint, re.compile(pattern, re.DOTALL))
    for hint, pattern in (
        (
            "PRIVATE KEY",
            r"-----BEGIN (?P<what>[A-Z ]*PRIVATE KEY[A-Z ]*)-----.*?(?:-----END (?P=what)-----|\Z)",
        ),
        ("AKIA", r"\bAKIA[0-9A-Z]{16}\b"),  # AWS
        ("ASIA", r"\bASIA[0-9A-Z]{16}\b"),
        ("AIza", r"\bAIza[0-9A-Za-z_-]{30,}"),  # Google
        ("ya29.", r"\bya29\.[0-9A-Za-z_-]{20,}"),
        ("GOCSPX-", r"\bGOCSPX-[0-9A-Za-z_-]{20,}"),
        ("gh", r"\bgh[opsur]_[0-9A-Za-z]{30,}"),  # GitHub
        ("github_pat_", r"\bgithub_pat_[0-9A-Za-z_]{30,}"),
        ("glpat-", r"\bglpat-[0-9A-Za-z_-]{16,}"),  # GitLab
        ("sk-", r"\bsk-(?=[a-zA-Z_-]*\d)[0-9A-Za-z_-]{20,}"),  # OpenAI, Anthropic
        ("k_", r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,}"),  # Stripe
        ("hf_", r"\bhf_[0-9A-Za-z]{20,}"),  # Hugging Face
        ("xox", r"\bxox[abeprs]-[0-9A-Za-z-]{10,}"),  # Slack
        ("npm_", r"\bnpm_[0-9A-Za-z]{30,}"),
        ("pypi-", r"\bpypi-[0-9A-Za-z_-]{30,}"),
        ("eyJ", r"\beyJ[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{5,}"),  # JWT
        ("AccountKey=", r"(?<=AccountKey=)[0-9A-Za-z+/=]{20,}"),  # Azure
        ("://", r"(?<=://)[^\s/:@]*:[^\s/@]+(?=@)"),  # user and password in a URL
        ("earer ", r"(?<=[Bb]earer )[0-9A-Za-z._~+/=-]{16,}"),
    )
)


class Masker:
    """Masks secrets in text.

    Args:
        environment: variables; the values of those whose names look secret are masked.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        values = {
            form
            for name, value in environment.items()
            if looks_secret(name)
            for form in _forms(value)
            if len(form) >= SHORTEST and form not in MASK
        }
        # The longest first: one value may begin with another.
        self._values = sorted(values, key=len, reverse=True)

    def mask(self, text: str) -> str:
        """The text without secrets."""
        for value in self._values:
            text = text.replace(value, MASK)
        for hint, pattern in KEY_FORMATS:
            if hint in text:
                text = pattern.sub(MASK, text)
        return text


def looks_secret(name: str) -> bool:
    """Whether a variable of this name holds a secret."""
    return SECRET_NAME.search(name) is not None


def _forms(value: str) -> Iterator[str]:
    """A value as it may stand in a text: whole or by its lines, and as code and URLs write it."""
    for part in {value, value.strip(), *value.splitlines()}:
        yield from (
            part,
            repr(part)[1:-1],
            json.dumps(part)[1:-1],
            quote(part, "", errors="replace"),
        )
