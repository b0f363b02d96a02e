#!/usr/bin/env python3
"""That bounds are judged rightly, and that tables show what was measured."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import bench  # noqa: E402
import report  # noqa: E402


def row(case, metric, median, note=""):
    name, _, params = case.partition("/")
    made = {"bench": name, "params": bench.typed(params), "metric": metric, "unit": "ns", "median": median,
            "min": median, "max": median, "mad": 0, "runs": 5,
            "yardsticks": {"spin_barrier_ns": 200, "futex_barrier_ns": 7000, "line_bounce_ns": 180},
            "machine": {"cores": 2, "cpu": "c", "governor": "none", "kernel": "6", "compiler": "g++", "commit": "a",
                        "load": 0.1}}
    return made | ({"note": note} if note else {})


def judged(bound, rows):
    return [kept for kept, _, _ in bench.judge([bound], rows)][0]


class Bounds(unittest.TestCase):
    def test_a_figure_at_its_bound_passes_and_one_above_fails(self):
        bound = {"case": "barrier/workers=1", "metric": "cpu_ns_per_iteration", "max": 750}
        self.assertTrue(judged(bound, [row("barrier/workers=1", "cpu_ns_per_iteration", 750)]))
        self.assertFalse(judged(bound, [row("barrier/workers=1", "cpu_ns_per_iteration", 751)]))

    def test_a_figure_that_is_missing_is_not_taken_for_kept(self):
        bound = {"case": "barrier/workers=1", "metric": "cpu_ns_per_iteration", "max": 750}
        self.assertIsNone(judged(bound, [row("barrier/workers=10", "cpu_ns_per_iteration", 1)]))
        self.assertIsNone(judged(bound, [row("barrier/workers=1", "wall_ns_per_iteration", 1)]))

    def test_over_compares_two_cases(self):
        bound = {"case": "shape/ports=100", "over": "shape/ports=10", "metric": "wall_ns", "max": 15}
        small = row("shape/ports=10", "wall_ns", 4)
        self.assertTrue(judged(bound, [small, row("shape/ports=100", "wall_ns", 60)]))
        self.assertFalse(judged(bound, [small, row("shape/ports=100", "wall_ns", 61)]))
        self.assertIsNone(judged(bound, [row("shape/ports=100", "wall_ns", 60)]))

    def test_check_ends_with_one_if_a_bound_is_not_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            figures, bounds = os.path.join(folder, "figures"), os.path.join(folder, "bounds")
            with open(figures, "w", encoding="utf-8") as file:
                file.write(json.dumps(row("barrier/workers=2", "wall_ns_per_iteration", 3000)) + "\n")
            for most, code in ((3300, 0), (2900, 1)):
                with open(bounds, "w", encoding="utf-8") as file:
                    json.dump([{"case": "barrier/workers=2", "metric": "wall_ns_per_iteration", "max": most}], file)
                done = subprocess.run([sys.executable, os.path.join(HERE, "bench.py"), "check", "--from", figures,
                                       "--bounds", bounds], capture_output=True, text=True)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn("FAIL" if code else "pass", done.stdout)

    def test_our_own_bounds_are_well_formed(self):
        with open(os.path.join(HERE, "bounds.json"), encoding="utf-8") as file:
            bounds = json.load(file)
        self.assertTrue(bounds)
        for bound in bounds:
            self.assertLessEqual({"case", "metric", "max", "why"}, set(bound))


class Tables(unittest.TestCase):
    def test_a_row_shows_its_figure_its_ratio_and_its_doubt(self):
        text = report.tables([row("barrier/workers=2", "wall_ns_per_iteration", 400, note="busy")])
        self.assertIn("| workers 2 (1) | wall_ns_per_iteration | 400 ns | 400 | 400 | 0 | 5 | 2.00 | 0.06 |", text)
        self.assertIn("(1) busy.", text)

    def test_the_instructions_have_a_table_of_their_own(self):
        counted = row("barrier/workers=1", "instructions_per_iteration", 4321)
        self.assertIn("| barrier, workers 1 | 4 321 |", report.tables([counted]))


if __name__ == "__main__":
    unittest.main()
