"""Draws the rows of a sweep as an SVG: a line per setting of the other knobs, over the first."""

import sys

from tool.sweep import crowded

NAMES = {"wall_ns_per_iteration": "wall time per iteration, ns", "cpu_ns_per_iteration": "CPU time per iteration, ns"}


def lines(rows, metric):
    """Title -> points (x, y, crowded), of one metric."""
    found = {}
    for row in rows:
        if row["metric"] == metric:
            first, *others = row["params"].items()
            title = ", ".join(f"{name} {value}" for name, value in others) or metric
            found.setdefault(title, []).append((first[1], row["median"], crowded(row)))
    return found


def library():
    """Matplotlib, or the end of the program: ask before a long run."""
    try:
        import matplotlib
        return matplotlib
    except ImportError:
        sys.exit("bench: drawing needs matplotlib (./dev setup --with bench)")


def draw(rows, path):
    matplotlib = library()
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    matplotlib.rcParams["svg.hashsalt"] = "leat"  # the same rows give the same file
    figure, axes = plt.subplots(1, len(NAMES), figsize=(11, 4.2), layout="constrained")
    first = next(iter(rows[0]["params"]))
    for axis, (metric, name) in zip(axes, NAMES.items()):
        for title, points in lines(rows, metric).items():
            xs, ys = [x for x, _, _ in points], [y for _, y, _ in points]
            line, = axis.plot(xs, ys, label=title)
            for x, y, over in points:
                axis.plot(x, y, marker="o", markersize=5, color=line.get_color(), fillstyle="none" if over else "full")
        axis.set(xlabel=first, ylabel=name, xscale="log", yscale="log")
        axis.set_xticks(sorted({x for x in xs}), [str(x) for x in sorted(set(xs))], minor=False)
        axis.minorticks_off()
        axis.grid(alpha=0.3)
        axis.legend(frameon=False)
    figure.suptitle(f"{rows[0]['bench']}; open marks: more workers than cores")
    figure.savefig(path, metadata={"Date": None})
