#!/usr/bin/env python3
"""That bounds and ratios are judged rightly, and that tables show what was measured."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import report  # noqa: E402
from tool import bounds, cases, regress, sweep  # noqa: E402


def row(case, metric, median, note=""):
    name, _, params = case.partition("/")
    made = {"bench": name, "params": cases.typed(params), "metric": metric, "unit": "ns", "median": median,
            "min": median, "max": median, "mad": 0, "runs": 5,
            "yardsticks": {"spin_barrier_ns": 200, "futex_barrier_ns": 7000, "line_bounce_ns": 180},
            "machine": {"cores": 2, "cpu": "c", "governor": "none", "kernel": "6", "compiler": "g++", "commit": "a",
                        "load": 0.1}}
    return made | ({"note": note} if note else {})


def judged(bound, rows):
    return [kept for kept, _, _ in bounds.judge([bound], rows)][0]


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
            figures, stated = os.path.join(folder, "figures"), os.path.join(folder, "bounds")
            with open(figures, "w", encoding="utf-8") as file:
                file.write(json.dumps(row("barrier/workers=2", "wall_ns_per_iteration", 3000)) + "\n")
            for most, code in ((3300, 0), (2900, 1)):
                with open(stated, "w", encoding="utf-8") as file:
                    json.dump([{"case": "barrier/workers=2", "metric": "wall_ns_per_iteration", "max": most}], file)
                done = subprocess.run([sys.executable, os.path.join(HERE, "bench.py"), "check", "--from", figures,
                                       "--bounds", stated], capture_output=True, text=True)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn("FAIL" if code else "pass", done.stdout)

    def test_our_own_bounds_are_well_formed(self):
        with open(os.path.join(HERE, "bounds.json"), encoding="utf-8") as file:
            stated = json.load(file)
        self.assertTrue(stated)
        for bound in stated:
            self.assertLessEqual({"case", "metric", "max", "why"}, set(bound))


class Ratios(unittest.TestCase):
    def test_past_the_limit_and_beyond_doubt_is_slower(self):
        self.assertEqual(regress.verdict([1.2, 1.21, 1.19, 1.2, 1.22], 0.1)[0], "slower")

    def test_within_the_limit_is_the_same(self):
        self.assertEqual(regress.verdict([1.05, 1.09, 1.02, 0.98, 1.1], 0.1)[0], "same")

    def test_past_the_limit_with_noise_that_reaches_one_is_unclear(self):
        self.assertEqual(regress.verdict([1.15, 0.8, 1.6, 1.2, 0.9], 0.1)[0], "unclear")

    def test_instructions_have_no_noise(self):
        self.assertEqual(regress.verdict([1.11], 0.1)[0], "slower")
        self.assertEqual(regress.verdict([0.5], 0.1)[0], "faster")

    def test_a_baseline_compares_in_spin_barriers(self):
        before = row("barrier/workers=2", "wall_ns_per_iteration", 400)
        slow_machine = row("barrier/workers=2", "wall_ns_per_iteration", 800)
        slow_machine["yardsticks"] = {"spin_barrier_ns": 400}
        self.assertTrue(regress.against_rows([before], [slow_machine], 0.1))
        self.assertFalse(regress.against_rows([before], [row("barrier/workers=2", "wall_ns_per_iteration", 800)], 0.1))


class Sweeps(unittest.TestCase):
    def test_a_grid_is_the_program_s_unless_said_otherwise(self):
        known = {"workers": (1, [1, 2]), "spin": (10, [0, 10])}
        self.assertEqual(sweep.points(sweep.parse(["spin=3"], known)),
                         [{"workers": 1, "spin": 3}, {"workers": 2, "spin": 3}])

    def test_an_unknown_knob_is_refused_by_name(self):
        with self.assertRaisesRegex(SystemExit, 'no knob "speed=3"; want .* workers'):
            sweep.parse(["speed=3"], {"workers": (1, [1])})
        with self.assertRaisesRegex(SystemExit, "whole numbers"):
            sweep.parse(["workers=two"], {"workers": (1, [1])})

    def test_a_table_has_the_first_knob_downwards_and_marks_crowded_points(self):
        rows = [row(f"barrier/workers={w},spin={s}", "wall_ns_per_iteration", 100 * w + s) for w in (2, 4) for s in (0, 1)]
        lines = sweep.table(rows, "wall_ns_per_iteration")
        self.assertEqual([line.split() for line in lines[2:4]], [["2", "200", "201"], ["4", "400*", "401*"]])
        self.assertIn("more workers than cores", lines[-1])


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
