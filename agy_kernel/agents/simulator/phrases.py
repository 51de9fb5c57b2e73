"""Prompts in fixed words, whose answers can be checked; searched for without regard to case."""

from __future__ import annotations

REPLY = r"reply with exactly:\s*(?P<words>[^.\n]+)"
COUNT = r"count from (?P<first>\d+) to (?P<last>\d+)"
MULTIPLY = r"think step by step\b.*?\bwhat is (?P<one>\d{1,9}) times (?P<other>\d{1,9})"

REMEMBER = rf"remember the word (?P<word>[\w-]+)\.\s*{REPLY}"
RECALL = r"which word did I ask you to remember"

CREATE = (
    r"create the file (?P<file>\S+) in the current folder\. It holds one line: *(?P<line>[^\n]*)"
)
READ = r"read the file (?P<file>\S+) in the current folder"
RUN = r"run the command `(?P<command>[^`\n]+)`"

COLOUR = r"which colour fills this image"
TWO_TONE = r"this image has two colours\. Answer in the form: Top: COLOUR, Bottom: COLOUR"
SEVERAL = r"which colour fills each of these images"
WHICH = r"which of the two images is (?P<colour>\w+), A or B"

SECRET = r"what is the secret word in the attached resource"
LINKED = r"what is the secret word in the linked file"
SECRET_WORD = r"the secret word is\W+(?P<word>[\w-]+)"
CALL = (
    r"call the tool (?P<tool>\S+) of the MCP server (?P<server>\S+) "
    r"with the text (?P<text>.*?), and answer"
)
