#!/usr/bin/env python3
"""Prints the tables of docs/performance.md from what `./dev bench run --json FILE` and
`./dev bench instructions --json FILE` wrote.

usage: bench/report.py FILE... [--update]

With --update the tables replace what stands between `<!-- figures -->` and `<!-- /figures -->` in
docs/performance.md.
"""

import json
import os
import re
import sys

PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "performance.md")
SHOWN = {  # bench -> metrics that have a line in its table
    "barrier": ["wall_ns_per_iteration", "cpu_ns_per_iteration", "parks_per_iteration", "wakes_per_iteration"],
    "pingpong": ["wall_ns_per_iteration", "cpu_ns_per_iteration", "wakes_per_iteration"],
    "exchange": ["wall_ns_per_iteration", "cpu_ns_per_iteration", "records_per_s", "p99_ns", "longest_ns"],
    "chain": ["wall_ns_per_iteration", "cpu_ns_per_operator"],
    "event_driven": ["wall_ns_per_iteration", "p99_ns", "steps_most", "build_cpu_ns", "peak_rss_bytes"],
    "shape": ["wall_ns", "cpu_ns", "build_cpu_ns", "wall_ns_per_port", "peak_rss_bytes"],
    "queue": ["wall_ns_per_iteration"],
}


def number(value):
    return f"{value:,.0f}".replace(",", " ") if abs(value) >= 100 else f"{value:.3g}"


def ratio(row, yardstick):
    below = (row.get("yardsticks") or {}).get(yardstick)
    # Yardsticks compare with what happens once per iteration; memory and build times have no such twin.
    return f"{row['median'] / below:.2f}" if below and row["metric"].endswith("_per_iteration") and row["unit"] == "ns" else ""


def tables(rows):
    timed = [row for row in rows if row["metric"] != "instructions_per_iteration"]
    counted = [row for row in rows if row["metric"] == "instructions_per_iteration"]
    out = []
    if timed:
        machine = timed[0]["machine"]
        loads = [row["machine"]["load"] for row in timed]
        yard = {name: [row["yardsticks"][name] for row in timed] for name in timed[0]["yardsticks"]}
        out.append(f"Taken on {machine['cores']} cores ({machine['cpu']}), governor {machine['governor']}, "
                   f"Linux {machine['kernel']}, {machine['compiler']}, commit {machine['commit']}; the machine's load "
                   f"was {min(loads):g} to {max(loads):g}. Yardsticks over all cases: "
                   + "; ".join(f"{name.removesuffix('_ns').replace('_', ' ')} {number(min(values))} to "
                               f"{number(max(values))} ns" for name, values in yard.items()) + ".")
    for bench in dict.fromkeys(row["bench"] for row in timed):
        out += ["", f"### {bench}", "",
                "| case | metric | median | min | max | deviation | runs | spin barriers | futex barriers |",
                "|---|---|---:|---:|---:|---:|---:|---:|---:|"]
        doubts = []
        for row in timed:
            if row["bench"] != bench or row["metric"] not in SHOWN.get(bench, [row["metric"]]):
                continue
            case = ", ".join(f"{name} {value}" for name, value in row["params"].items())
            unit = "" if row["unit"] == "1" else " " + row["unit"]
            mark = ""
            if row.get("note"):
                if row["note"] not in doubts:
                    doubts.append(row["note"])
                mark = f" ({doubts.index(row['note']) + 1})"
            out.append(f"| {case}{mark} | {row['metric']} | {number(row['median'])}{unit} | {number(row['min'])} | "
                       f"{number(row['max'])} | {number(row['mad'])} | {row['runs']} | "
                       f"{ratio(row, 'spin_barrier_ns')} | {ratio(row, 'futex_barrier_ns')} |")
        out += [""] * bool(doubts) + [f"({i}) {doubt}." for i, doubt in enumerate(doubts, 1)]
    if counted:
        out += ["", "### Instructions", "", f"Counted at commit {counted[0]['machine']['commit']}.", "",
                "| case | instructions per iteration |", "|---|---:|"]
        out += [f"| {row['bench']}, " + ", ".join(f"{name} {value}" for name, value in row["params"].items())
                + f" | {number(row['median'])} |" for row in counted]
    return "\n".join(out).strip() + "\n"


def main():
    words = [word for word in sys.argv[1:] if word != "--update"]
    if not words or words[0] in ("-h", "--help"):
        sys.exit(__doc__)
    rows = []
    for path in words:
        with open(path, encoding="utf-8") as file:
            rows += [json.loads(line) for line in file if line.strip()]
    text = tables(rows)
    if "--update" not in sys.argv:
        print(text, end="")
        return
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    begin, end = "<!-- figures -->\n", "<!-- /figures -->"
    if begin not in page or end not in page:
        sys.exit(f"report: {PAGE} has no {begin.strip()} ... {end}")
    page = re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _: begin + "\n" + text + "\n" + end, page, flags=re.S)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page)


if __name__ == "__main__":
    main()
