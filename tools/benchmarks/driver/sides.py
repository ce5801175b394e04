"""The sides: what is started for each, and how to talk to it."""

import dataclasses
import os
import pathlib
import selectors
import subprocess
import time

PEERS_FOLDER = pathlib.Path(__file__).resolve().parents[1] / "peers"


@dataclasses.dataclass(frozen=True)
class Side:
    """`program` is in the build's bench folder; `script` in peers/. A side
    that is `fresh` is started anew for each case."""
    program: str = ""
    script: str = ""
    argument: str = ""
    fresh: bool = True
    environment: tuple = ()


SIDES = {
    "sinter": Side("sinter"),
    "sinter-bare": Side("sinter"),
    "sinter-unrolled": Side("sinter"),
    "sinter-last": Side("sinter"),
    "sinter-one": Side("sinter", environment=(("SINTER_THREADS", "1"),)),
    "sinter-program": Side("sinter", argument="program"),
    "models": Side("models"),
    "torch-models": Side(script="torch_model_side.py"),
    "sinter-cuda": Side("sinter", environment=(("SINTER_DEVICE", "cuda:0"),)),
    "openblas": Side("openblas"),
    "onednn": Side("onednn"),
    "memcpy": Side("copy", argument="memcpy"),
    "stream": Side("copy", argument="stream"),
    "torch-copy": Side(script="torch_side.py", argument="copy", fresh=False),
    "torch-eager": Side(script="torch_side.py", argument="eager", fresh=False),
    "torch-compile": Side(script="torch_side.py", argument="compile",
                          fresh=False),
    "torch-graph": Side(script="torch_side.py", argument="graph", fresh=False),
    "onnxruntime": Side(script="onnx_side.py", fresh=False),
    "jax": Side(script="jax_side.py", fresh=False),
    "iree": Side(script="iree_side.py", fresh=False),
}


class Failed(Exception):
    """A side that cannot do a case: `kind` is unsupported, error or absent."""

    def __init__(self, kind, why):
        super().__init__(f"{kind}: {why}")
        self.kind, self.why = kind, why


def fields(answer):
    """The KEY=VALUE words of an answer; numbers where they are."""
    found = {}
    for word in answer.split():
        key, equals, value = word.partition("=")
        if equals:
            try:
                found[key] = float(value)
            except ValueError:
                found[key] = value
    return found


class Worker:
    """A running side. `ask` gives the answer after `ok`."""

    def __init__(self, command, environment, cpus=None, log=None):
        def pin():
            if cpus:
                os.sched_setaffinity(0, cpus)

        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=log or subprocess.DEVNULL, env=environment, preexec_fn=pin)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)
        self.buffer = b""

    def ask(self, line, timeout=600):
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            raise Failed("error", "the worker is gone") from None
        kind, _, rest = self.read_line(time.monotonic() + timeout).partition(
            " ")
        if kind != "ok":
            raise Failed(kind, rest)
        return rest

    def read_line(self, deadline):
        while b"\n" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not self.selector.select(left):
                self.close(kill=True)
                raise Failed("error", "no answer in time")
            block = os.read(self.process.stdout.fileno(), 65536)
            if not block:
                raise Failed("error", "the worker ended with status "
                             f"{self.process.wait()}")
            self.buffer += block
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode()

    def close(self, kill=False):
        if kill:
            self.process.kill()
        try:
            self.process.stdin.close()
        except OSError:  # it ended before it read everything
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.selector.close()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def environment_for(threads, caches, keep_memory=True, device="cpu"):
    """What every worker gets. Freed memory stays with the process, so that a
    result's memory is there for the next call on all sides."""
    environment = dict(os.environ)
    for name in ("SINTER_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS",
                 "OPENBLAS_NUM_THREADS"):
        environment[name] = str(threads)
    environment["SINTER_CACHE_DIR"] = str(caches / "sinter")
    environment["TORCHINDUCTOR_CACHE_DIR"] = str(caches / "inductor")
    environment["SINTER_DEVICE"] = device
    # Peers know a GPU by CUDA alone.
    environment["SINTER_BENCH_DEVICE"] = device.replace("vulkan", "cuda")
    if device == "cpu":
        environment["CUDA_VISIBLE_DEVICES"] = ""
        environment["JAX_PLATFORMS"] = "cpu"
    if threads == 1:
        environment["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    if keep_memory:
        environment["MALLOC_MMAP_MAX_"] = "0"
        environment["MALLOC_TRIM_THRESHOLD_"] = str(1 << 40)
    for folder in ("sinter", "inductor"):
        (caches / folder).mkdir(parents=True, exist_ok=True, mode=0o700)
    return environment


class Starter:
    """Starts sides for one number of threads; keeps those that stay."""

    def __init__(self, programs, python, threads, caches, cpus, log=None,
                 keep_memory=True, device="cpu"):
        self.device = device
        self.programs, self.python = pathlib.Path(programs), python
        self.threads, self.caches, self.cpus = threads, caches, cpus
        self.log, self.keep_memory = log, keep_memory
        self.kept = {}

    def command(self, name):
        """What starts a side, or None when it is not there."""
        side = SIDES[name]
        arguments = [side.argument] if side.argument else []
        if side.script:
            return self.python and [str(self.python),
                                    str(PEERS_FOLDER / side.script), *arguments]
        program = self.programs / side.program
        return [str(program), *arguments] if program.exists() else None

    def start(self, name, extra=None):
        command = self.command(name)
        if not command:
            raise Failed("absent", f"{name} is not there")
        environment = environment_for(self.threads, self.caches,
                                      self.keep_memory, self.device)
        environment |= dict(SIDES[name].environment) | (extra or {})
        return Worker(command, environment, self.cpus, self.log)

    def get(self, name):
        """A worker for the next case."""
        kept = self.kept.get(name)
        if kept and kept.process.poll() is None:
            return kept
        worker = self.start(name)
        if not SIDES[name].fresh:
            self.kept[name] = worker
        return worker

    def done(self, name, worker):
        if self.kept.get(name) is not worker:
            worker.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for worker in self.kept.values():
            worker.close()
