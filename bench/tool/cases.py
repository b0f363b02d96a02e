"""The benchmark programs that are built, and their cases."""

import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
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


def typed(params):
    pairs = [pair.split("=", 1) for pair in params.split(",")] if params else []
    return {name: int(value) if re.fullmatch(r"-?\d+", value) else value for name, value in pairs}
