"""The words of ``%agy``: what is a command, what a prompt, and what each command does."""

from .grammar import Command, Prompt
from .registry import COMMANDS, parse

__all__ = ["COMMANDS", "Command", "Prompt", "parse"]
