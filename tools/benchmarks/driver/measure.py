"""Measures one case: all sides prepared, then round by round."""

import dataclasses
import fnmatch
import os
import statistics
import time

from driver.sides import Failed, fields

# "At least X" means at least this share of X.
SLACK = 0.98
SAMPLES = 61
# Seconds that a side may take to compile a case.
PATIENCE = 90
# Seconds between two sides: idle threads of some keep a processor busy for a
# while, which is then missing to whoever comes next.
REST = 0.1


@dataclasses.dataclass
class SideResult:
    """Seconds per call in each round, and what else a side said."""
    best: list = dataclasses.field(default_factory=list)
    median: list = dataclasses.field(default_factory=list)
    cpu: list = dataclasses.field(default_factory=list)
    first: float = 0  # the first call, with its compilation
    failure: str = ""
    error: float = None  # largest difference from ours, of the largest value

    def times(self, by):
        return getattr(self, by)

    def time(self, by):
        return statistics.median(self.times(by)) if self.times(by) else None


@dataclasses.dataclass
class TargetResult:
    text: str
    needed: float
    ratio: float = None  # None: a side is missing
    peer: str = ""

    @property
    def passed(self):
        return self.ratio is not None and self.ratio >= SLACK * self.needed

    def verdict(self):
        if self.ratio is None:
            return "none"
        return "pass" if self.passed else "MISS"


@dataclasses.dataclass
class CaseResult:
    case: object
    threads: int
    sides: dict
    targets: list = dataclasses.field(default_factory=list)


def ratio(ours, peers):
    """Median over the rounds of the fastest peer's time by ours."""
    if not ours or not peers:
        return None
    rounds = zip(ours, *peers)
    return statistics.median(min(times) / mine for mine, *times in rounds)


def judge(case, threads, sides, by):
    """The targets of a case for a number of threads; None: all targets."""
    found = []
    for target in case.targets:
        if threads is not None and threads not in target.threads:
            continue
        result = TargetResult(target.text(), target.ratio)
        ours = sides.get(target.ours, SideResult())
        if target.rate and ours.times(by) and not ours.failure:
            result.ratio = case.flops / ours.time(by) / target.rate
        valid = {name: sides[name] for name in target.peers
                 if name in sides and sides[name].times(by)
                 and not sides[name].failure}
        if ours.times(by) and not ours.failure and valid:
            result.ratio = ratio(ours.times(by),
                                 [side.times(by) for side in valid.values()])
            result.peer = min(valid, key=lambda name: valid[name].time(by))
        found.append(result)
    return found


def geomeans(results, wanted):
    """(pattern, threads, target) for the cases that were measured together."""
    found = []
    for pattern, needed in wanted:
        for threads in sorted({result.threads for result in results}):
            ratios = [result.targets[0].ratio for result in results
                      if result.threads == threads and result.targets
                      and fnmatch.fnmatch(result.case.name, pattern)]
            if ratios:
                known = [r for r in ratios if r] if None not in ratios else []
                found.append((pattern, threads, TargetResult(
                    f"geomean {needed:g}", needed,
                    statistics.geometric_mean(known) if known else None)))
    return found


def difference(ours, theirs):
    """The largest difference, of the largest value; None if not comparable."""
    if not ours or len(ours) != len(theirs):
        return None
    scale = max(max(map(abs, theirs)), 1e-30)
    return max(abs(a - b) for a, b in zip(ours, theirs)) / scale


def prepare(case, names, starter):
    """Workers that have the case ready, results, and samples."""
    workers, results, samples = {}, {}, {}
    for name in names:
        results[name] = result = SideResult()
        worker = None
        try:
            worker = starter.get(name)
            answer = worker.ask("prepare " + case.words(name), PATIENCE)
            result.first = fields(answer)["first"]
            samples[name] = [float(word) for word in
                             worker.ask(f"sample {SAMPLES}").split()]
            workers[name] = worker
        except Failed as failure:
            result.failure = str(failure)
            if worker:
                starter.done(name, worker)
    return workers, results, samples


def compare(case, results, samples):
    """Sides that compute something else are failures."""
    for name, values in samples.items():
        if name == "sinter" or name in case.extra:
            continue
        error = difference(samples.get("sinter"), values)
        results[name].error = error
        # Written so that NaN is a failure.
        if error is not None and not error <= case.tolerance:
            results[name].failure = f"error: differs from ours by {error:.3g}"


def warm_up(workers, results, starter, seconds):
    """A device that was idle has to raise its clocks."""
    for name in list(workers):
        try:
            workers[name].ask(f"run {seconds}")
        except Failed as failure:
            results[name].failure = str(failure)
            starter.done(name, workers.pop(name))


def run_on(worker, cpus):
    """Moves the thread that answers; those that it has started stay free."""
    try:
        os.sched_setaffinity(worker.process.pid, cpus)
    except ProcessLookupError:  # `ask` says so
        pass


def ask_at(worker, line, cpu, cpus):
    """Asks with the calling thread on one of a starter's processors, unless
    that is None."""
    if cpu is None:
        return worker.ask(line)
    run_on(worker, {cpu})
    try:
        return worker.ask(line)
    finally:
        run_on(worker, cpus)


def processor_of(starter, number, rounds):
    """With a GPU: where every side's calls of a round come from. Processors
    differ in what they share with others."""
    if starter.device == "cpu":
        return None
    cpus = sorted(starter.cpus)
    return cpus[number * len(cpus) // rounds]


def run_case(case, names, starter, rounds, seconds, by="median", warm=0):
    workers, results, samples = prepare(case, names, starter)
    compare(case, results, samples)
    if warm:
        warm_up(workers, results, starter, warm)
    for number in range(rounds):
        # Every other round backwards, so that no side always comes first.
        order = list(workers)[::-1 if number % 2 else 1]
        cpu = processor_of(starter, number, rounds)
        for name in order:
            if starter.threads > 1:
                time.sleep(REST)
            try:
                found = fields(ask_at(workers[name], f"run {seconds}", cpu,
                                      starter.cpus))
            except Failed as failure:
                results[name].failure = str(failure)
                starter.done(name, workers.pop(name))
                continue
            for kind in ("best", "median", "cpu"):
                results[name].times(kind).append(found[kind])
    for name, worker in workers.items():
        starter.done(name, worker)
    result = CaseResult(case, starter.threads, results)
    # With a GPU sides have as many threads as there are processors.
    threads = starter.threads if starter.device == "cpu" else None
    result.targets = judge(case, threads, results, by)
    return result
