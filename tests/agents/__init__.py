"""Real third-party ACP agents for the tests, offline against a scripted model endpoint."""
