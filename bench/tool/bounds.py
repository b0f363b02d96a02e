"""Compares figures with the bounds of bench/bounds.json."""

from tool.cases import label
from tool.figures import shown


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
