"""Runs a benchmark over a grid of its knobs, and shows the figures as a table or as CSV."""

import csv
import itertools
import json
import subprocess
import sys

from tool.cases import commit, programs, say

METRICS = ["wall_ns_per_iteration", "cpu_ns_per_iteration"]


def knobs(path):
    """The program's knobs: name -> (usual value, values of its own grid)."""
    done = subprocess.run([path, "--grid"], capture_output=True, text=True)
    return {knob["knob"]: (knob["usual"], knob["grid"]) for knob in map(json.loads, done.stdout.splitlines())}


def parse(words, known):
    """`workers=1,2 idle_spin_us=0` over what the program knows: name -> values, in the program's order."""
    asked = {name: grid for name, (_, grid) in known.items()}
    for word in words:
        name, equals, values = word.partition("=")
        if name not in known or not equals:
            sys.exit(f"bench: there is no knob \"{word}\"; want KNOB=VALUE,... with one of {', '.join(known)}")
        try:
            asked[name] = [int(value) for value in values.split(",")]
        except ValueError:
            sys.exit(f"bench: \"{word}\": values of a knob are whole numbers, with commas between them")
    return asked


def points(grid):
    """All points of a grid, the first knob outermost."""
    return [dict(zip(grid, values)) for values in itertools.product(*grid.values())]


def crowded(row):
    """Whether a row's workers had no core each."""
    return row["params"].get("workers", 0) > row["machine"]["cores"]


def run(path, grid, runs):
    """The rows of all points."""
    rows, all_points, version = [], points(grid), commit()
    for i, point in enumerate(all_points):
        words = ",".join(f"{name}={value}" for name, value in point.items())
        say(f"bench: point {i + 1} of {len(all_points)}: {words}")
        command = [path, "--point", words, "--runs", str(runs), "--commit", version]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"bench: {' '.join(command)} ended with {done.returncode}")
        rows += [json.loads(line) for line in done.stdout.splitlines()]
    return rows


def table(rows, metric):
    """Lines: the first knob downwards, all others across; `*` marks points with fewer cores than workers."""
    rows = [row for row in rows if row["metric"] == metric]
    if not rows:
        return []
    first = next(iter(rows[0]["params"]))
    across = list(dict.fromkeys(tuple((k, v) for k, v in row["params"].items() if k != first) for row in rows))
    lines = [f"{metric}, by {first}"]
    lines.append(f"{first:>14} " + " ".join(f"{', '.join(f'{k} {v}' for k, v in point):>18}" for point in across))
    for value in dict.fromkeys(row["params"][first] for row in rows):
        cells = []
        for point in across:
            found = [row for row in rows if row["params"] == {first: value, **dict(point)}]
            text = f"{found[0]['median']:,.0f}{'*' if crowded(found[0]) else ' '}" if found else "-"
            cells.append(f"{text:>18}")
        lines.append(f"{value:>14} " + " ".join(cells))
    if any(map(crowded, rows)):
        lines.append("* more workers than cores: the kernel's scheduler is part of the figure")
    return lines


def write_csv(rows, file):
    names = list(rows[0]["params"])
    out = csv.writer(file, lineterminator="\n")
    out.writerow(["bench", *names, "metric", "unit", "median", "min", "max", "runs", "crowded"])
    for row in rows:
        out.writerow([row["bench"], *(row["params"][name] for name in names), row["metric"], row["unit"], row["median"],
                      row["min"], row["max"], row["runs"], int(crowded(row))])


def sweep(folder, words, runs, csv_path, sink):
    """The command: `sweep BENCH [KNOB=VALUE,...]...`. Returns the rows."""
    built = dict(programs(folder))
    if not words or words[0] not in built:
        sys.exit(f"bench: sweep wants a benchmark's name: {', '.join(sorted(built))}")
    known = knobs(built[words[0]])
    if not known:
        sys.exit(f"bench: {words[0]} has no knobs to sweep over")
    rows = run(built[words[0]], parse(words[1:], known), runs)
    for row in rows:
        sink.add(row)
    own = [row["metric"] for row in rows if row["metric"].endswith("_ns_per_iteration")]
    for metric in dict.fromkeys(METRICS + own):
        for line in table(rows, metric):
            print(line)
        print()
    if csv_path:
        with open(csv_path, "w", encoding="utf-8", newline="") as file:
            write_csv(rows, file)
    return rows
