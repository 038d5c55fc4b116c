"""Running a suite: from what was read to a plan, a record and a gate.

This is composition: subject, judges, engine and store are joined here, and nowhere do they know each other.

`prepare` finds everything that is wrong before anything is spent; `execute` carries the plan out; `carry_on` goes on
with an interrupted run; `rescore` judges the answers of an earlier one anew.
"""
