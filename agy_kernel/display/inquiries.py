"""Inquiries as they stand in the notebook: what was asked, and what became of it."""

from __future__ import annotations

from ..conversation.transcript import Inquiry
from ..forms import Value
from ..questions import Answer, Confirmation, Form, Link, SignInPage
from ..text import clean
from .html import code, escape, faint, fold, frame, pre
from .signin_page import host, left, page_link

SHOWN_CHARS = 2_000


def inquiry_html(inquiry: Inquiry) -> str:
    """What was asked and answered, as HTML."""
    question = inquiry.question
    if isinstance(question, SignInPage) and question.open:
        return frame(f"{page_link(question)}<div>{faint(escape(left(question)))}</div>")
    head = f"<b>question</b> {escape(_asked(question))} {faint(f'· {escape(state(inquiry))}')}"
    if isinstance(question, Link):
        return frame(f"{head}<div>{code(question.url)}</div>")
    return frame(head + (_values(question, inquiry.answer) if isinstance(question, Form) else ""))


def plain(inquiry: Inquiry) -> str:
    """The same as one line of text."""
    return clean(f"question: {_asked(inquiry.question)} · {state(inquiry)}")


def state(inquiry: Inquiry) -> str:
    """What became of it, in words."""
    answer = inquiry.answer
    if answer is None:
        return "not answered"
    if inquiry.visited:
        return "done at the link"
    if answer.accepted:
        return _accepted(inquiry.question, answer)
    who = " by you" if answer.by == "you" else ""
    return ("declined" if answer.declined else "cancelled") + who + _why(answer)


def _asked(question: Form | Link | SignInPage | Confirmation) -> str:
    """What was asked; the address of a sign-in page is a secret, and only its host is told."""
    if isinstance(question, SignInPage):
        return f"sign in at {host(question)}"
    return _short(question.message)


def _accepted(question: Form | Link | SignInPage | Confirmation, answer: Answer) -> str:
    match question:
        case Form():
            return "answered by you"
        case Link():
            return "link opened by you"
        case SignInPage():
            return "address handed over by you" if answer.by == "you" else "signed in"
        case Confirmation():
            return f"“{question.yes}” by you"


def form_html(form: Form) -> str:
    """What a form asks, above its fields."""
    parts = [f"<b>{escape(form.message)}</b>"]
    parts += [f"<div>{escape(form.title)}</div>"] if form.title else []
    parts += [f"<div>{faint(escape(form.description))}</div>"] if form.description else []
    return frame("".join(parts))


def _values(form: Form, answer: Answer | None) -> str:
    if answer is None or not answer.values:
        return ""
    labels = {field.name: field.label for field in form.fields}
    lines = [f"{labels.get(name, name)}: {_shown(value)}" for name, value in answer.values.items()]
    return fold(faint("what was answered"), pre("\n".join(lines)), is_open=len(lines) <= 8)


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, list) else str(value)


def _why(answer: Answer) -> str:
    return f": {answer.why}" if answer.why else ""


def _short(text: str) -> str:
    text = clean(text)
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}…"
