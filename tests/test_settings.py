"""Settings come from the environment, and a bad one is explained."""

from __future__ import annotations

from pathlib import Path

import pytest

from agy_kernel.errors import SettingsError
from agy_kernel.settings import Settings, load_settings


def test_the_defaults_ask_for_every_permission() -> None:
    settings = load_settings()
    assert settings.agent == "antigravity"
    assert settings.permissions == "ask"
    assert settings.acp_bin is None
    assert settings.tape is None
    assert settings.start_timeout == 120


def test_each_setting_has_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "AGENT": "codex-acp --x 'y z'",
        "ACP_BIN": "/opt/server.par",
        "PERMISSIONS": "deny",
        "AUTH": "oauth-personal",
        "TAPE": "/tmp/tape.jsonl",
        "START_TIMEOUT": "2.5",
    }
    for name, value in values.items():
        monkeypatch.setenv(f"AGY_{name}", value)
    dumped = load_settings().model_dump()
    for name, value in values.items():
        assert str(dumped[name.lower()]) == value


def test_an_empty_variable_is_none_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGY_ACP_BIN", "")
    monkeypatch.setenv("AGY_PERMISSIONS", "")
    assert load_settings() == Settings()


def test_a_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AGY_TAPE", "~/tape.jsonl")
    monkeypatch.setenv("AGY_ACP_BIN", "~/server.par")
    assert load_settings().tape == tmp_path / "tape.jsonl"
    assert load_settings().acp_bin == tmp_path / "server.par"


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [
        ("AGY_PERMISSIONS", "always", "'ask', 'deny' or 'allow'"),
        ("AGY_START_TIMEOUT", "soon", "number"),
        ("AGY_START_TIMEOUT", "0", "greater than 0"),
        ("AGY_TAPE", "~nosuchuser/x", "home directory"),
    ],
)
def test_a_bad_value_is_named_with_what_would_be_a_good_one(
    name: str, value: str, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert str(caught.value).startswith(f"{name}='{value}' cannot be used: ")
    assert hint in str(caught.value)
    assert str(caught.value).count("\n") == 0


def test_every_bad_value_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGY_PERMISSIONS", "x")
    monkeypatch.setenv("AGY_START_TIMEOUT", "y")
    with pytest.raises(SettingsError, match=r"AGY_PERMISSIONS.*\n.*AGY_START_TIMEOUT"):
        load_settings()


def test_nothing_in_the_project_s_folder_is_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (".env", "agy.toml", "pyproject.toml"):
        (tmp_path / name).write_text('AGY_PERMISSIONS="allow"\n')
    assert load_settings().permissions == "ask"
