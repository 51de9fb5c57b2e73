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

# How keys begin, and how they go on. The beginnings are literal, so that a search is quick.
KEYS = {
    "AKIA": r"[0-9A-Z]{16}\b",  # AWS
    "ASIA": r"[0-9A-Z]{16}\b",
    "AIza": r"[0-9A-Za-z_-]{30,}",  # Google
    "ya29.": r"[0-9A-Za-z_-]{20,}",
    "GOCSPX-": r"[0-9A-Za-z_-]{20,}",
    "ghp_": r"[0-9A-Za-z]{30,}",  # GitHub
    "gho_": r"[0-9A-Za-z]{30,}",
    "ghs_": r"[0-9A-Za-z]{30,}",
    "ghu_": r"[0-9A-Za-z]{30,}",
    "ghr_": r"[0-9A-Za-z]{30,}",
    "github_pat_": r"[0-9A-Za-z_]{30,}",
    "glpat-": r"[0-9A-Za-z_-]{16,}",  # GitLab
    "sk-": r"(?=[a-zA-Z_-]{0,40}\d)[0-9A-Za-z_-]{20,}",  # OpenAI, Anthropic
    "sk_live_": r"[0-9A-Za-z]{16,}",  # Stripe
    "rk_live_": r"[0-9A-Za-z]{16,}",
    "hf_": r"[0-9A-Za-z]{20,}",  # Hugging Face
    "xox": r"[abeprs]-[0-9A-Za-z-]{10,}",  # Slack
    "npm_": r"[0-9A-Za-z]{30,}",
    "pypi-": r"[0-9A-Za-z_-]{30,}",
    "eyJ": r"[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{5,}",  # JSON web token
}
# What stands before a secret and is no part of it, and the secret.
KEPT = {
    "-----BEGIN ": r"(?P<what>[A-Z ]{0,40}PRIVATE KEY[A-Z ]{0,40})-----"
    r".*?(?:-----END (?P=what)-----|\Z)",
    "://": r"[^\s/:@]*:[^\s/@]+(?=@)",  # user and password in an address
    "earer ": r"[0-9A-Za-z._~+/=-]{16,}",  # Authorization: Bearer
    "AccountKey=": r"[0-9A-Za-z+/=]{20,}",  # Azure
}


def _key(beginning: str, rest: str) -> re.Pattern[str]:
    """A key that stands by itself, or behind an escape as ``repr`` writes it."""
    start = re.escape(beginning)
    return re.compile(rf"{start}(?:(?<![\w-]{start})|(?<=\\[nrt]{start})){rest}")


def _kept(beginning: str, rest: str) -> re.Pattern[str]:
    return re.compile(re.escape(beginning) + rest, re.DOTALL)


FORMATS = {
    **{beginning: (_key(beginning, rest), MASK) for beginning, rest in KEYS.items()},
    **{beginning: (_kept(beginning, rest), beginning + MASK) for beginning, rest in KEPT.items()},
}


class Masker:
    """Masks secrets in text.

    Args:
        environment: variables; the values of those whose names look secret are masked.

    Attributes:
        values: what is masked because of where it came from, the longest first.
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
        self.values = sorted(values, key=len, reverse=True)

    def mask(self, text: str) -> str:
        """The text without secrets."""
        for value in self.values:
            text = text.replace(value, MASK)
        for beginning, (pattern, masked) in FORMATS.items():
            if beginning in text:
                text = pattern.sub(masked, text)
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
