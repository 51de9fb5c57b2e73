"""Coverage-guided fuzzing of everything that an agent's bytes go through, up to the page.

``make fuzz`` runs it for 10 minutes; it needs atheris, which is no dependency of ours. A find is
an exception, and becomes a case among the tests.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports():
    from agy_kernel.acp import decoding, elicitation, framing, jsonrpc, options, results, updates
    from tests.support.bytes_to_page import page_of

assert all((decoding, elicitation, framing, jsonrpc, options, results, updates))


def main() -> None:
    atheris.Setup(sys.argv, page_of)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
