"""Draws the speed-up of batches over one rank beside that of the paper's figure 10."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PAPER_RANKS = (1, 2, 4, 6, 8)
# Read off the figure, whose runs of one rank are 1.7 times as quick as sequential ones.
PAPER_STEALING, PAPER_STATIC = (1.7, 3.3, 5.0, 9.2, 12.7), (1.7, 3.0, 4.5, 7.5, 8.5)
LINES = (
    ("speedup", "kgot-mpi", "o-"),
    ("pool_executor_speedup", "MPIPoolExecutor", "s--"),
    ("ray_speedup", "Ray", "^--"),
    ("static_speedup", "static split (worked out)", "x:"),
)


def draw(rows: Sequence[Mapping[str, Any]], file: Path) -> None:
    """Writes one picture a number of tasks, and the paper's, as SVG or PNG by the file's ending."""
    import matplotlib as mpl

    mpl.use("agg")
    # The same figures give the same small file.
    mpl.rcParams.update({"svg.hashsalt": "kgot", "svg.fonttype": "none"})
    from matplotlib import pyplot

    numbers = sorted({row["tasks"] for row in rows})
    figure, places = pyplot.subplots(1, len(numbers) + 1, figsize=(4 * len(numbers) + 4, 4), sharey=True)
    for place, tasks in zip(places, numbers, strict=False):
        mine = sorted((row for row in rows if row["tasks"] == tasks), key=lambda row: row["ranks"])
        for key, name, style in LINES:
            place.plot([1, *(row["ranks"] for row in mine)], [1, *(row[key] for row in mine)], style, label=name)
        _finish(place, f"{tasks} tasks, measured here")
    for figures, name, style in ((PAPER_STEALING, "work stealing", "o-"), (PAPER_STATIC, "none", "x:")):
        places[-1].plot(PAPER_RANKS, [each / figures[0] for each in figures], style, label=name)
    _finish(places[-1], "30 tasks, the paper's figure 10 (read off)")
    places[0].set_ylabel("speed-up over one rank")
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else {})


def _finish(place: Any, title: str) -> None:
    place.plot([1, 8], [1, 8], color="lightgrey", zorder=0)
    place.set(title=title, xlabel="ranks")
    place.legend(loc="upper left")
