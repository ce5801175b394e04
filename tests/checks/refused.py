"""Compiles refused.cpp: every marked line is an error with its text."""

import pathlib
import re
import subprocess
import sys


def main():
    source = pathlib.Path(sys.argv[1])
    found = subprocess.run(
        sys.argv[2:] + ["-fsyntax-only", "-fmax-errors=0", str(source)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}).stderr
    named = {int(n) for n in re.findall(
        re.escape(source.name) + r":(\d+):", found)}
    failures = []
    for number, line in enumerate(source.read_text().splitlines(), 1):
        mark = re.search(r"// error: (.*)", line)
        if mark and (number not in named or mark[1] not in found):
            failures.append(f"{source.name}:{number}: no error: {mark[1]}")
    if failures:
        print("\n".join(failures))
        print(found)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
