#!/usr/bin/env python3
"""usage: libraries.py RUNTIME FRONTEND COMPILER GUEST

Opens each shared library late, in a program that was started without any
environment, and two copies of all of them in one process: both compute.
"""
import ctypes
import pathlib
import subprocess
import sys
import tempfile

LIMIT = 384  # bytes of static thread-local storage a library may take


def open_alone(path):
    code = f"import ctypes; ctypes.CDLL({str(path)!r})"
    done = subprocess.run([sys.executable, "-c", code], env={},
                          capture_output=True, text=True)
    return done.stderr.strip().splitlines()[-1:] if done.returncode else []


def static_bytes(path):
    """What a library with the quick kind of thread-local storage sets aside."""
    lines = subprocess.run(["readelf", "-dlW", path], capture_output=True,
                           text=True, check=True).stdout.splitlines()
    if not any("STATIC_TLS" in line for line in lines):
        return 0
    sizes = [line.split()[5] for line in lines if line.split()[:1] == ["TLS"]]
    return sum(int(size, 16) for size in sizes)


def copied(path, folder):
    """The library under names of its own, which are as long."""
    name = pathlib.Path(path).name.replace("libsinter-", "libsecond-")
    data = pathlib.Path(path).read_bytes().replace(b"libsinter-",
                                                   b"libsecond-")
    target = pathlib.Path(folder, name)
    target.write_bytes(data)
    return target


def compute(guest):
    total = ctypes.CDLL(str(guest)).sinter_test_sum
    total.restype = ctypes.c_double
    total.argtypes = [ctypes.c_long]
    return total


def main():
    libraries = sys.argv[1:]
    failures = []
    for path in libraries:
        failures += [f"{path}: {line}" for line in open_alone(path)]
        if (size := static_bytes(path)) > LIMIT:
            failures.append(f"{path}: {size} bytes of static thread-local "
                            f"storage, more than {LIMIT}")
    with tempfile.TemporaryDirectory() as folder:
        second = [copied(path, folder) for path in libraries]
        sums = [compute(libraries[-1]), compute(second[-1])]
        for n in (10, 1000, 20):
            for which, total in enumerate(sums):
                if total(n) != n * (n - 1) / 2:
                    failures.append(f"copy {which}: the sum below {n} is "
                                    f"{total(n)}")
    maps = pathlib.Path("/proc/self/maps").read_text()
    for name in ("libsinter-frontend", "libsecond-frontend"):
        if name not in maps:
            failures.append(f"{name} was not loaded")
    print("\n".join(failures) if failures else "libraries: ok")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
