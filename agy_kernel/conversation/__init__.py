"""One conversation with an agent: turns, questions, and what outlives a process."""
