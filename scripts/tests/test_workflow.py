"""Tests of scripts/workflow: what it makes of the expressions and conditions of a workflow file."""

import importlib.util
import unittest
from importlib.machinery import SourceFileLoader
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent / "workflow"
try:
    import yaml  # noqa: F401
except ImportError:
    workflow = None
else:
    spec = importlib.util.spec_from_loader("workflow", SourceFileLoader("workflow", str(SCRIPT)))
    workflow = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(workflow)

PULL = {"github": {"event_name": "pull_request"}, "matrix": {"part": 2}}


@unittest.skipIf(workflow is None, "PyYAML is not installed")
class Workflow(unittest.TestCase):
    def test_expressions_are_replaced(self):
        self.assertEqual(workflow.filled("part ${{ matrix.part }}/2", PULL), "part 2/2")

    def test_an_unknown_expression_is_no_empty_text(self):
        with self.assertRaises(workflow.Unknown):
            workflow.filled("${{ matrix.parts }}", PULL)

    def test_a_step_after_a_failed_one_runs_only_if_it_always_does(self):
        self.assertTrue(workflow.holds(None, PULL, failed=False))
        self.assertFalse(workflow.holds(None, PULL, failed=True))
        self.assertTrue(workflow.holds("always()", PULL, failed=True))

    def test_a_condition_compares(self):
        self.assertTrue(workflow.holds("github.event_name == 'pull_request'", PULL, failed=False))
        self.assertFalse(workflow.holds("github.event_name == 'push'", PULL, failed=False))
        with self.assertRaises(workflow.Unknown):
            workflow.holds("github.event_name != 'push'", PULL, failed=False)

    def test_a_matrix_is_all_combinations_and_none_is_one_part(self):
        matrix = {"strategy": {"matrix": {"part": [1, 2], "world": ["std"]}}}
        expected = [{"part": 1, "world": "std"}, {"part": 2, "world": "std"}]
        self.assertEqual(workflow.parts(matrix), expected)
        self.assertEqual(workflow.parts({}), [{}])


if __name__ == "__main__":
    unittest.main()
