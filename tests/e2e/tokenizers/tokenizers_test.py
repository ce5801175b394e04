#!/usr/bin/env python3
"""Compares tokenizers with those of the `tokenizers` package.

usage: tokenizers_test.py PROGRAM [COUNT] [CONFIGURATIONS]

PROGRAM is tokenizer-run. COUNT lines (10000) are encoded by each reference and,
300 of them, by tokenizers of random steps. Ends with 77 where the package is
missing.
"""

import os
import pathlib
import sys
import tempfile

os.environ["TOKENIZERS_PARALLELISM"] = "false"
try:
    from tokenizers import Tokenizer
except ImportError:
    print("the tokenizers package is missing")
    sys.exit(77)

import lines as texts  # noqa: E402
import random_tokenizers  # noqa: E402
import references  # noqa: E402
from compare import compare  # noqa: E402


def check(name, program, path, lines, mode, folder):
    wrong = compare(program, path, lines, Tokenizer.from_file(path), mode,
                    folder=folder)
    print(f"{name} {mode or 'single'}: {len(lines) - len(wrong)} of "
          f"{len(lines)} equal", flush=True)
    for line, what, ours, theirs in wrong[:3]:
        print(f"  {line!r}: {what}: {ours} instead of {theirs}")
    return not wrong


def real_files():
    """Files that installed packages hold."""
    for root in sys.path:
        if root.endswith("site-packages"):
            yield from pathlib.Path(root).glob("*/**/tokenizer.json")


def main(program, count, configurations):
    good = True
    lines, training = texts.lines(count), texts.lines(3000, seed=2)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tokenizer.json")
        for name, make in references.ALL.items():
            make(training).save(path)
            good &= check(name, program, path, lines, "", folder)
            good &= check(name, program, path, lines[:1000], "pair", folder)
        made = references.sentencepiece(training, folder)
        if made:
            made.save(path)
            good &= check("sentencepiece", program, path, lines, "", folder)
        for file in real_files():
            good &= check(str(file), program, str(file), lines, "", folder)
        small = references.common(texts.lines(700, seed=5), 500)
        for seed in range(configurations):
            try:
                random_tokenizers.draw(seed, small).save(path)
                Tokenizer.from_file(path)
            except BaseException as error:  # what the package itself refuses
                print(f"random {seed}: not made: {error}")
                continue
            good &= check(f"random {seed}", program, path, lines[:300], "",
                          folder)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *(int(x) for x in
                                 (sys.argv[2:] + ["10000", "60"][
                                     len(sys.argv) - 2:])[:2])))
