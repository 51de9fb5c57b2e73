"""The folders of builds below one folder: what was found of a build joins what is there of it."""

from __future__ import annotations

import itertools
import re
import shutil
import tempfile
from pathlib import Path

from ..acp.privacy import Privacy
from ..errors import AgyError
from ..files import write_object
from ..text import clean
from .probe import Finding, probes_of
from .result import Result
from .suites import find_suite
from .verdicts import FILE, Verdicts, as_object, load

HIDDEN = ".new-"


def new_folder(out: Path) -> Path:
    """A folder for a run, hidden until it is whole.

    Raises:
        AgyError: it cannot be made.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=HIDDEN, dir=out))
    except OSError as error:
        raise AgyError(f"{out} cannot be written to: {error.strerror}") from None


def builds_in(out: Path) -> list[Path]:
    """The folders of builds."""
    found = (path.parent for path in out.glob(f"*/{FILE}"))
    return sorted(folder for folder in found if not folder.name.startswith("."))


def put_away(run: Path, out: Path, source: Path | None) -> Path | None:
    """Let the suites of a run take the place of the same ones of the same build.

    Args:
        run: the run's folder, which is gone afterwards.
        out: has a folder for each build.
        source: a folder that is left alone: its tapes were played.

    Returns:
        The build's folder; None where nothing was found.
    """
    if not (run / FILE).exists():
        shutil.rmtree(run)
        return None
    (run / f"{FILE}.lock").unlink(missing_ok=True)
    place = _place(run, out, source)
    if not place.exists():
        run.replace(place)
    else:
        _join(run, place)
        shutil.rmtree(run)
    return place


def leave_out(run: Path, suite: str) -> None:
    """Forget a suite that was stopped half way."""
    for path in run.glob(f"{suite}.*"):
        path.unlink()
    if (run / FILE).exists():
        verdicts = load(run)
        rest = {name: probes for name, probes in verdicts.suites.items() if name != suite}
        if rest:
            _write(run, verdicts.with_suites(rest))
        else:
            (run / FILE).unlink()


def broke_off(run: Path, suite: str, why: str) -> None:
    """Let the probes be skipped that a suite was not asked when it broke off; the others stay.

    Args:
        run: the run's folder; where it has no verdicts at all, nothing is written.
        suite: its name.
        why: what broke it off.
    """
    if not (run / FILE).exists():
        return
    verdicts, words = load(run), Privacy.of_this_machine().text(clean(why))
    finding = Finding("skipped", f"its notebook broke off: {words}")
    told = verdicts.suites.get(suite, {})
    rest = {
        probe.name: Result(probe, finding, probe.thresholds).record()
        for probe in probes_of(find_suite(suite))
        if probe.name not in told
    }
    _write(run, verdicts.with_suites({**verdicts.suites, suite: {**told, **rest}}))


def _place(run: Path, out: Path, source: Path | None) -> Path:
    """The build's own folder, or one of a new name: no other folder is touched."""
    verdicts = load(run)
    name = re.sub(r"[^\w.+-]+", "-", verdicts.title).strip("-.") or "build"
    names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
    return next(place for place in map(out.joinpath, names) if _fits(place, verdicts, source))


def _fits(place: Path, verdicts: Verdicts, source: Path | None) -> bool:
    if not place.exists():
        return True
    is_source = source is not None and place.samefile(source)
    is_build = (place / FILE).exists()
    return is_build and not is_source and load(place).agent == verdicts.agent


def _join(run: Path, place: Path) -> None:
    new, old = load(run), load(place)
    for suite in new.suites:
        for path in run.glob(f"{suite}.*"):
            path.replace(place / path.name)
    _write(place, new.with_suites({**old.suites, **new.suites}))


def _write(folder: Path, verdicts: Verdicts) -> None:
    write_object(folder / FILE, as_object(verdicts))
