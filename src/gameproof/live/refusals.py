"""What every ledger refuses, with the same codes and sentences."""

from __future__ import annotations

from collections.abc import Sequence

from gameproof.live.facts import AnswerRow, LedgerError, Receipt

# The codes of refusals after which the same step may succeed.
BUSY, CHANGED_MEANWHILE = "busy", "changed-meanwhile"


def name_taken(name: str) -> LedgerError:
    return LedgerError("name-taken", f"there is a study {name!r} already; open it, or rename yours")


def unknown_study(name: str | None, known: Sequence[str]) -> LedgerError:
    """There is no study of this name; or, without a name, it is not clear which one is meant."""
    have = "it has " + ", ".join(map(repr, known)) if known else "it has no study yet"
    lacks = "name one of the studies" if name is None else f"the store has no study {name!r}"
    return LedgerError("unknown-study", f"{lacks}; {have}")


def unknown_question(question: int) -> LedgerError:
    return LedgerError(
        "unknown-question",
        f"this study has no question {question}; use the number that came with the question",
    )


def question_closed(question: int) -> LedgerError:
    return LedgerError(
        "question-closed", f"question {question} was answered or closed meanwhile; ask again"
    )


def deployment_closed(number: int) -> LedgerError:
    return LedgerError(
        "deployment-closed", f"deployment {number} is not the current one; look at it again"
    )


def changed_meanwhile() -> LedgerError:
    """An answer arrived or was withdrawn between reading the answers and closing."""
    return LedgerError(CHANGED_MEANWHILE, "an answer changed meanwhile; try again")


def busy() -> LedgerError:
    return LedgerError(BUSY, "another process is advancing the study at this moment; try again")


def unknown_answer(answer: int) -> LedgerError:
    return LedgerError(
        "unknown-answer",
        f"this study has no answer {answer}; use the number in its receipt or in an export",
    )


def same_again(known: AnswerRow, question: int, body: bytes) -> Receipt:
    """The receipt of an answer that was told before. Raises if its key had other contents."""
    if (known.question, known.body) == (question, bytes(body)):
        return Receipt(known.id, known.status)
    what = "another answer" if known.question == question else f"question {known.question}"
    raise LedgerError(
        "key-reused",
        f"the key {known.key!r} was used for {what}; give every answer a key of its own",
    )
