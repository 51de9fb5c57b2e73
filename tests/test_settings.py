"""Where settings come from; a bad one is named and explained, and the rest loads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agy_kernel.configuration import SESSION, Configuration
from agy_kernel.errors import SettingsError
from agy_kernel.mcp import McpServer
from agy_kernel.rules import Rule
from agy_kernel.settings import Settings


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "settings.json"


def put(file: Path, text: str) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return file


# -- the sources


def test_the_defaults_ask_for_every_permission(file: Path) -> None:
    settings = Configuration(file).settings
    assert settings == Settings()
    assert (settings.agent, settings.permissions, settings.rules) == ("antigravity", "ask", ())
    assert not file.parent.exists()


def test_each_setting_has_its_variable(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "AGENT": "codex-acp --x 'y z'",
        "ACP_BIN": "/opt/server.par",
        "PERMISSIONS": "deny",
        "AUTH": "oauth-personal",
        "TAPE": "/tmp/tape.jsonl",
        "START_TIMEOUT": "2.5",
        "IDLE_ENDS": "True",
    }
    for name, value in values.items():
        monkeypatch.setenv(f"AGY_{name}", value)
    configuration = Configuration(file)
    dumped = configuration.settings.model_dump()
    for name, value in values.items():
        assert str(dumped[name.lower()]) == value
        assert configuration.origins[name.lower()] == f"AGY_{name}"
    assert not configuration.problems


def test_the_session_comes_before_the_environment_before_the_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(file, '{"permissions": "allow", "agent": "gemini", "images": 1}')
    monkeypatch.setenv("AGY_PERMISSIONS", "deny")
    monkeypatch.setenv("AGY_AGENT", "codex")
    configuration = Configuration(file)
    configuration.set("agent", "simulator")
    settings = configuration.settings
    assert (settings.agent, settings.permissions, settings.images) == ("simulator", "deny", 1)
    assert dict(configuration.origins) == {
        "agent": SESSION,
        "permissions": "AGY_PERMISSIONS",
        "images": str(file),
    }
    rows = {name: (value, source) for name, value, source in configuration.rows()}
    assert rows["permissions"] == ("deny", "AGY_PERMISSIONS")
    assert rows["context"] == ("true", "default")


def test_an_empty_variable_is_none_at_all(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGY_ACP_BIN", "")
    monkeypatch.setenv("AGY_PERMISSIONS", "")
    assert Configuration(file).settings == Settings()


def test_the_variable_of_the_seed_s_bridge_still_counts(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGY_ACP_PERMISSIONS", "auto")
    assert Configuration(file).settings.permissions == "allow"
    monkeypatch.setenv("AGY_PERMISSIONS", "ask")
    assert Configuration(file).settings.permissions == "ask"


def test_a_tilde_is_the_home_folder(
    file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AGY_TAPE", "~/tape.jsonl")
    assert Configuration(file).settings.tape == tmp_path / "tape.jsonl"


def test_rules_and_servers_are_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = {"type": "http", "url": "https://h/x", "headers": {"Authorization": "Bearer s3cret"}}
    put(file, json.dumps({"mcp": {"nb": server}}))
    monkeypatch.setenv("AGY_RULES", '[{"do": "deny", "path": "/etc"}]')
    configuration = Configuration(file)
    assert configuration.settings.rules == (Rule("deny", path="/etc"),)
    assert configuration.settings.mcp == {
        "nb": McpServer("http", url="https://h/x", headers={"Authorization": "Bearer s3cret"})
    }
    assert "s3cret" not in str(list(configuration.rows()))


def test_nothing_in_the_project_s_folder_is_read(
    file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (".env", "agy.toml", "pyproject.toml", "settings.json"):
        (tmp_path / name).write_text('AGY_PERMISSIONS="allow"\n')
    assert Configuration(file).settings.permissions == "ask"


# -- what is wrong


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [
        ("AGY_PERMISSIONS", "always", "'ask', 'deny' or 'allow'"),
        ("AGY_START_TIMEOUT", "soon", "number"),
        ("AGY_START_TIMEOUT", "0", "greater than 0"),
        ("AGY_TAPE", "~nosuchuser/x", "home directory"),
        ("AGY_RULES", "[{}]", "0.do: Field required"),
        ("AGY_RULES", '[{"do": "deny", "pth": "/"}]', "pth: Unexpected keyword argument"),
        ("AGY_RULES", "no JSON", "Expecting value"),
        ("AGY_ENGINE", "telepathy", "'acp'"),
    ],
)
def test_a_bad_value_is_named_with_what_would_be_a_good_one(
    file: Path, name: str, value: str, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    monkeypatch.setenv("AGY_IMAGES", "2")
    configuration = Configuration(file)
    (problem,) = configuration.problems
    setting = name.removeprefix("AGY_").lower()
    assert problem.startswith(f"{name}: {setting} = {value!r} cannot be used: ")
    assert hint in problem
    assert configuration.settings == Settings.model_construct(images=2)


@pytest.mark.parametrize(
    "server",
    [
        {"type": "http", "url": "", "headers": {"Authorization": "Bearer s3cret"}},
        {"command": "serve", "env": {"TOKEN": "s3cret"}, "colour": 1},
    ],
)
def test_what_is_wrong_with_servers_is_told_without_their_secrets(
    file: Path, server: dict[str, object]
) -> None:
    servers = {"nb": {"command": "serve", "env": {"KEY": "s3cret"}}, "x": server}
    configuration = Configuration(put(file, json.dumps({"mcp": servers})))
    (problem,) = configuration.problems
    assert problem.startswith(f"{file}: mcp cannot be used: x")
    with pytest.raises(SettingsError, match=r"^mcp cannot be used: x") as caught:
        configuration.save("mcp", json.dumps(servers))
    assert "s3cret" not in problem + str(caught.value)


def test_a_bad_value_is_never_replaced_by_a_looser_one(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(file, '{"permissions": "allow"}')
    monkeypatch.setenv("AGY_PERMISSIONS", "denied")
    assert Configuration(file).settings.permissions == "ask"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"agent": "a", "agent": "b"}', "it has the key 'agent' twice"),
        ("{", "it is not JSON"),
        ("[]", "it does not hold a JSON object"),
        ('{"agent": "' + "x" * 10_000_000 + '"}', "it has more than 4,000,000 bytes"),
    ],
)
def test_a_bad_file_is_named_and_left_as_it_is(file: Path, text: str, why: str) -> None:
    configuration = Configuration(put(file, text))
    (problem,) = configuration.problems
    assert problem.startswith(f"{file} is not used: {why}")
    with pytest.raises(SettingsError, match="is left as it is"):
        configuration.save("agent", "gemini")
    assert file.read_text() == text


def test_a_folder_in_the_place_of_the_file_is_named(file: Path) -> None:
    file.mkdir(parents=True)
    configuration = Configuration(file)
    assert configuration.problems == (f"{file} cannot be read: Is a directory.",)
    with pytest.raises(SettingsError, match="cannot be written: Is a directory"):
        configuration.save("agent", "gemini")


def test_unknown_names_are_named_with_what_was_meant(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(file, '{"permision": "deny", "colour": 1, "images": 3}')
    monkeypatch.setenv("AGY_PERMISSION", "deny")
    monkeypatch.setenv("AGY_ACP_BINARY", "/opt/server.par")
    for name in ("DISABLE_WORKSPACE_TRUST", "CCPA_PROJECT", "ENABLE_GATEWAY_AUTH"):
        monkeypatch.setenv(f"AGY_ACP_{name}", "1")
    monkeypatch.setenv("AGY_ACP_FORCE_FILE_STORAGE", "1")
    configuration = Configuration(file)
    assert configuration.problems == (
        "AGY_ACP_BINARY is not known: did you mean AGY_ACP_BIN?",
        "AGY_PERMISSION is not known: did you mean AGY_PERMISSIONS?",
        f"{file}: there is no setting 'permision'; did you mean 'permissions'?",
        f"{file}: there is no setting 'colour'.",
    )
    assert configuration.settings.images == 3


# -- setting


def test_a_saved_value_is_there_for_the_next_kernel(file: Path) -> None:
    configuration = Configuration(file)
    configuration.set("images", "7")
    configuration.save("images", "2")
    configuration.save("tape", "~/x.jsonl")
    configuration.save("rules", '[{"do": "allow", "kind": "read"}]')
    assert json.loads(file.read_text()) == {
        "images": 2,
        "tape": "~/x.jsonl",
        "rules": [{"do": "allow", "kind": "read"}],
    }
    assert configuration.settings.images == 2
    assert Configuration(file).settings == configuration.settings
    configuration.save("images", None)
    assert Configuration(file).settings.images == 4


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("images", "many", "images = 'many' cannot be used"),
        ("imges", "1", "there is no setting 'imges'; did you mean 'images'?"),
    ],
)
def test_what_cannot_be_set_changes_nothing(file: Path, name: str, value: str, words: str) -> None:
    configuration = Configuration(file)
    for change in (configuration.set, configuration.save):
        with pytest.raises(SettingsError) as caught:
            change(name, value)
        assert str(caught.value).startswith(words)
    assert configuration.settings == Settings()
    assert not file.exists()
