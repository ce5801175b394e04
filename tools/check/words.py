#!/usr/bin/env python3
"""Checks that no file holds notes for later or names places outside the
repository.

usage: words.py [ROOT]
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import sources  # noqa: E402

# Letters in brackets keep this file from finding itself.
EVERYWHERE = [
    (r"\b(T[O]DO|F[I]XME|X[X]X|H[A]CK)\b", "a note for later"),
    (r"(?i)\bissues? #?\d+\b", "an issue's number"),
    (r"(?<![\w.])/(work|root|home)/\w", "a path of one machine"),
    (r"[.]library/", "a path outside the repository"),
    (r"(?i)\bsub-?[a]gents?\b", "how the project is written"),
]
# The continuous integration script alone may know where the suites lie.
NOT_IN_CI = [(r"\.\./[s]hared\b|(?<!\w)shared/[s]uites",
              "a path outside the repository")]
IN_CODE = [(r"(?i)\b(not[ ]implemented|unimplement[e]d)\b",
            "something left out")]
SKIPPED = {"LICENSE"}


def check(root):
    problems = []
    for path in sources.tracked(root):
        if path.name in SKIPPED or path.suffix in {".csv", ".png", ".gz"}:
            continue
        rules = list(EVERYWHERE)
        if path.parts[0] != ".ci":
            rules += NOT_IN_CI
        if path.suffix in sources.CPP | {".td"}:
            rules += IN_CODE
        for number, line in enumerate(sources.read(root, path).split("\n"), 1):
            problems += [f"{path}:{number}: {what}: {line.strip()[:80]}"
                         for pattern, what in rules
                         if re.search(pattern, line)]
    return problems


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parents[2]
    sys.exit(sources.report("words", check(sys.argv[1] if sys.argv[1:]
                                           else here)))
