"""Subjects: whoever answers. A model with a prompt, a person's function, a server; each in the same three steps.

`make_task` turns a case and a prompt into the input, every placeholder filled; `make_subject` turns what a suite says
into a subject. What is wrong with either is the author's fault and found before anything is asked.
"""

from jurat.subject.make import make_subject
from jurat.subject.model import ProviderSubject
from jurat.subject.task import make_task

__all__ = ["ProviderSubject", "make_subject", "make_task"]
