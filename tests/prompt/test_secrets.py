"""Secrets are masked, whole, wherever they stand."""

import json
import random
import re
import string
import time
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agy_kernel.secrets import MASK, Masker, looks_secret

NOTHING = Masker({})
WORDS = string.ascii_letters + string.digits


def of(length: int, alphabet: str = WORDS) -> str:
    return "".join(random.Random(length).choices(alphabet, k=length - 1)) + "7"


PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{of(64)}\n{of(63)}\n-----END RSA PRIVATE KEY-----"
KEYS = [
    f"AKIA{'ABCDEFGH12345678'}",
    f"AIza{of(35)}",
    f"ya29.{of(60)}",
    f"ghp_{of(36)}",
    f"github_pat_{of(60)}",
    f"glpat-{of(20)}",
    f"sk-{of(48)}",
    f"sk-ant-api03-{of(80)}",
    f"sk-proj-{of(40)}_{of(40)}",
    f"sk_live_{of(24)}",
    f"hf_{of(34)}",
    f"xoxb-{of(12)}-{of(24)}",
    f"npm_{of(36)}",
    f"pypi-{of(100)}",
    f"eyJ{of(30)}.eyJ{of(80)}.{of(43)}",
    f"GOCSPX-{of(28)}",
]


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "GITHUB_TOKEN",
        "TOKEN",
        "DB_PASSWORD",
        "MYSQL_PWD",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID",
        "SMTP_PASS",
        "SSH_PASSPHRASE",
        "api_key",
        "APIKEY",
        "clientSecret",
        "AZURE_STORAGE_CONNECTION_STRING",
        "SENTRY_DSN",
        "GITHUB_PAT",
        "SESSION_COOKIE",
    ],
)
def test_names_that_look_secret(name: str) -> None:
    assert looks_secret(name)
    assert Masker({name: "open sesame"}).mask("say open sesame!") == f"say {MASK}!"


@pytest.mark.parametrize(
    "name", ["PWD", "OLDPWD", "PATH", "HOME", "TOKENIZERS_PARALLELISM", "KEYBOARD", "monkey", "df"]
)
def test_names_that_do_not(name: str) -> None:
    assert not looks_secret(name)
    assert Masker({name: "open sesame"}).mask("say open sesame!") == "say open sesame!"


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    "where", ["{}", "key = '{}'", '{{"k": "{}"}}', "a={}&b", "x\n{}\ny", "({})"]
)
def test_common_key_formats(key: str, where: str) -> None:
    assert key not in NOTHING.mask(where.format(key))
    assert MASK in NOTHING.mask(where.format(key))
    # Written by repr, a line break before it looks like a letter.
    assert key not in NOTHING.mask(repr(f"x\n{key}\n"))


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (f"before\n{PEM}\nafter", f"before\n-----BEGIN {MASK}\nafter"),
        (f"{PEM[:90]}", f"-----BEGIN {MASK}"),
        ("postgres://me:hunter2@host/db", f"postgres://{MASK}@host/db"),
        ("redis://:hunter2@host", f"redis://{MASK}@host"),
        ("https://host:8080/a@b", "https://host:8080/a@b"),
        ("Authorization: Bearer abcdefghijklmnop1", f"Authorization: Bearer {MASK}"),
        ("AccountKey=abcdefghijklmnopqrst==;x", f"AccountKey={MASK};x"),
    ],
)
def test_secrets_by_what_stands_around_them(text: str, masked: str) -> None:
    assert NOTHING.mask(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "a task-force-of-twenty-five-people, risk-adjusted-returns-of-2024-and-2025",
        "sk-learn is not a key, sk-nor-is-this-long-name-of-a-thing",
        "the bearer of this letter",
        "eyJ. ghp_ hf_ xoxo",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "see https://example.org:8000/path",
    ],
)
def test_ordinary_words_stay(text: str) -> None:
    assert NOTHING.mask(text) == text


def test_short_values_and_words_of_the_mask_are_no_secrets() -> None:
    masker = Masker({"A_TOKEN": "abc", "B_TOKEN": "secret", "C_TOKEN": "masked", "D_TOKEN": ""})
    assert masker.mask("abc secret masked") == "abc secret masked"


def test_the_longer_of_two_values_is_masked_whole() -> None:
    masker = Masker({"A_TOKEN": "hunter22", "B_TOKEN": "hunter2222"})
    assert masker.mask("hunter2222 hunter22") == f"{MASK} {MASK}"


def test_a_value_of_many_lines_is_masked_line_by_line() -> None:
    masker = Masker({"MY_SECRET": "first line of it\nsecond line of it"})
    assert masker.mask("  1 first line of it\n  2 second line of it") == f"  1 {MASK}\n  2 {MASK}"


SECRET = st.text(st.characters(codec="utf-8"), min_size=6, max_size=20).filter(
    lambda s: len(s.strip()) >= 6 and s not in MASK and not set(s) & set(MASK)
)


@given(SECRET, st.text(max_size=10), st.text(max_size=10))
def test_a_value_is_found_as_it_is_and_as_code_and_addresses_write_it(
    secret: str, before: str, after: str
) -> None:
    masker = Masker({"MY_TOKEN": secret})
    for form in (secret, repr(secret)[1:-1], json.dumps(secret)[1:-1], quote(secret, "")):
        assert form not in masker.mask(f"{before}{form}{after}")


def test_values_that_cannot_be_encoded_are_no_error() -> None:
    assert Masker({"MY_TOKEN": "abc\udcffdef"}).mask("abc\udcffdef") == MASK


@pytest.mark.parametrize(
    "text",
    [
        "".join(random.Random(1).choices(WORDS + " \n.,:-_=/", k=5_000_000)),
        "sk-" * 300_000,
        "eyJaaaaaaaaaaaaa." * 60_000,
        "eyJaaaaaaaaaaaaa-" * 60_000,
        "-----BEGIN " + "PRIVATE KEY" * 80_000,
        "-----BEGIN A PRIVATE KEY-----" * 30_000,
        "://" * 300_000,
        "://" + "a:" * 400_000,
    ],
    ids=range(8),
)
def test_megabytes_are_quick(text: str) -> None:
    begin = time.process_time()
    Masker({"A_TOKEN": "hunter22", "B_TOKEN": "hunter33"}).mask(text)
    assert time.process_time() - begin < 10  # what is not linear takes minutes


def test_no_key_is_left_in_part() -> None:
    for key in KEYS:
        rest = NOTHING.mask(f"a {key} b").replace(MASK, "")
        assert not re.search(r"\w{5}", rest), rest
