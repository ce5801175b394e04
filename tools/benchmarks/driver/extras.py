"""What is measured in processes of its own: cold compiles and peak memory."""

import dataclasses
import tempfile

from driver import cases, measure
from driver.sides import Failed, fields


@dataclasses.dataclass
class Figure:
    """One line of a table: ours, theirs and the verdict."""
    name: str
    what: str
    ours: float = None
    theirs: float = None
    limit: float = None  # ours may be at most this
    failure: str = ""

    def verdict(self):
        if self.ours is None or self.limit is None:
            return "none"
        return "pass" if measure.SLACK * self.ours <= self.limit else "MISS"


def first_answer(case, side, starter):
    """What a side says of the first call with empty caches; or the failure's
    text."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            with starter.start(side, {
                    "SINTER_CACHE_DIR": folder,
                    "TORCHINDUCTOR_CACHE_DIR": folder}) as worker:
                return fields(worker.ask("prepare " + case.words(side), 900))
        except Failed as failure:
            return str(failure)


def first_call(case, side, starter):
    """Seconds of the first call with empty caches, and how many of them a side
    that says so compiled; or the failure's text."""
    found = first_answer(case, side, starter)
    if isinstance(found, str):
        return found
    return found["first"], found.get("compiling")


def cold(starter, wanted, with_peers, rounds=3):
    """The least of a few first calls; a peer's, which takes long, once. Where
    compiling itself is compared, the first step is left out: the memory that it
    touches is new to a virtual machine or not, by what ran seconds before."""
    every = {case.name: case for case in cases.all_cases()}
    twelve = cases.twelve_layers()
    every[twelve.name] = twelve
    figures, compiling = [], {}
    for name in [*cases.COLD, twelve.name]:
        if name not in wanted and name != twelve.name:
            continue
        figure = Figure(name, "cold compile, s", limit=cases.COLD.get(name))
        pairs = [first_call(every[name], "sinter", starter)
                 for _ in range(rounds)]
        pairs, failed = ([pair for pair in pairs if isinstance(pair, tuple)],
                         [pair for pair in pairs if isinstance(pair, str)])
        figure.failure = failed[0] if failed else ""
        if pairs:
            figure.ours, compiling[name] = map(min, zip(*pairs))
        if with_peers and name in cases.COLD:
            theirs = first_call(every[name], "torch-compile", starter)
            figure.theirs = theirs[0] if isinstance(theirs, tuple) else None
        figures.append(figure)
    name, base, most = cases.COLD_RATIO
    if compiling.get(name) and compiling.get(base):
        figures.append(Figure(name, f"compiling, times {base}",
                              compiling[name] / compiling[base], limit=most))
    return figures


def gpt(starter, rounds=3):
    """Both sides in turn: what else the machine does meets both."""
    case, found = cases.small_gpt(), {"sinter": [], "torch-compile": []}
    for _ in range(rounds):
        for side, calls in found.items():
            calls.append(first_call(case, side, starter))
    figure = Figure(case.name, "cold compile, s")
    failed = [call for calls in found.values() for call in calls
              if isinstance(call, str)]
    if failed:
        figure.failure = failed[0]
        return figure
    figure.ours, figure.theirs = (min(call[0] for call in calls)
                                  for calls in found.values())
    figure.limit = cases.COLD_SHARE * figure.theirs
    return figure


def growth(starter, wanted, rounds=3):
    """What twice as many parts take: the least of a few processes each."""
    figures = []
    for pair in cases.growing_cases():
        if wanted and not any(cases.chosen(wanted, [case]) for case in pair):
            continue
        answers = [[first_answer(case, "sinter", starter)
                    for _ in range(rounds)] for case in pair]
        failed = [answer for side in answers for answer in side
                  if isinstance(answer, str)]
        for key, what in (("compiling", "compiling"), ("peak", "peak memory")):
            name = f"{pair[1].name} / {pair[0].params['n']}"
            figure = Figure(name, f"{what}, times", limit=cases.GROWTH,
                            failure=failed[0] if failed else "")
            if not failed:
                base, twice = (min(answer[key] for answer in side)
                               for side in answers)
                figure.ours = twice / base
            figures.append(figure)
    return figures


def peak(case, side, starter):
    """Bytes above the idle process during three calls, once warm."""
    try:
        with starter.start(side) as worker:
            worker.ask("prepare " + case.words(side))
            return fields(worker.ask("memory 3"))["peak"]
    except Failed as failure:
        return str(failure)


def memory(starter, wanted, with_peers):
    figures = []
    for case in cases.all_cases():
        if case.name not in cases.MEMORY or case.name not in wanted:
            continue
        figure = Figure(case.name, "peak memory, MB")
        # The first process compiles, the second finds it on disk.
        peak(case, "sinter", starter)
        ours = peak(case, "sinter", starter)
        if isinstance(ours, str):
            figure.failure = ours
        else:
            figure.ours = ours / 1e6
        theirs = peak(case, "torch-eager", starter) if with_peers else None
        if isinstance(theirs, float):
            figure.theirs = figure.limit = theirs / 1e6
        figures.append(figure)
    return figures


def figure_rows(figures):
    def number(value):
        return "-" if value is None else f"{value:.3g}"

    return [["case", "what", "ours", "PyTorch", "at most", "verdict"]] + [
        [f.name, f.what, number(f.ours) if not f.failure
         else f.failure.split(":")[0], number(f.theirs), number(f.limit),
         f.verdict()] for f in figures]
