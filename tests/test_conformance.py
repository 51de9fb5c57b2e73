"""Jupyter's own test of a kernel, with every sample supplied."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import jupyter_kernel_test
from jupyter_client.manager import start_new_kernel

from tests.support.front_end import PATIENCE
from tests.support.kernels import SIMULATOR, isolated
from tests.support.starts import one_start_at_a_time


class TestAntigravity(jupyter_kernel_test.KernelTests):  # type: ignore[misc]  # it is untyped
    """Its names are its own; the samples are ours."""

    kernel_name = "antigravity"
    language_name = "antigravity"
    file_extension = ".md"

    code_hello_world = "%%py\nprint('hello, world')"
    code_stderr = "%%py\nimport sys\nprint('oh no', file=sys.stderr)"
    code_page_something = "%%py\nget_ipython().run_line_magic('pinfo', 'print')"
    code_generate_error = "%%py\n1 / 0"
    code_clear_output = "%%py\nfrom IPython.display import clear_output\nclear_output()"
    code_inspect_sample = "%agy model"
    code_execute_result: ClassVar[list[dict[str, str]]] = [
        {"code": "%%py\n6 * 7", "result": "42"},
        {"code": "%%py\n'six times' + ' seven'", "result": "'six times seven'"},
    ]
    code_display_data: ClassVar[list[dict[str, str]]] = [
        {"code": "Say hello", "mime": "text/markdown"},
        {"code": "Draw an image", "mime": "text/markdown"},
        {"code": "%agy help", "mime": "text/markdown"},
    ]
    code_history_pattern = "*seven*"
    supported_history_operations = ("tail", "range", "search")
    completion_samples: ClassVar[list[dict[str, Any]]] = [
        {"text": "%agy mo", "matches": {"model", "mode"}},
        {"text": "look at @not", "matches": {"notes/", "note.txt"}},
        {"text": "%%py\nimpor", "matches": {"import"}},
        {"text": "plain words", "matches": set()},
    ]
    complete_code_samples: ClassVar[list[str]] = ["Say hello", "and (then", "", "for x in y:"]

    @classmethod
    def setUpClass(cls) -> None:
        cls.place = tempfile.TemporaryDirectory()
        folder = Path(cls.place.name)
        (folder / "notes").mkdir()
        (folder / "note.txt").touch()
        env = isolated(folder / "own") | {"AGY_AGENT": SIMULATOR}
        with one_start_at_a_time():
            cls.km, cls.kc = start_new_kernel(kernel_name=cls.kernel_name, env=env, cwd=str(folder))
        cls.kc.allow_stdin = False  # with it, and without a cell's id, this would be a console

    @classmethod
    def tearDownClass(cls) -> None:
        super().tearDownClass()
        cls.place.cleanup()

    def execute_helper(self, *arguments: Any, **options: Any) -> Any:
        """As Jupyter's, which gives each message on IOPub 0.1 s to come."""
        channel = self.kc.iopub_channel
        get_msg = channel.get_msg

        def patient(timeout: float) -> Any:
            return get_msg(timeout=max(timeout, PATIENCE))

        with mock.patch.object(channel, "get_msg", patient):
            return super().execute_helper(*arguments, **options)


class TestWelcome(jupyter_kernel_test.IopubWelcomeTests):  # type: ignore[misc]  # as above
    kernel_name = "antigravity"
    support_iopub_welcome = True
