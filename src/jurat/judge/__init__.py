"""Judges: models that score against a rubric, believed only as far as they can be checked."""

from jurat.judge.answer import Answer, CriterionAnswer, check_reply, check_text
from jurat.judge.answer_schema import answer_schema
from jurat.judge.judge import Judge, VerdictSteps, ask_one, drive
from jurat.judge.opinions import Outcome
from jurat.judge.prompt import BEGIN, END, WorkedExample, render_evidence
from jurat.judge.settings import JudgeSettings
from jurat.judge.verdict import (
    NOTHING_SENT,
    JudgeFacts,
    Opinion,
    Spending,
    Verdict,
    Withheld,
    may_have_cost,
    spent_in_vain,
)

__all__ = [
    "BEGIN",
    "END",
    "NOTHING_SENT",
    "Answer",
    "CriterionAnswer",
    "Judge",
    "JudgeFacts",
    "JudgeSettings",
    "Opinion",
    "Outcome",
    "Spending",
    "Verdict",
    "VerdictSteps",
    "Withheld",
    "WorkedExample",
    "answer_schema",
    "ask_one",
    "check_reply",
    "check_text",
    "drive",
    "may_have_cost",
    "render_evidence",
    "spent_in_vain",
]
