"""Takes figures: runs cases and prints what they say, or counts their instructions."""

import json
import re
import shutil
import subprocess
import sys

from tool.cases import commit, label, say, typed


def shown(value):
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def row_line(row):
    yardstick = row.get("yardsticks") or {}
    ratio = ""
    if row["unit"] == "ns" and row["metric"].endswith("per_iteration") and yardstick.get("spin_barrier_ns"):
        ratio = f"  = {row['median'] / yardstick['spin_barrier_ns']:.2f} spin barriers"
    return (f"{label(row):58} {row['metric']:26} {shown(row['median']):>14} {row['unit']:3} "
            f"[{shown(row['min'])} .. {shown(row['max'])}]{ratio}{'  doubtful' if row.get('note') else ''}")


class Sink:
    """Where rows go: printed for people, and as JSON into a file if one was named."""

    def __init__(self, path, verbose=True):
        self.file = open(path, "w", encoding="utf-8") if path else None
        self.verbose = verbose
        self.rows = []

    def add(self, row):
        self.rows.append(row)
        if self.file:
            self.file.write(json.dumps(row) + "\n")
            self.file.flush()
        if self.verbose:
            print(row_line(row), flush=True)


def run_cases(asked, runs, sink):
    """Runs each case in a process of its own. Returns whether all answers were right."""
    version = commit()
    right = True
    for path, case in asked:
        command = [path, "--case", case["label"], "--runs", str(runs), "--commit", version]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        for row in map(json.loads, done.stdout.splitlines()):
            sink.add(row)
        if sink.rows and sink.rows[-1].get("note"):
            say(f"bench: {case['label']}: {sink.rows[-1]['note']}")
        if done.returncode != 0:
            say(f"bench: {case['label']} ended with {done.returncode}")
            right = False
    return right


def count_instructions(path, case, iterations):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", path, "--case", case["label"], "--bare",
               "--iterations", str(iterations)]
    done = subprocess.run(command, capture_output=True, text=True)
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not counted:
        sys.exit(f"bench: {' '.join(command)} ended with {done.returncode}\n{done.stderr}")
    return int(counted.group(1))


def count_per_iteration(path, case):
    """From two runs of different length; the difference leaves start and end out."""
    few = max(1, case["iterations"] // 500)
    many = 3 * few
    return (count_instructions(path, case, many) - count_instructions(path, case, few)) / (many - few)


def run_instructions(asked, sink):
    """Counts the instructions of those cases where that means something."""
    if not shutil.which("valgrind"):
        sys.exit("bench: counting instructions needs valgrind (./dev setup --with bench)")
    version = commit()
    for path, case in asked:
        if not case["countable"]:
            continue
        count = round(count_per_iteration(path, case), 1)
        bench, _, params = case["label"].partition("/")
        sink.add({"bench": bench, "params": typed(params), "metric": "instructions_per_iteration", "unit": "1",
                  "median": count, "min": count, "max": count, "mad": 0, "runs": 1, "yardsticks": {},
                  "machine": {"commit": version}})
