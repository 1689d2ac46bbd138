"""What scripts/sample refuses, and what its tables show. Every test runs a script as a reader would."""

import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent
ROOT = SCRIPTS.parent


def records(*, exploratory=False, implementations=(), rows=(), **run):
    """The records of a run."""
    yield {
        "record": "run",
        "started": "2026-11-25T09:00:00Z",
        "commit": "0123456789abcdef",
        "forks": 5,
        "rounds": 2,
        "window_nanos": 50_000_000,
        "exploratory": exploratory,
        "machine": {"cpu": "A Processor", "cores": 2, "os": "linux 6", "rustc": "rustc 1.95.0 (abc 2026-04-14)"},
        **run,
    }
    for name, origin, version in implementations:
        yield {"record": "implementation", "name": name, "origin": origin, "version": version, "kind": "channel"}
    for scenario, implementation in rows:
        yield {"record": "window", "scenario": scenario, "implementation": implementation}
    yield {"record": "noise", "quiet": True}
    yield {"record": "end", "dropped": []}


def cell(scenario, implementation, origin, median, spread=0.1, **more):
    """A line of `cmp`: the interval is as wide to both sides."""
    return {
        "scenario": scenario,
        "implementation": implementation,
        "origin": origin,
        "median": median,
        "lo": median * (1 - spread),
        "hi": median * (1 + spread),
        "unit": "ns",
        "better": "lower",
        "error": None,
        **more,
    }


def failed(scenario, implementation, origin, error):
    numbers = {"median": None, "lo": None, "hi": None}
    return {**cell(scenario, implementation, origin, 1.0), **numbers, "error": error}


def rank(group, implementation, **more):
    row = {"group": group, "quantity": "speed", "implementation": implementation, "origin": "own", "tier": 1, "cells": 3}
    return {**row, "ratio_to_best": 1.0, "lo": 0.9, "hi": 1.0, **more}


def lines_of(rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows)


class Tables(unittest.TestCase):
    """scripts/sample_tables"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def table(self, name, rows, **run):
        """That table of these rows, without its markers."""
        text = self.folder / "text.md"
        text.write_text(f"before\n<!-- sample: {name} -->\nold\n<!-- /sample -->\nafter\n", encoding="utf-8")
        kept = self.folder / "records.jsonl"
        kept.write_text(lines_of(records(**run)), encoding="utf-8")
        command = [SCRIPTS / "sample_tables", kept, text]
        done = subprocess.run(command, input=lines_of(rows), text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        written = text.read_text(encoding="utf-8")
        self.assertNotIn("times as fast", written)
        self.assertTrue(written.startswith("before\n") and written.endswith("\nafter\n"), written)
        self.assertNotIn("old", written)
        return written

    def lists(self, rows, **run):
        """In which of the lists the scenarios are, each list in its order."""
        names = ("losses", "level", "wins")
        found = {name: re.findall(r"^\| (\w+/\w+) \|", self.table(name, rows, **run), re.M) for name in names}
        return tuple(found[name] for name in names)

    def test_a_loss_an_overlap_and_a_win_are_in_a_list_each(self):
        rows = []
        for scenario, ours in (("a/loss", 130.0), ("a/level", 115.0), ("a/win", 70.0)):
            rows += [cell(scenario, "mutex", "own", ours), cell(scenario, "kanal", "peer", 100.0)]
        self.assertEqual(self.lists(rows), (["a/loss"], ["a/level"], ["a/win"]))
        table = self.table("losses", rows)
        self.assertIn("| a/loss | `kanal` 100 ns (90.0–110) | `mutex` 130 ns (117–143) | 0.77 (0.63–0.94) |", table)
        self.assertIn("Of 3 scenarios the best of the others is ahead in 1, and the best of ours in 1.", table)

    def test_where_more_is_better_the_ratio_is_turned_round(self):
        rate = {"better": "higher", "unit": "messages/s"}
        rows = [cell("a/loss", "mutex", "own", 1e6, **rate), cell("a/loss", "kanal", "peer", 4e6, **rate)]
        rows += [cell("a/win", "mutex", "own", 4e6, **rate), cell("a/win", "kanal", "peer", 1e6, **rate)]
        self.assertEqual(self.lists(rows), (["a/loss"], [], ["a/win"]))
        self.assertIn("`mutex` 1.00 M messages/s (0.90–1.10) | 0.25 (0.20–0.31) |", self.table("losses", rows))

    def test_the_worst_loss_and_the_closest_win_come_first(self):
        rows = []
        for scenario, ours in (("a/bad", 200.0), ("a/worst", 900.0), ("a/far", 10.0), ("a/close", 60.0)):
            rows += [cell(scenario, "mutex", "own", ours), cell(scenario, "go-channel", "foreign", 100.0)]
        self.assertEqual(self.lists(rows), (["a/worst", "a/bad"], [], ["a/close", "a/far"]))

    def test_the_best_of_each_side_is_compared(self):
        rows = [cell("a/one", "mutex", "own", 300.0), cell("a/one", "lock_free", "own", 200.0)]
        rows += [cell("a/one", "kanal", "peer", 100.0), cell("a/one", "go-channel", "foreign", 50.0)]
        self.assertIn("| a/one | `go-channel` 50.0 ns (45.0–55.0) | `lock_free` 200 ns", self.table("losses", rows))

    def test_a_reference_is_no_rival(self):
        rows = [cell("a/one", "heap", "own", 200.0), cell("a/one", "os-sleep", "peer", 10.0, reference=True)]
        self.assertEqual(self.lists(rows), ([], [], []))
        self.assertIn("1 scenario where no rival has a number: `a/one`.", self.table("level", rows))

    def test_where_ours_have_no_number_it_is_a_loss(self):
        rows = [cell("a/slow", "mutex", "own", 200.0), cell("a/slow", "kanal", "peer", 100.0)]
        rows += [failed("a/none", "mutex", "own", "hung: no | answer"), cell("a/none", "kanal", "peer", 100.0)]
        rows += [cell("a/absent", "kanal", "peer", 100.0)]
        losses, level, wins = self.lists(rows)
        self.assertEqual((losses[-1], sorted(losses[:2]), level, wins), ("a/slow", ["a/absent", "a/none"], [], []))
        table = self.table("losses", rows)
        self.assertIn("| a/none | `kanal` 100 ns (90.0–110) | `mutex`: hung: no \\| answer | – |", table)
        self.assertIn("In 2 of these no implementation of ours has a number.", table)
        self.assertIn("| a/none | `mutex` | hung: no \\| answer |", self.table("failures", rows))

    def test_a_bound_decides_only_what_it_is_ahead_in(self):
        bound = {"at_most": True}
        rows = [cell("a/ours", "mutex", "own", 200.0, **bound), cell("a/ours", "kanal", "peer", 100.0)]
        rows += [cell("a/theirs", "mutex", "own", 100.0), cell("a/theirs", "kanal", "peer", 200.0, **bound)]
        rows += [cell("a/ahead", "mutex", "own", 100.0, **bound), cell("a/ahead", "kanal", "peer", 200.0)]
        self.assertEqual(self.lists(rows), ([], ["a/ours", "a/theirs"], ["a/ahead"]))
        self.assertIn("`mutex` ≤ 100 ns", self.table("wins", rows))

    def test_a_run_that_may_not_conclude_says_so_first(self):
        rows = [cell("a/loss", "mutex", "own", 300.0), cell("a/loss", "kanal", "peer", 100.0)]
        reasons = {"exploratory": "5 forks of 2 rounds are too few", "unoptimised": "it is of an unoptimised build"}
        for run, why in (({key: True}, why) for key, why in reasons.items()):
            table = self.table("machine", rows, **run).splitlines()[2]
            self.assertTrue(table.startswith("This run may not conclude: "), table)
            self.assertIn(why, table)
            heading = "## Where ours are behind, as far as this run can tell\n"
            self.assertIn(heading, self.table("losses", rows, **run))
        self.assertIn("\n## Where ours lose\n", self.table("losses", rows))
        table = self.table("machine", rows)
        self.assertIn("\nMeasured on A Processor, 2 cores", table)
        self.assertIn("1 scenario ran in 5 forks of 2 rounds, with windows of 50 ms. 2 implementations have a number.", table)

    def test_an_implementation_without_any_number_is_named_and_not_counted(self):
        rows = [cell("a/one", "mutex", "own", 100.0), failed("a/one", "kanal", "peer", "hung")]
        self.assertIn(". 1 implementation has a number, and `kanal` has none. 1 of 2 cells", self.table("machine", rows))
        rows += [failed("a/one", "flume", "peer", "hung"), cell("a/two", "kanal", "peer", 100.0)]
        self.assertIn(". 2 implementations have a number, and `flume` has none. 2 of 4", self.table("machine", rows))
        rows += [failed("a/two", "async-channel", "peer", "hung")]
        self.assertIn(" have a number, and `async-channel` and `flume` have none.", self.table("machine", rows))

    def test_the_whole_ranking_is_shown_and_groups_that_are_not_ranked_are_named(self):
        names = [f"channel{place}" for place in range(9)]
        rows = [rank("channels", name) for name in names] + [rank("executors", "tokio", ranked=False, tier=None)]
        table = self.table("ranking", rows)
        self.assertEqual(re.findall(r"^\| channels \| speed \| `(\w+)`", table, re.M), names)
        self.assertIn("Too few cells to be ranked, or a ceiling: `executors` (speed).", table)
        self.assertNotIn("tokio", table)

    def test_other_languages_have_the_versions_that_were_measured(self):
        foreign = [("go-channel", "foreign", "Go 1.27.3"), ("core-async-go", "foreign", "core.async 1.5.648 (Debian)")]
        rows = [cell("a/one", "mutex", "own", 50.0), cell("a/one", "go-channel", "foreign", 100.0)]
        table = self.table("originals", rows, implementations=foreign)
        self.assertIn("| scenario | ours | Go 1.27.3 | core.async 1.5.648 (Debian) |", table)
        self.assertIn("| `go-channel` 100 ns (90.0–110): 2.00 (1.64–2.44) | – |", table)
        table = self.table("entrants", rows, implementations=foreign)
        self.assertIn("| `go-channel` | channel | foreign | Go 1.27.3 | 1 | 0 |", table)
        self.assertIn("| core.async 1.5.648 (Debian) | no scenario times it | – |", table)

    def test_a_marker_of_no_table_is_refused(self):
        text, kept = self.folder / "text.md", self.folder / "records.jsonl"
        kept.write_text(lines_of(records()), encoding="utf-8")
        unknown = "<!-- sample: best -->\n<!-- /sample -->\n"
        for content, why in ((unknown, "there is no table 'best'"), ("none\n", "no line")):
            text.write_text(content, encoding="utf-8")
            command = [SCRIPTS / "sample_tables", kept, text]
            done = subprocess.run(command, input="", text=True, capture_output=True, check=False)
            self.assertEqual((done.returncode, text.read_text(encoding="utf-8")), (1, content))
            self.assertIn(why, done.stderr)

    def test_the_readme_has_losses_above_wins(self):
        markers = re.findall(r"<!-- sample: (\w+) -->", (ROOT / "README.md").read_text(encoding="utf-8"))
        self.assertEqual(markers, ["machine", "losses", "wins"])


# A command in place of `cargo flowmeter`: it writes down how it was called, and does as the files beside it say.
COMMAND = """#!/usr/bin/env python3
import os, pathlib, shutil, sys
folder = pathlib.Path(__file__).parent
verb, arguments = sys.argv[1], sys.argv[2:]
with open(folder / "called", "a") as called:
    called.write(" ".join(sys.argv[1:]) + "\\n")
if verb == "measure":
    to = pathlib.Path(arguments[arguments.index("-o") + 1])
    to.mkdir(parents=True)
    probe = to.name == "probe"
    shutil.copy(folder / ("probe.jsonl" if probe else "records.jsonl"), to / "records.jsonl")
elif verb == "report":
    pathlib.Path(arguments[arguments.index("-o") + 1]).write_text("page")
elif "--into" in arguments:
    with open(pathlib.Path(arguments[-1]) / "records.jsonl", "a") as records:
        records.write('{"record": "' + verb + '"}\\n')
    if verb == "mutants" and (folder / "survivor").exists():
        sys.exit(1)
elif (folder / verb).exists():
    print((folder / verb).read_text(), end="")
if verb == "noise" and "--strict" in arguments and (folder / "loud").exists():
    sys.exit(3)
"""
BROWSER = """#!/usr/bin/env bash
for word; do case "$word" in --screenshot=*) touch -d '1 minute' "${word#--screenshot=}" ;; esac; done
"""
CURATED = ["channels/one", "timers/two"]
LISTED = [
    {"kind": "channel", "name": "mutex", "origin": "own", "caps": ["blocking"]},
    {"kind": "channel", "name": "kanal", "origin": "peer", "caps": ["blocking"]},
    {"kind": "timer", "name": "os-sleep", "origin": "peer", "caps": [], "reference": True},
    {"kind": "timer", "name": "go-select-timer", "origin": "foreign", "caps": ["sleep"]},
    {"kind": "pipeline", "name": "jdk25-virtual-upmap", "origin": "foreign", "caps": ["parallel-map"]},
    {"kind": "pipeline", "name": "unordered", "origin": "own", "caps": ["ordered"]},
    {"kind": "pipeline", "name": "upmap", "origin": "own", "caps": ["parallel-map"]},
    {"kind": "pipeline", "name": "rayon", "origin": "peer", "caps": ["ordered", "workers"]},
    {"kind": "combinator", "name": "combinators", "origin": "own", "caps": []},
    {"kind": "executor", "name": "state_machine", "origin": "own", "caps": ["go-blocks"]},
    {"kind": "scenario", "name": "channels/uncurated", "origin": "own", "caps": []},
    {"kind": "property", "name": "c1-conservation", "origin": "own", "caps": []},
    {"kind": "mutant", "name": "mutex-lost", "origin": "mutant", "caps": []},
]
# Every one of them that a scenario times, and every scenario of the sample.
WHOLE = [
    ("channels/one", "mutex"),
    ("channels/one", "kanal"),
    ("timers/two", "os-sleep"),
    ("timers/two", "jdk25-virtual-upmap"),
    ("timers/two", "unordered"),
    ("timers-async/turnover-500", "go-select-timer"),
]
CELLS = [cell("channels/one", "mutex", "own", 200.0), cell("channels/one", "kanal", "peer", 100.0)]


class Sample(unittest.TestCase):
    """scripts/sample and scripts/sample_check, in a folder with nothing else, by a command that measures nothing."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name) / "checkout"
        self.fake = Path(folder.name) / "fake"
        self.fake.mkdir()
        (self.root / "docs").mkdir(parents=True)
        (self.root / "scripts").mkdir()
        for name in ("sample", "sample_check", "sample_tables"):
            shutil.copy(SCRIPTS / name, self.root / "scripts" / name)
        for name, priority in [(name, 1) for name in CURATED] + [("channels/uncurated", None)]:
            file = self.root / "suites/scenarios" / f"{name}.toml"
            file.parent.mkdir(parents=True, exist_ok=True)
            text = f"priority = {priority}\n" if priority else "title = 'no priority = 1 in it'\n"
            file.write_text(text, encoding="utf-8")
        for path, table in (("README.md", "losses"), ("docs/sample.md", "entrants")):
            (self.root / path).write_text(f"<!-- sample: {table} -->\n<!-- /sample -->\n", encoding="utf-8")
        self.has_kept = self.root / "reports/sample/records.jsonl"
        self.has_kept.parent.mkdir(parents=True)
        self.has_kept.write_text(lines_of(records(rows=WHOLE)), encoding="utf-8")
        self.before = self.has_kept.read_text(encoding="utf-8")
        for name, text in (("command", COMMAND), ("browser", BROWSER)):
            (self.fake / name).write_text(text, encoding="utf-8")
            (self.fake / name).chmod(stat.S_IRWXU)
        self.has("probe.jsonl", records())
        self.has("records.jsonl", records(rows=WHOLE, command="measure -o target/sample/run"))
        self.has("list", LISTED)
        self.has("cmp", CELLS)

    def has(self, name, rows):
        (self.fake / name).write_text(lines_of(rows), encoding="utf-8")

    def sample(self, *arguments):
        environment = {**os.environ, "FLOWMETER": str(self.fake / "command"), "CHROMIUM": str(self.fake / "browser")}
        command = [self.root / "scripts/sample", *arguments]
        return subprocess.run(command, env=environment, text=True, capture_output=True, check=False)

    def called(self):
        called = self.fake / "called"
        return called.read_text(encoding="utf-8").splitlines() if called.exists() else []

    def refuses(self, why, code=1, arguments=()):
        """It ends with that sentence, and what was there is as it was."""
        done = self.sample(*arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(why, done.stderr)
        self.assertEqual(self.has_kept.read_text(encoding="utf-8"), self.before)

    def test_it_measures_everything_that_is_run_by_default(self):
        done = self.sample()
        self.assertEqual(done.returncode, 0, done.stderr)
        run = next(line for line in self.called() if "sample/run" in line)
        scenarios = "|".join([*CURATED, "timers-async/turnover-500"])
        self.assertEqual(run, f"measure --foreign require --forks 5 --rounds 2 --window 50 -o target/sample/run -s ^({scenarios})$")
        kept = self.has_kept.read_text(encoding="utf-8")
        self.assertIn("measure -o runs/sample", kept)
        self.assertIn("| channels/one | `kanal`", (self.root / "README.md").read_text(encoding="utf-8"))
        verbs = [line.split()[0] for line in self.called()]
        self.assertEqual(verbs, ["measure", "noise", "measure", "list", "claims", "mutants", "report", "rank", "cmp"])

    def test_an_implementation_that_is_missing_is_named(self):
        for missing in ("mutex", "kanal", "os-sleep", "go-select-timer", "jdk25-virtual-upmap", "unordered"):
            rows = [row for row in WHOLE if row[1] != missing] + [(scenario, "other") for scenario in CURATED]
            rows += [("timers-async/turnover-500", "other")]
            self.has("records.jsonl", records(rows=rows))
            self.refuses(f"no row of the implementation {missing}\n")

    def test_a_refused_run_is_judged_again_without_measuring(self):
        self.has("records.jsonl", records(rows=WHOLE[1:], command="measure -o target/sample/run"))
        self.refuses("no row of the implementation mutex\n")
        self.refuses("no row of the implementation mutex\n", arguments=["--refused"])
        self.has("list", LISTED[1:])
        (self.fake / "called").unlink()
        done = self.sample("--refused")
        self.assertEqual(done.returncode, 0, done.stderr)
        verbs = [line.split()[0] for line in self.called()]
        self.assertEqual(verbs, ["list", "claims", "mutants", "report", "rank", "cmp"])
        self.assertIn("measure -o runs/sample", self.has_kept.read_text(encoding="utf-8"))
        done = self.sample("--refused")
        self.assertIn("no run that was refused", done.stderr)
        self.assertEqual(done.returncode, 1)

    def test_what_is_added_to_a_refused_run_is_added_once(self):
        self.has("survivor", [])
        self.refuses("a mutant is not as it should be")
        self.refuses("a mutant is not as it should be", arguments=["--refused"])
        (self.fake / "survivor").unlink()
        self.assertEqual(self.sample("--refused").returncode, 0)
        kept = [json.loads(line)["record"] for line in self.has_kept.read_text(encoding="utf-8").splitlines()]
        self.assertEqual((kept.count("claims"), kept.count("mutants")), (1, 1))

    def test_a_failure_is_a_row(self):
        failure = {"record": "failure", "scenario": "channels/one", "implementation": "kanal"}
        rows = [row for row in WHOLE if row[1] != "kanal"]
        self.has("records.jsonl", [*records(rows=rows), failure])
        self.assertEqual(self.sample().returncode, 0)

    def test_a_scenario_that_is_missing_is_named(self):
        rows = [("channels/one", name) for _, name in WHOLE]
        self.has("records.jsonl", records(rows=rows))
        self.refuses("no row of the scenarios timers/two, timers-async/turnover-500\n")

    def test_a_run_that_is_cut_short_is_refused(self):
        whole = list(records(rows=WHOLE))
        self.has("records.jsonl", whole[:-1])
        self.refuses("it did not come to its end")
        self.has("records.jsonl", [*whole[:-1], {"record": "end", "dropped": ["timers/two"]}])
        self.refuses("it dropped scenarios: timers/two")
        self.has("records.jsonl", records(rows=WHOLE, exploratory=True))
        self.refuses("it may not conclude: 5 forks of 2 rounds are too few")

    def test_nothing_is_measured_on_a_machine_that_is_not_quiet(self):
        (self.fake / "loud").touch()
        self.refuses("the machine is not quiet enough to measure on", code=3)
        self.assertFalse(any("sample/run" in line for line in self.called()))

    def test_nothing_is_measured_by_an_unoptimised_build(self):
        (self.fake / "probe.jsonl").write_text('{"record":"run","unoptimised":true}\n', encoding="utf-8")
        self.refuses("the command is an unoptimised build")
        self.assertFalse(any("sample/run" in line for line in self.called()))

    def test_no_run_redraws_what_is_there(self):
        done = self.sample("--no-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line.split()[0] for line in self.called()], ["report", "rank", "cmp"])
        self.assertEqual(self.has_kept.read_text(encoding="utf-8"), self.before)
        self.assertIn("| channels/one | `kanal`", (self.root / "README.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
