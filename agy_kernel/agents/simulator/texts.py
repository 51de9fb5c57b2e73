"""What the simulator says, where it is more than a line, and the picture that it draws."""

from __future__ import annotations

import base64
import struct
import zlib

INTRODUCTION = (
    "> **This is the Antigravity simulator.** No model is behind these words: the replies are "
    "scripted, so that you can try the notebook without an account.\n\n"
)

HELLO = """\
Hello! I stand in for Antigravity. The words are canned, but the rest is real: this text streams \
to you over the Agent Client Protocol, files are written once you allow it, and Stop stops me.

Ask me to *explain what you can do* for a list of prompts to try.
"""

EXPLANATION = """\
Each of these prompts shows something that an agent does in a notebook:

{table}

Anything else gets a short answer. Nothing here thinks and no command is ever run; \
what I write stays inside the notebook's folder.
"""

LONG = r"""## How far does a random walk get?

Take a step to the left or to the right, as a coin decides, and do it again. After $n$ steps you \
are at

$$S_n = X_1 + X_2 + \dots + X_n, \qquad X_i = \pm 1.$$

On average you have got **nowhere**, since $E[S_n] = 0$. But you have not stayed where you were:

1. each step has variance 1, because $E[X_i^2] = 1$;
2. the steps are independent, so their variances add up to $n$;
3. hence a typical distance is $\sqrt{n}$.

### In numbers

| Steps $n$ | Typical distance $\sqrt{n}$ | Share of the way |
|---:|---:|---:|
| 100 | 10 | 10 % |
| 10,000 | 100 | 1 % |
| 1,000,000 | 1,000 | 0.1 % |

### In code

```python
from random import choice
from statistics import pstdev


def walk(steps: int) -> int:
    return sum(choice((-1, 1)) for _ in range(steps))


print(pstdev(walk(100) for _ in range(2_000)))  # close to 10
```

### What follows from it

- To get **twice** as far, walk **four times** as long.
- An average of $n$ measurements is off by about $1/\sqrt{n}$, for the same reason:
  - ten times more precise costs a hundred times more data;
  - this is why polls rarely ask more than a few thousand people.
- Nothing above depends on the coin: any steps with mean 0 and a finite variance do the same.
"""

THOUGHT = """\
The prompt asks me to think, so this goes out as a thought. \
A front end may fold it away: it is not part of the answer.
"""
AFTER_THOUGHT = """\
I have thought about it. What I thought was sent as an `agent_thought_chunk`, \
apart from this answer.
"""

QUESTION = "What shall I show you next?"
ANSWERS = {
    "A file edit": "Create hello.py that greets",
    "A long answer": "Show a long answer",
    "A picture": "Draw an image",
}

IMAGE = "Here is a picture, made of a few lines of code and sent as an image block:\n\n"
SIDE = 96  # pixels

PLAN_THOUGHT = "The command asks for a plan, so I write one and wait for a decision."
PLAN = """\
# Implementation plan: {task}

1. **Find out what is there.** Read what exists and write down what is missing.
2. **Make the smallest version that works.** One path from beginning to end.
3. **Check it.** Say beforehand what would prove it wrong.
4. **Widen it.** Add the cases left out, one at a time.
"""
PLAN_FOOTER = "\n> Waits for your decision. Written by the simulator: any task gets this plan.\n"
PLANNED = """\
I have put an implementation plan for **{task}** into `{name}`, in a folder of my own.

Please decide:

- Shall I begin with step 1?
- Is anything missing?

(The simulator writes the same plan for every task, and does not carry it out.)
"""

ANYTHING = """\
You wrote:

{quote}

{attachments}A model would answer that. I only know a few prompts: \
ask me to *explain what you can do*.
"""


def quote(text: str) -> str:
    """A text as a Markdown quotation."""
    return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines()) or "> (no text)"


def table(rows: list[tuple[str, str]]) -> str:
    """A Markdown table of prompts and what they do."""
    lines = [f"| `{prompt}` | {effect} |" for prompt, effect in rows]
    return "\n".join(["| Prompt | What happens |", "|---|---|", *lines])


def picture() -> str:
    """A small PNG, in base64: blue to violet from left to right, lighter towards the top."""
    rows = bytearray()
    for y in range(SIDE):
        rows.append(0)  # the row is not filtered
        for x in range(SIDE):
            rows += bytes((66 + 120 * x // SIDE, 133 - 60 * y // SIDE, 244 - 40 * x // SIDE))
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(rows))), (b"IEND", b""))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(_png_part(*p) for p in parts)).decode()


def _png_part(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)
