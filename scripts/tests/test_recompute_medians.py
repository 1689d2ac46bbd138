"""What scripts/recompute_medians says of a folder without the report's medians."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent / "recompute_medians"


def window(implementation, at, value, **more):
    its = {"scenario": "a/one", "implementation": implementation, "placebo": False, "fork": 0, "round": at, "value": value}
    return {"record": "window", **its, **more}


RECORDS = [
    {"record": "run"},
    *({"record": "round", "scenario": "a/one", "fork": 0, "round": at} for at in range(3)),
    *(window("mutex", at, value) for at, value in enumerate((3.0, 1.0, 2.0))),
    # Of a round that is not complete.
    window("mutex", 3, 900.0),
    window("mutex", 0, 900.0, placebo=True),
    window("mutex", 0, 800.0, build="base"),
    *(window("kanal", at, 5.0) for at in range(3)),
    {"record": "failure", "scenario": "a/one", "implementation": "kanal"},
    *(window("flume", at, 5.0, unsustained=0.1) for at in range(3)),
]


class WithoutEstimates(unittest.TestCase):
    """A folder with records.jsonl alone."""

    def recompute(self, *options):
        with tempfile.TemporaryDirectory() as folder:
            lines = "".join(f"{json.dumps(record)}\n" for record in RECORDS)
            (Path(folder) / "records.jsonl").write_text(lines, encoding="utf-8")
            return subprocess.run([SCRIPT, *options, folder], text=True, capture_output=True, check=False)

    def test_medians_are_printed_alone(self):
        done = self.recompute()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = [line.split() for line in done.stdout.splitlines()]
        self.assertEqual(rows[:3], [["a/one", "flume", "none"], ["a/one", "kanal", "none"], ["a/one", "mutex", "2"]])
        self.assertIn("3 cells, compared with nothing: there is no ", done.stdout)

    def test_a_check_has_nothing_to_compare(self):
        done = self.recompute("--check")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("recompute_medians: --check has nothing to compare: there is no ", done.stderr)
        self.assertIn("estimates.json", done.stderr)
