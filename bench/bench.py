#!/usr/bin/env python3
"""Runs the benchmark programs and compares their figures with the bounds of bench/bounds.json.

  run [PREFIX...] [--json FILE]           every case that starts with a PREFIX, with a line per figure
  check [PREFIX...] [--json FILE]         what the bounds need, row by row; ends with 1 if one is not kept
        [--from FILE]...                  the same on figures taken before
  instructions [PREFIX...] [--json FILE]  instructions per iteration, counted by valgrind: exact figures
                                          on a busy machine too, of the cases that use one thread
  list [PREFIX...]                        the cases

Options: --runs N (5 unless said), --bin FOLDER (of the programs; build/release/bin unless said).
A PREFIX is the start of a label such as barrier/workers=2. Each case has a process of its own. FILE gets
one JSON object a line.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def say(text):
    print(text, file=sys.stderr, flush=True)


def programs(folder):
    """The benchmark programs that are built, as pairs (bench, path), sorted."""
    found = []
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        path = os.path.join(folder, name)
        if name.startswith("bench_") and os.access(path, os.X_OK) and "." not in name:
            found.append((name.removeprefix("bench_"), path))
    if not found:
        sys.exit(f"bench: no programs in {folder}; build the target bench_all")
    return found


def cases(folder, prefixes=(), labels=None):
    """What is asked for, as pairs (program, what its --list says of the case): all, or by prefix or label."""
    found = []
    for bench, path in programs(folder):
        if prefixes and not any(p.startswith(bench) or bench.startswith(p) for p in prefixes):
            continue  # none of its labels can start with one
        lines = subprocess.run([path, "--list"], check=True, capture_output=True, text=True).stdout
        for case in map(json.loads, lines.splitlines()):
            if labels is not None:
                wanted = case["label"] in labels
            else:
                wanted = not prefixes or any(case["label"].startswith(p) for p in prefixes)
            if wanted:
                found.append((path, case))
    if not found:
        sys.exit("bench: no case starts with that; ./dev bench list names them")
    return found


def commit():
    try:
        git = ["git", "-C", ROOT]
        name = subprocess.run(git + ["rev-parse", "--short=12", "HEAD"], check=True, capture_output=True, text=True)
        changed = subprocess.run(git + ["status", "--porcelain", "--", "src", "bench"], capture_output=True, text=True)
        return name.stdout.strip() + ("+changes" if changed.stdout.strip() else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def label(row):
    params = ",".join(f"{name}={value}" for name, value in row["params"].items())
    return row["bench"] + ("/" + params if params else "")


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


def run_instructions(asked, sink):
    """Counts two runs of different length; the difference leaves start and end out."""
    if not shutil.which("valgrind"):
        sys.exit("bench: counting instructions needs valgrind (./dev setup --with bench)")
    version = commit()
    for path, case in asked:
        if not case["countable"]:
            continue
        few = max(1, case["iterations"] // 500)
        many = 3 * few
        per_iteration = (count_instructions(path, case, many) - count_instructions(path, case, few)) / (many - few)
        bench, _, params = case["label"].partition("/")
        sink.add({"bench": bench, "params": typed(params), "metric": "instructions_per_iteration", "unit": "1",
                  "median": round(per_iteration, 1), "min": round(per_iteration, 1), "max": round(per_iteration, 1),
                  "mad": 0, "runs": 1, "yardsticks": {}, "machine": {"commit": version}})


def typed(params):
    pairs = [pair.split("=", 1) for pair in params.split(",")] if params else []
    return {name: int(value) if re.fullmatch(r"-?\d+", value) else value for name, value in pairs}


def find(rows, name, metric):
    return next((row for row in rows if label(row) == name and row["metric"] == metric), None)


def judge(bounds, rows):
    """Yields (kept, bound, found) for each bound; found is a text. `kept` is None where nothing was measured."""
    for bound in bounds:
        row = find(rows, bound["case"], bound["metric"])
        below = find(rows, bound["over"], bound["metric"]) if "over" in bound else None
        if row is None or ("over" in bound and below is None):
            yield None, bound, "not measured"
            continue
        value = row["median"]
        if below is not None:
            value = value / below["median"] if below["median"] else float("inf")
        note = f"  ({row['note']})" if row.get("note") else ""
        yield value <= bound["max"], bound, shown(value) + note


def check(bounds, rows):
    """Prints each bound with what was found. Returns whether all were kept."""
    kept_all = True
    for kept, bound, found in judge(bounds, rows):
        what = bound["case"] + (f" over {bound['over']}" if "over" in bound else "")
        word = "pass" if kept else "FAIL"
        print(f"{word}  {what:60} {bound['metric']:26} <= {shown(bound['max']):>8}  found {found}")
        kept_all = kept_all and bool(kept)
    return kept_all


def needed(bounds):
    """The labels of the cases that the bounds speak of: timed ones, and those whose instructions count."""
    timed, counted = set(), set()
    for bound in bounds:
        into = counted if bound["metric"] == "instructions_per_iteration" else timed
        into.update(bound[key] for key in ("case", "over") if key in bound)
    return timed, counted


def main():
    parser = argparse.ArgumentParser(prog="dev bench", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "check", "instructions", "list"])
    parser.add_argument("prefixes", nargs="*", metavar="PREFIX")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--from", dest="taken", action="append", metavar="FILE")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "release", "bin"))
    parser.add_argument("--bounds", default=os.path.join(HERE, "bounds.json"), help=argparse.SUPPRESS)
    words = parser.parse_intermixed_args()

    if words.command == "list":
        for _, case in cases(words.bin, words.prefixes):
            print(case["label"])
        return 0
    if words.command == "run":
        return 0 if run_cases(cases(words.bin, words.prefixes), words.runs, Sink(words.json)) else 1
    if words.command == "instructions":
        run_instructions(cases(words.bin, words.prefixes), Sink(words.json))
        return 0

    with open(words.bounds, encoding="utf-8") as file:
        bounds = [b for b in json.load(file)
                  if not words.prefixes or any(b["case"].startswith(p) for p in words.prefixes)]
    if words.taken:
        rows = []
        for path in words.taken:
            with open(path, encoding="utf-8") as file:
                rows += [json.loads(line) for line in file if line.strip()]
        return 0 if check(bounds, rows) else 1
    if not shutil.which("valgrind"):
        say("bench: SKIPPING the bounds on instructions: no valgrind (./dev setup --with bench)")
        bounds = [b for b in bounds if b["metric"] != "instructions_per_iteration"]
    timed, counted = needed(bounds)
    sink = Sink(words.json, verbose=False)
    asked = cases(words.bin, labels=timed | counted)
    say(f"bench: {len(timed)} cases, {words.runs} runs each")
    right = run_cases([c for c in asked if c[1]["label"] in timed], words.runs, sink)
    if counted:
        say(f"bench: counting the instructions of {len(counted)} cases")
        run_instructions([c for c in asked if c[1]["label"] in counted], sink)
    return 0 if check(bounds, sink.rows) and right else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
