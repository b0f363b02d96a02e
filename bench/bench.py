#!/usr/bin/env python3
"""Runs the benchmark programs, and says what their figures mean.

  run [PREFIX...] [--json FILE]           every case that starts with a PREFIX, with a line per figure
        [--save-baseline NAME]            and keeps the figures for regress
  check [PREFIX...] [--json FILE]         what bench/bounds.json needs, row by row; ends with 1 if a bound is not kept
        [--from FILE]...                  the same on figures taken before
  regress [PREFIX...] --against NAME      compares with a saved baseline, or with a commit, whose benchmarks it builds
        [--limit PERCENT]                 and runs in pairs with ours; ends with 1 if something is slower by 10 percent
  sweep BENCH [KNOB=VALUE,...]...         a grid over the benchmark's knobs, as a table
        [--csv FILE] [--svg FILE]         and into files
  instructions [PREFIX...] [--json FILE]  instructions per iteration, counted by valgrind: exact figures
                                          on a busy machine too, of the cases that use one thread
  list [PREFIX...]                        the cases

Options: --runs N (5 unless said; for regress N pairs), --bin FOLDER (of the programs; build/release/bin unless
said). A PREFIX is the start of a label such as barrier/workers=2. Each case has a process of its own. FILE gets
one JSON object a line, unless its option says otherwise.
"""

import argparse
import json
import os
import shutil
import sys

from tool import bounds, plot, regress, sweep
from tool.cases import HERE, ROOT, cases, say
from tool.figures import Sink, run_cases, run_instructions


def read_rows(path):
    try:
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.strip()]
    except (OSError, ValueError) as error:
        sys.exit(f"bench: cannot read figures from {path}: {error}")


def parse():
    parser = argparse.ArgumentParser(prog="dev bench", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "check", "regress", "sweep", "instructions", "list"])
    parser.add_argument("words", nargs="*", metavar="PREFIX")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--from", dest="taken", action="append", metavar="FILE")
    parser.add_argument("--save-baseline", metavar="NAME")
    parser.add_argument("--against", metavar="NAME")
    parser.add_argument("--limit", type=float, default=10, metavar="PERCENT")
    parser.add_argument("--csv", metavar="FILE")
    parser.add_argument("--svg", metavar="FILE")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "release", "bin"))
    parser.add_argument("--bounds", default=os.path.join(HERE, "bounds.json"), help=argparse.SUPPRESS)
    return parser.parse_intermixed_args()


def run(asked):
    sink = Sink(asked.json)
    right = run_cases(cases(asked.bin, asked.words), asked.runs, sink)
    if asked.save_baseline:
        regress.save(asked.save_baseline, sink.rows)
    return right


def check(asked):
    with open(asked.bounds, encoding="utf-8") as file:
        stated = [b for b in json.load(file)
                  if not asked.words or any(b["case"].startswith(p) for p in asked.words)]
    if asked.taken:
        return bounds.check(stated, [row for path in asked.taken for row in read_rows(path)])
    if not shutil.which("valgrind"):
        say("bench: SKIPPING the bounds on instructions: no valgrind (./dev setup --with bench)")
        stated = [b for b in stated if b["metric"] != "instructions_per_iteration"]
    timed, counted = bounds.needed(stated)
    sink = Sink(asked.json, verbose=False)
    found = cases(asked.bin, labels=timed | counted)
    say(f"bench: {len(timed)} cases, {asked.runs} runs each")
    right = run_cases([c for c in found if c[1]["label"] in timed], asked.runs, sink)
    if counted:
        say(f"bench: counting the instructions of {len(counted)} cases")
        run_instructions([c for c in found if c[1]["label"] in counted], sink)
    return bounds.check(stated, sink.rows) and right


def compare(asked):
    if not asked.against:
        sys.exit("bench: regress wants --against and a saved baseline or a commit")
    limit = asked.limit / 100
    if not os.path.exists(regress.baseline(asked.against)):
        return regress.against_commit(asked.against, asked.bin, asked.words, asked.runs, limit)
    sink = Sink(asked.json, verbose=False)
    right = run_cases(cases(asked.bin, asked.words), asked.runs, sink)
    return regress.against_rows(read_rows(regress.baseline(asked.against)), sink.rows, limit) and right


def main():
    asked = parse()
    if asked.command == "list":
        for _, case in cases(asked.bin, asked.words):
            print(case["label"])
        return 0
    if asked.command == "instructions":
        run_instructions(cases(asked.bin, asked.words), Sink(asked.json))
        return 0
    if asked.command == "sweep":
        if asked.svg:
            plot.library()
        rows = sweep.sweep(asked.bin, asked.words, asked.runs, asked.csv, Sink(asked.json, verbose=False))
        if asked.svg:
            plot.draw(rows, asked.svg)
        return 0
    return 0 if {"run": run, "check": check, "regress": compare}[asked.command](asked) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
