"""Records the four example suites anew with the embedded model, which takes some minutes.

    python examples/record.py [NAME...]

Needed when the wording of judges has changed: recorded replies answer the very requests that were recorded.
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAMES = ("extraction", "support_assistant", "agent_tools", "refusals")


def record(name: str) -> int:
    """The exit code of the run that records one example."""
    folder = HERE / name
    words = ["run", str(folder / "suite.yaml"), "--live", "--record", str(folder / "replies")]
    command = [sys.executable, "-c", "from jurat.cli import main; main()", *words]
    code = subprocess.run(command, check=False).returncode
    (folder / "replies" / "subject.jsonl").unlink(missing_ok=True)  # a function is called, which costs nothing
    return code


def main() -> None:
    """Record those that are named, or all; a gate that fails is no fault here."""
    codes = [record(name) for name in sys.argv[1:] or NAMES]
    sys.exit(max((code for code in codes if code > 1), default=0))


if __name__ == "__main__":
    main()
