"""Judges: models that score against a rubric, believed only as far as they can be checked."""

from jurat.judge.answer import Answer, CriterionAnswer, answer_schema, check_reply, check_text
from jurat.judge.judge import Judge, JudgeSettings, VerdictSteps, drive
from jurat.judge.prompt import BEGIN, END, WorkedExample, render_evidence
from jurat.judge.strategy import Outcome, Withheld
from jurat.judge.verdict import JudgeFacts, Opinion, Spending, Verdict

__all__ = [
    "BEGIN",
    "END",
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
    "check_reply",
    "check_text",
    "drive",
    "render_evidence",
]
