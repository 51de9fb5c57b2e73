"""What probes say to an agent: plain words that any model follows, and that can be checked.

They are fixed, so that two builds are asked the same. The simulator follows them too, and so does
the scripted model that the tests put behind other agents.
"""

from __future__ import annotations

NO_TOOLS = "Do not use any tools."

REPLY = f"Reply with exactly: {{words}}. {NO_TOOLS}"
COUNT = f"Count from 1 to {{last}}, one number on each line, and say nothing else. {NO_TOOLS}"
THINK = f"Think step by step, then answer with the number alone: what is 17 times 23? {NO_TOOLS}"
PRODUCT = "391"

REMEMBER = f"Remember the word {{word}}. Reply with exactly: NOTED. {NO_TOOLS}"
RECALL = f"Which word did I ask you to remember? Answer with the word alone. {NO_TOOLS}"

CREATE = "Create the file {name} in the current folder. It holds one line: {text}"
READ = "Read the file {name} in the current folder, and answer with its one line alone."
RUN = "Run the command `{command}` in the shell, and tell me when it is done."

COLOUR = f"Which colour fills this image? Answer with one word. {NO_TOOLS}"
TWO_TONE = (
    f"This image has two colours. Answer in the form: Top: COLOUR, Bottom: COLOUR. {NO_TOOLS}"
)
SEVERAL = (
    f"Which colour fills each of these images? Answer with the colours, in order, "
    f"with commas between them. {NO_TOOLS}"
)
WHICH = f"Which of the two images is {{colour}}, A or B? Answer with the letter alone. {NO_TOOLS}"

SECRET = f"What is the secret word in the attached resource? Answer with the word alone. {NO_TOOLS}"
LINKED = "What is the secret word in the linked file? Answer with the word alone."
CALL = (
    "Call the tool {tool} of the MCP server {server} with the text {text}, "
    "and answer with its result alone."
)

FAILURE = f"Error: let this turn fail, as it does when the model is not reached. {NO_TOOLS}"
"""An agent of ours fails at this; a model that is reached says something, or not."""

PLAN = "/plan Organize a birthday party"
UNKNOWN_COMMAND = f"/agy-kernel-probe Reply with exactly: PASSED ON. {NO_TOOLS}"
SLASH_INSIDE = f"Reply with exactly: NO COMMAND. The word /plan is not a command here. {NO_TOOLS}"
