"""Measures whole models: each side of a row in a process of its own, one
after the other, with empty caches."""

import dataclasses
import json
import statistics
import sys
import tempfile
import time

from driver import measure
from driver.sides import Failed, fields
from driver.table import columns, time_text

OURS = "sinter"
MODES = ("eager", "compile")
# max-autotune is asked for where ours is this close to PyTorch's best.
CLOSE = 0.1
# Steps before those that are counted: what they compile is not held against
# anybody.
WARM = 3
# Seconds that a side may take to compile a model.
PATIENCE = 400


@dataclasses.dataclass
class Budget:
    steps: int = 300
    seconds: float = 10  # of a side's steps


def with_samples(worker, row, words, budget):
    """What a side says of a row; its numbers, too. Those of training are the
    losses of the first steps, of others the first result."""
    found = fields(worker.ask("prepare " + words, PATIENCE))
    trains = row.params["do"] == "train"
    sample = None
    for command in (("call", "sample") if trains else ("sample", "call")):
        if command == "call":
            worker.ask(f"call {WARM - 1}", PATIENCE)
        else:
            sample = [float(word) for word in
                      worker.ask(f"sample {measure.SAMPLES}").split()]
    found |= fields(worker.ask(f"steps {budget.steps} {budget.seconds}",
                               PATIENCE + budget.seconds))
    return found | {"sample": sample}


def measured(row, name, starter, budget, modes):
    """{mode: what a process of a side says}; a failure's text in its place."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        caches = {"SINTER_CACHE_DIR": folder, "TORCHINDUCTOR_CACHE_DIR": folder,
                  "TRITON_CACHE_DIR": folder}
        try:
            with starter.start(name, caches) as worker:
                for mode in modes:
                    found[mode] = with_samples(worker, row,
                                               row.words(mode=mode), budget)
        except Failed as failure:
            left = [mode for mode in modes if mode not in found]
            found |= {mode: {"failure": str(failure)} for mode in left}
    return found


def compare(row, sides):
    ours = sides[OURS]
    for name, side in sides.items():
        if name == OURS or "failure" in side or "failure" in ours:
            continue
        error = measure.difference(ours["sample"], side["sample"])
        side["error"] = error
        # Written so that NaN is a failure.
        if error is None or not error <= row.tolerance:
            side["failure"] = f"error: differs from ours by {error}"


def best(sides):
    """The fastest of PyTorch's modes, and its time by ours."""
    times = {name: side["median"] for name, side in sides.items()
             if name != OURS and "failure" not in side}
    if not times or "failure" in sides[OURS]:
        return "", None
    name = min(times, key=times.get)
    return name, times[name] / sides[OURS]["median"]


def run_row(row, starter, budget, modes=(), autotune=False):
    """One row as JSON holds it, beside so many of PyTorch's modes."""
    sides = {OURS: measured(row, "models", starter, budget, [""])[""]}
    if modes:
        sides |= measured(row, "torch-models", starter, budget, modes)
        compare(row, sides)
        _, ratio = best(sides)
        if autotune and ratio and abs(ratio - 1) <= CLOSE:
            sides |= measured(row, "torch-models", starter, budget,
                              ["autotune"])
            compare(row, sides)
    return {"row": row.name, "count": row.count, "unit": row.unit,
            "threads": starter.threads, "sides": sides}


def key(row):
    """What a row is merged by: its name and where it was measured."""
    return f"{row['row']} on {row['where']}"


def where_of(starter, machine):
    """The card, or the processor and its threads."""
    if starter.device == "cpu":
        return f"{machine['processor']}, {starter.threads} threads"
    with starter.start("models") as worker:
        return fields(worker.ask("facts"))["card"].replace("_", " ")


def is_done(held, modes):
    """Whether a row of a file has all that is asked for."""
    return (held is not None and "failure" not in held["sides"][OURS]
            and all(mode in held["sides"] for mode in modes))


def modes_of(options):
    """PyTorch's, of which `--sides` may name some."""
    if not options.peers:
        return ()
    wanted = options.sides.split(",") if options.sides else MODES
    return tuple(mode for mode in MODES if mode in wanted)


# ---- the table --------------------------------------------------------------
def size_text(count):
    return f"{count / 2**30:.2f}"


def milliseconds(seconds):
    return f"{seconds * 1e3:.3g}" if seconds < 1 else f"{seconds * 1e3:.0f}"


def rate_text(row):
    return f"{row['count'] / row['sides'][OURS]['median']:.3g} {row['unit']}/s"


HEADINGS = ["model", "ms", "slowest", "stalls", "steps", "first s", "GiB",
            "launches", "host ms", "new", "rate"]
THEIRS = ["ms", "first s", "GiB", "error"]


def kind_of(side):
    return {"unsupported": "n/a", "absent": "-"}.get(
        side["failure"].split(":")[0], "FAIL")


def our_cells(row):
    side = row["sides"][OURS]
    if "failure" in side:
        return [row["row"], kind_of(side)] + [""] * (len(HEADINGS) - 2)
    return [row["row"], milliseconds(side["median"]),
            milliseconds(side["slowest"]), f"{side['stalls']:.0f}",
            f"{side['steps']:.0f}", f"{side['first']:.1f}",
            size_text(side["peak"]), f"{side['launches']:.0f}",
            milliseconds(side["host"]), f"{side['programs']:.0f}",
            rate_text(row)]


def their_cells(side):
    if side is None:
        return [""] * len(THEIRS)
    if "failure" in side:
        error = side.get("error")
        return [kind_of(side), "", "", "" if error is None else f"{error:.1e}"]
    # There is none where ours failed.
    error = side.get("error")
    return [milliseconds(side["median"]), f"{side['first']:.1f}",
            size_text(side["peak"]), "" if error is None else f"{error:.1e}"]


def geomean_text(rows):
    """Of the ratios, by dtype."""
    texts = []
    for dtype in ("bf16", "f32"):
        ratios = [ratio for _, ratio in
                  (best(row["sides"]) for row in rows
                   if row["row"].endswith(dtype)) if ratio]
        if ratios:
            texts.append(f"{dtype}: geomean "
                         f"{statistics.geometric_mean(ratios):.2f} of "
                         f"PyTorch's best, least {min(ratios):.2f}, "
                         f"{len(ratios)} rows")
    return "\n".join(texts)


def table(rows):
    """One for each card: ours, and how PyTorch's best time stands to it."""
    texts = []
    for where in dict.fromkeys(row["where"] for row in rows):
        here = [row for row in rows if row["where"] == where]
        modes = [mode for mode in (*MODES, "autotune")
                 if any(mode in row["sides"] for row in here)]
        lines = [HEADINGS + [f"{mode} {what}" for mode in modes
                             for what in THEIRS] + ["of best"] * bool(modes)]
        for row in here:
            line = our_cells(row)
            for mode in modes:
                line += their_cells(row["sides"].get(mode))
            if modes:
                ratio = best(row["sides"])[1]
                line.append("" if ratio is None else f"{ratio:.2f}")
            lines.append(line)
        texts += [f"on {where}", columns(lines), geomean_text(here)]
    return "\n\n".join(text for text in texts if text)


def problems(rows):
    return "\n".join(
        f"{row['row']}: {name}: {side['failure']}" for row in rows
        for name, side in row["sides"].items()
        if "failure" in side and not side["failure"].startswith("absent"))


def progress(row):
    ours = row["sides"][OURS]
    text = ours.get("failure") or time_text(ours["median"])
    name, ratio = best(row["sides"])
    return text + (f", {ratio:.2f} of {name}" if ratio else "")


# ---- the loop ---------------------------------------------------------------
def profile(wanted, starter, budget):
    """Prints which launches a row's time goes to."""
    for row in wanted:
        print(f"== {row.name}", flush=True)
        try:
            with starter.start("models", {"SINTER_PROFILE": "1"}) as worker:
                worker.ask("prepare " + row.words(), PATIENCE)
                worker.ask(f"steps {budget.steps} {budget.seconds}", PATIENCE)
                worker.ask("profile")
        except Failed as failure:
            print(failure)


def load(path):
    """The rows of a JSON file, by key; none where there is no file."""
    if path and path.exists():
        return {key(row): row for row in json.loads(path.read_text())["rows"]}
    return {}


def run(wanted, starter, options, machine, save):
    """Measures rows and saves after each; those that the file to go on with
    holds are left out. An interruption ends it."""
    rows = load(options.resume)
    budget, modes = Budget(options.steps, options.budget), modes_of(options)
    try:
        where = where_of(starter, machine)
        for row in wanted:
            if is_done(rows.get(f"{row.name} on {where}"), modes):
                continue
            begin = time.monotonic()
            found = run_row(row, starter, budget, modes, options.autotune)
            found |= {"where": where, "commit": machine["commit"]}
            rows[key(found)] = found
            print(f"{row.name}: {progress(found)}, "
                  f"{time.monotonic() - begin:.0f} s", file=sys.stderr,
                  flush=True)
            save(list(rows.values()))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    return list(rows.values())
