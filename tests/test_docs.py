"""The pages: built without a warning, with links that lead somewhere, and true of the code."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agy_kernel.commands import COMMANDS
from agy_kernel.configuration import Configuration
from agy_kernel.settings import Settings
from tools import builds_page, settings_page

PROJECT = Path(__file__).parent.parent
DOCS = PROJECT / "docs"
PACKAGE = PROJECT / "agy_kernel"
PAGES = [PROJECT / "README.md", PROJECT / "CHANGELOG.md", *sorted(DOCS.glob("*.md"))]

FENCE = re.compile(
    r"^(?P<fence>`{3,})(?P<language>\w*)\n(?P<text>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL
)
CODE = re.compile(r"`[^`\n]+`")
LINK = re.compile(r"\]\((?P<target>[^()\s]+)\)")
HEADING = re.compile(r"^#+ (?P<title>.+)$", re.MULTILINE)
MACHINE = re.compile(
    r"(?<![\w~.])/(?:root|work|tmp|home|Users)/\w|\b(?:localhost|127\.0\.0\.1):\d{4}"
)
FETCHED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*[\"']https?://[^>]*>")
COMMAND = re.compile(r"`%agy ([a-z]+)(?:[^`\n]*[^`\n?])?`")  # with a question mark it is a prompt
SETTING = re.compile(r"\bAGY_[A-Z_]+\b")
OTHERS = {"AGY_ACP_PERMISSIONS", "AGY_NO_SKIPS"}
"""Variables that are no settings: an older bridge's, and one of the tests."""


def name(path: Path) -> str:
    return path.name


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def prose(page: Path) -> str:
    """A page without its code blocks."""
    return FENCE.sub("", text_of(page))


def anchors(page: Path) -> set[str]:
    """What headings can be reached by, as GitHub makes it of them."""
    titles = (match["title"].lower() for match in HEADING.finditer(prose(page)))
    return {re.sub(r"[^\w -]", "", title).replace(" ", "-") for title in titles}


every_page = pytest.mark.parametrize("page", PAGES, ids=name)


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    env = os.environ | {"NO_MKDOCS_2_WARNING": "true"}
    done = subprocess.run(
        command, cwd=PROJECT, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert {page.stem for page in DOCS.glob("*.md")} <= {p.stem for p in tmp_path.glob("*.html")}
    assert not FETCHED.findall(text_of(tmp_path / "index.html"))


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    for match in LINK.finditer(CODE.sub("", prose(page))):
        target, _, anchor = match["target"].partition("#")
        if target.startswith(("https://", "http://")):
            continue
        there = page.parent / target if target else page
        assert there.exists(), match["target"]
        assert not anchor or anchor in anchors(there), match["target"]


@every_page
def test_no_page_names_a_path_of_this_machine(page: Path) -> None:
    found = MACHINE.search(text_of(page))
    assert found is None, found
    assert str(PROJECT) not in text_of(page)
    assert str(Path.home()) + os.sep not in text_of(page)


def test_every_setting_is_on_its_page_as_the_model_has_it() -> None:
    page = text_of(settings_page.PAGE)
    assert page == settings_page.written(page), "run make docs"
    assert all(f"### {setting}\n" in page for setting in Settings.model_fields)


def test_the_verdicts_on_builds_are_those_of_the_evidence() -> None:
    page = text_of(builds_page.PAGE)
    assert page == builds_page.written(page), "run make tapes"
    assert "RC01 (the seed's)" in page


@every_page
def test_examples_of_settings_can_be_used(page: Path, tmp_path: Path) -> None:
    for match in FENCE.finditer(text_of(page)):
        if match["language"] != "json":
            continue
        example = json.loads(match["text"])
        if not set(example) & set(Settings.model_fields) - {"auth"}:  # of an agent's own file
            continue
        file = tmp_path / "settings.json"
        file.write_text(match["text"])
        configuration = Configuration(file)
        assert not configuration.problems
        assert set(configuration.origins) == set(example)


@every_page
def test_commands_and_settings_exist(page: Path) -> None:
    text = text_of(page)
    assert set(COMMAND.findall(text)) <= set(COMMANDS)
    known = {f"AGY_{setting.upper()}" for setting in Settings.model_fields}
    assert set(SETTING.findall(text)) <= known | OTHERS


def test_the_architecture_names_files_that_exist_and_every_package() -> None:
    text = text_of(DOCS / "architecture.md")
    named = set(re.findall(r"`([\w/]+\.py)`", text))
    assert named
    for path in named:
        assert (PACKAGE / path).exists() or (PROJECT / path).exists(), path
    packages = {p.parent.relative_to(PACKAGE).as_posix() for p in PACKAGE.rglob("__init__.py")}
    assert {f"{p}/" for p in packages - {"."}} <= set(re.findall(r"`([\w/]+/)`", text))
