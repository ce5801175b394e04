"""One side in Python: the protocol of native/Worker.h, and the same inputs.

A side calls `serve(make, facts)`; `make(case)` gives a Work or raises
Unsupported.
"""

import os
import sys
import time

import numpy


# Where sides that know of devices work.
DEVICE = os.environ.get("SINTER_BENCH_DEVICE", "cpu")


class Unsupported(Exception):
    """What this side cannot do."""


class Work:
    """A prepared case: `call()` runs it once, `result(value)` turns what it
    returned into a flat numpy array or None when it is not comparable.
    `wait()` waits until a device has done what calls left to it; without one
    a call has ended when it returns. `peak()` is the most bytes of a device's
    memory that were in use."""

    def __init__(self, call, result=None, wait=None, peak=None):
        self.call = call
        self.result = result or (lambda value: numpy.asarray(value))
        self.wait = wait
        self.peak = peak


class Case:
    """The words of a `prepare` line."""

    def __init__(self, words):
        self.values = dict(word.split("=", 1) for word in words.split())

    @property
    def kind(self):
        return self.text("kind")

    def text(self, key, fallback=""):
        return self.values.get(key, fallback)

    def number(self, key, fallback=None):
        if key not in self.values and fallback is None:
            raise KeyError(f"the case has no {key}")
        return int(self.values.get(key, fallback))

    def numbers(self, *keys):
        return tuple(self.number(key) for key in keys)


# ---- the inputs of native/Worker.cpp ----------------------------------------
def mixed(first, count, seed):
    """32 well-mixed bits of each position."""
    x = numpy.arange(first, first + count, dtype=numpy.uint32)
    x += numpy.uint32(seed * 0x9E3779B9 & 0xFFFFFFFF)
    x = (x ^ (x >> 16)) * numpy.uint32(0x7FEB352D)
    x = (x ^ (x >> 15)) * numpy.uint32(0x846CA68B)
    return x ^ (x >> 16)


def filled(shape, seed, scale=1.0):
    """f32 in [-scale, scale)."""
    values = numpy.empty(int(numpy.prod(shape)), numpy.float32)
    block = 1 << 22
    for first in range(0, values.size, block):
        count = min(block, values.size - first)
        bits = mixed(first, count, seed) >> 8
        values[first:first + count] = (
            bits.astype(numpy.float32) * numpy.float32(2.0**-23) - 1)
    values *= numpy.float32(scale)
    return values.reshape(shape)


def filled_bytes(shape, seed, limit):
    count = int(numpy.prod(shape))
    bits = mixed(0, count, seed) % numpy.uint32(2 * limit + 1)
    return (bits.astype(numpy.int32) - limit).astype(numpy.int8).reshape(shape)


def labels(shape, seed, limit):
    """i64 in [0, limit)."""
    values = (filled(shape, seed, 0.5) + numpy.float32(0.5)) * limit
    return numpy.minimum(values.astype(numpy.int64), limit - 1)


def first_value(name, shape, seed):
    """What a model's parameter begins with, as native/Inputs.cpp."""
    if len(shape) > 1:
        inputs = int(numpy.prod(shape)) / shape[0]
        return filled(shape, seed, numpy.float32(1 / numpy.sqrt(inputs)))
    return numpy.full(shape, 1 if "weight" in name else 0, numpy.float32)


# Seconds that calls are queued for, to a device.
QUEUED = 5e-3


# ---- the loop ---------------------------------------------------------------
def memory(name):
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(name + ":"):
                return int(line.split()[1]) << 10
    return 0


class Server:
    def __init__(self, make, facts):
        self.make, self.facts = make, facts
        self.work = self.first = None
        self.before = 0

    def prepare(self, words):
        self.work = self.first = None
        self.before = memory("VmRSS")
        self.work = self.make(Case(words))
        begin = time.perf_counter()
        self.first = self.work.call()
        self.wait()
        return f"ok first={time.perf_counter() - begin}"

    def wait(self):
        if self.work.wait:
            self.work.wait()

    def timed(self, at_least):
        """Seconds of calls, sorted, and of the process; as `measure` of
        native/Worker.cpp."""
        clock, cpu = time.perf_counter, time.process_time
        together = 1

        def call():
            for _ in range(together):
                self.work.call()
            self.wait()

        begin = clock()
        call()
        before = clock()
        if self.work.wait:
            shortest = before - begin
            for _ in range(3):
                begin = clock()
                call()
                shortest = min(shortest, clock() - begin)
            before = clock()
            together = int(min(max(QUEUED / shortest, 1), 1000))
            call()
            begin, before = before, clock()
        is_long = before - begin > 20e-6
        fewest = 1 if before - begin > 0.2 else 3
        times, cpu_times, begin = [], [], before
        while len(times) < fewest or before - begin < at_least:
            started = cpu() if is_long else 0
            before = clock()
            call()
            after = clock()
            times.append((after - before) / together)
            if is_long:
                cpu_times.append((cpu() - started) / together)
            before = after
        return sorted(times), cpu_times

    def run(self, words):
        times, cpu_times = self.timed(float(words))
        return (f"ok best={times[0]} median={times[len(times) // 2]} "
                f"cpu={min(cpu_times or times)} calls={len(times)}")

    def steps(self, words):
        """As `stepsOf` of native/Worker.cpp."""
        most, at_most = words.split()
        clock, whole, host = time.perf_counter, [], []
        begin = clock()
        while len(whole) < int(most) and (
                len(whole) < 3 or clock() - begin < float(at_most)):
            started = clock()
            self.work.call()
            returned = clock()
            self.wait()
            host.append(returned - started)
            whole.append(clock() - started)
        alone = sorted(whole)[len(whole) // 2]
        stalls = sum(t > max(2 * alone, alone + 1e-3) for t in whole)
        median = alone
        if self.work.wait and alone < QUEUED:
            times, _ = self.timed(0.3)
            median = times[len(times) // 2]
        peak = (self.work.peak() if self.work.peak
                else max(0, memory("VmHWM") - self.before))
        return (f"ok median={median} alone={alone} slowest={max(whole)} "
                f"stalls={stalls} steps={len(whole)} "
                f"host={sorted(host)[len(host) // 2]} peak={peak}")

    def call(self, words):
        for _ in range(int(words)):
            self.work.call()
        self.wait()
        return "ok"

    def sample(self, words):
        values = self.work.result(self.first)
        self.first = None
        if values is None:
            return "ok"
        values = numpy.asarray(values, numpy.float64).reshape(-1)
        last, count = values.size - 1, min(int(words), values.size)
        at = [i * last // max(1, count - 1) for i in range(count)]
        return "ok " + " ".join(f"{values[i]:.9g}" for i in at)

    def memory(self, words):
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5\n")
        self.call(words)
        return f"ok peak={max(0, memory('VmHWM') - self.before)}"

    def answer(self, line):
        command, _, rest = line.strip().partition(" ")
        if command in ("prepare", "run", "sample", "memory", "call", "steps"):
            return getattr(self, command)(rest)
        if command == "profile":
            return "ok"
        if command == "facts":
            return "ok " + self.facts()
        return "error unknown command " + command


def serve(make, facts):
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    server = Server(make, facts)
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        try:
            answer = server.answer(line)
        except Unsupported as error:
            answer = f"unsupported {error}"
        except Exception as error:  # the driver reports it
            answer = f"error {type(error).__name__}: {error}"[:2000]
        print(" ".join(answer.split("\n")), file=answers, flush=True)
