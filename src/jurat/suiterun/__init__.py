"""Running a suite: from what was read to a plan, a record and a gate.

This is composition: subject, judges, engine and store are joined here, and nowhere do they know each other.

`prepare` finds everything that is wrong before anything is spent; `begin` puts a run into the store, `carry_on` carries
it out; `reopen` makes the plan of a run that was interrupted again; `begin_rescore` judges the answers of an earlier
run anew.
"""

from jurat.suiterun.bycase import by_case
from jurat.suiterun.evidence import trial_evidence
from jurat.suiterun.foresee import foresee
from jurat.suiterun.inputs import input_files, input_files_of_run
from jurat.suiterun.lifecycle import Finished, begin, carry_on, load_finished
from jurat.suiterun.options import RunOptions, checked_options
from jurat.suiterun.places import Places, read_places
from jurat.suiterun.prepare import Prepared, check_suite, plan_for, prepare
from jurat.suiterun.recordings import is_recording
from jurat.suiterun.reopen import reopen
from jurat.suiterun.rescore import begin_rescore
from jurat.suiterun.verifying import verify_store

__all__ = [
    "Finished",
    "Places",
    "Prepared",
    "RunOptions",
    "begin",
    "begin_rescore",
    "by_case",
    "carry_on",
    "check_suite",
    "checked_options",
    "foresee",
    "input_files",
    "input_files_of_run",
    "is_recording",
    "load_finished",
    "plan_for",
    "prepare",
    "read_places",
    "reopen",
    "trial_evidence",
    "verify_store",
]
