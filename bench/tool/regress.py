"""Tells whether something has become slower: than a baseline that was saved, or than another commit.

Against a commit: its benchmarks are built beside ours, and each case runs in pairs, theirs and ours in
turn, so that what the machine does meanwhile happens to both. Each pair gives a ratio, ours to theirs.
Against a baseline, which was taken at another time, both sides are first divided by the spin barrier of
their own run; this sees less. Instructions need neither.

A figure is slower if its median ratio is past the limit and its doubt does not reach back to 1.
"""

import json
import math
import os
import shutil
import statistics
import subprocess
import sys

from tool.cases import ROOT, cases, commit, label, say
from tool.figures import count_per_iteration

BASELINES = os.path.join(ROOT, "build", "baselines")


def compared(row):
    """Whether less of the row's figure is better, and once per something, so that ratios mean something."""
    return row["unit"] == "ns" and "_per_" in row["metric"] or row["metric"] == "instructions_per_iteration"


def verdict(ratios, limit):
    """(word, median, doubt) of what the ratios, ours to theirs, say. `limit` is a part: 0.1 is ten percent."""
    middle = statistics.median(ratios)
    spread = statistics.median(abs(ratio - middle) for ratio in ratios)
    # Twice the standard error of a median, from the median deviation, as if the noise were normal.
    doubt = 2 * 1.4826 * 1.2533 * spread / math.sqrt(len(ratios))
    if middle <= 1 + limit:
        return ("faster" if middle < 1 - limit and middle + doubt < 1 else "same"), middle, doubt
    return ("slower" if middle - doubt > 1 else "unclear"), middle, doubt


def take(path, case):
    """The rows of one run of one case, by metric."""
    command = [path, "--case", case["label"], "--runs", "1", "--commit", "paired"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"bench: {case['label']} ended with {done.returncode}")
    return {row["metric"]: row for row in map(json.loads, done.stdout.splitlines())}


def pairs(theirs, ours, case, count):
    """Ratios by metric, of `count` pairs of runs. Who goes first changes from pair to pair."""
    ratios = {}
    for i in range(count):
        order = [("theirs", theirs), ("ours", ours)]
        got = {side: take(path, case) for side, path in (order if i % 2 == 0 else reversed(order))}
        for metric, row in got["ours"].items():
            below = got["theirs"].get(metric)
            if compared(row) and below and below["median"] > 0:
                ratios.setdefault(metric, []).append(row["median"] / below["median"])
    return ratios


def build(revision):
    """Builds the benchmarks of a commit into build/regress. Returns the folder of the programs."""
    named = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=12", revision + "^{commit}"], capture_output=True,
                           text=True)
    if named.returncode != 0:
        saved = ", ".join(sorted(os.listdir(BASELINES))) if os.path.isdir(BASELINES) else "none"
        sys.exit(f"bench: \"{revision}\" is no commit and no saved baseline (saved: {saved}); "
                 "`./dev bench run --save-baseline NAME` saves one")
    folder = os.path.join(ROOT, "build", "regress", named.stdout.strip())
    tree, made = os.path.join(folder, "tree"), os.path.join(folder, "build")
    if not os.path.exists(os.path.join(folder, "built")):
        say(f"bench: building {named.stdout.strip()} in {os.path.relpath(folder, ROOT)}")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(tree)
        archive = subprocess.Popen(["git", "-C", ROOT, "archive", named.stdout.strip()], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", tree], stdin=archive.stdout, check=True)
        for command in (["cmake", "--preset", "release", "-B", made], ["cmake", "--build", made, "--target", "bench_all"]):
            done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"bench: {' '.join(command)} failed in {tree}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
        with open(os.path.join(folder, "built"), "w", encoding="utf-8"):
            pass
    return os.path.join(made, "bin")


def report(name, metric, ratios, limit):
    """Prints a line. Returns whether that is no regression."""
    word, middle, doubt = verdict(ratios, limit)
    print(f"{word:8} {name:58} {metric:26} x {middle:.3f}  +- {doubt:.3f}  ({len(ratios)} pairs)", flush=True)
    return word != "slower"


def against_commit(revision, ours, prefixes, count, limit):
    theirs = {case["label"]: path for path, case in cases(build(revision), prefixes)}
    kept = True
    for path, case in cases(ours, prefixes):
        if case["label"] not in theirs:
            say(f"bench: {case['label']} is new")
            continue
        for metric, ratios in pairs(theirs[case["label"]], path, case, count).items():
            kept = report(case["label"], metric, ratios, limit) and kept
        if case["countable"] and shutil.which("valgrind"):
            ratio = count_per_iteration(path, case) / count_per_iteration(theirs[case["label"]], case)
            kept = report(case["label"], "instructions_per_iteration", [ratio], limit) and kept
    return kept


def baseline(name):
    return os.path.join(BASELINES, name + ".json")


def save(name, rows):
    os.makedirs(BASELINES, exist_ok=True)
    with open(baseline(name), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    say(f"bench: saved as the baseline {name}, of commit {commit()}")


def in_barriers(row):
    """A time in spin barriers of its own run; anything else as it is."""
    below = (row.get("yardsticks") or {}).get("spin_barrier_ns")
    return row["median"] / below if below and row["unit"] == "ns" else row["median"]


def against_rows(before, rows, limit):
    """Compares rows with those of a baseline. Returns whether nothing is slower."""
    known = {(label(row), row["metric"]): row for row in before}
    kept = True
    for row in filter(compared, rows):
        below = known.get((label(row), row["metric"]))
        if below is None or not in_barriers(below):
            continue
        middle = in_barriers(row) / in_barriers(below)
        # Both sides' deviations, as parts of their medians; as good as three ratios around the middle.
        part = sum(side["mad"] / side["median"] for side in (row, below) if side["median"])
        kept = report(label(row), row["metric"], [middle, middle * (1 - part), middle * (1 + part)], limit) and kept
    return kept
