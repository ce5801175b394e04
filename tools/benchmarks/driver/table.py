"""Results as text and as JSON."""

import dataclasses

from driver import measure
from driver.sides import SIDES


def time_text(seconds):
    if seconds is None:
        return "-"
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            break
    return f"{seconds * scale:.3g} {unit}"


def columns(rows):
    """Rows of cells as aligned lines; the first column to the left."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.rjust(width) if i else cell.ljust(width)
                  for i, (cell, width) in enumerate(zip(row, widths))).rstrip()
        for row in rows)


def cell(result, side, by):
    """A peer's time by ours, or why there is none."""
    found = result.sides.get(side)
    if not found:
        return ""
    if found.failure:
        kind = found.failure.split(":")[0]
        return {"unsupported": "n/a", "absent": "-"}.get(kind, "FAIL")
    ours = result.sides["sinter"]
    if not ours.time(by) or ours.failure:
        return time_text(found.time(by))
    return f"{found.time(by) / ours.time(by):.2f}"


def ours_text(result, by):
    ours = result.sides["sinter"]
    if ours.failure:
        return ("unsupported" if ours.failure.startswith("unsupported")
                else "FAIL")
    return time_text(ours.time(by))


def progress(result, by):
    """Our time, and how it stands to the targets of the case."""
    return ", ".join([ours_text(result, by)] + [
        f"{target.ratio:.2f} of {target.peer or target.text}"
        for target in result.targets if target.ratio is not None])


def table(results, by):
    """Our times, and every side's time by ours."""
    names = [name for name in SIDES if name != "sinter" and any(
        name in result.sides and not result.sides[name].failure.startswith(
            "absent") for result in results)]
    rows = [["case", "threads", "ours", "Gflop/s"] + names]
    for result in results:
        ours = result.sides["sinter"].time(by)
        rate = (f"{result.case.flops / ours / 1e9:.1f}"
                if ours and result.case.flops else "")
        rows.append([result.case.name, str(result.threads),
                     ours_text(result, by), rate]
                    + [cell(result, name, by) for name in names])
    return columns(rows)


def target_table(results, geomeans):
    rows = [["case", "threads", "target", "ratio", "of", "verdict"]]
    targets = [(result.case.name, result.threads, target)
               for result in results for target in result.targets]
    for name, threads, target in targets + measure.geomeans(results, geomeans):
        measured = "-" if target.ratio is None else f"{target.ratio:.2f}"
        rows.append([name, str(threads), target.text, measured, target.peer,
                     target.verdict()])
    if len(rows) == 1:
        return ""
    verdicts = [row[-1] for row in rows[1:]]
    return (columns(rows) + f"\n{verdicts.count('pass')} pass, "
            f"{verdicts.count('MISS')} miss, {verdicts.count('none')} not "
            "measured")


def problems(results):
    """Failures that are more than something left out, one a line."""
    return "\n".join(
        f"{result.case.name}: {name}: {side.failure}"
        for result in results for name, side in result.sides.items()
        if side.failure and (name == "sinter"
                             or side.failure.startswith("error")))


def as_data(results):
    """What the JSON file holds of the cases."""
    return [{"case": result.case.name, "threads": result.threads,
             "params": result.case.params,
             "sides": {name: dataclasses.asdict(side)
                       for name, side in result.sides.items()},
             "targets": [dataclasses.asdict(target)
                         | {"verdict": target.verdict()}
                         for target in result.targets]}
            for result in results]
