"""``agy-kernel doctor`` and ``%agy doctor``: what is installed, what runs, and what is wrong.

Checks are values, and what they look like is pure; only the modules that look at something do
anything. No prompt is ever sent, and secrets are masked before anything is shown.
"""
