#!/usr/bin/env python3
"""Checks that FileCheck cannot find in one function what is expected of
another.

usage: labels.py [ROOT]

A test with --split-input-file prints all its functions into one text. There,
each section needs a label of every RUN line whose checks say anything: without
one, a line that its function does not print is looked for in the next. Sections
that expect an error print nothing.
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import sources  # noqa: E402

CONTINUED = re.compile(r"\\\n\s*//\s*RUN:")
RUN = re.compile(r"^\s*//\s*RUN:(.*)$", re.M)
PREFIXES = re.compile(r"--?check-prefix(?:es)?[= ]([\w,-]+)")


def prefixes_of(text):
    """The prefixes of each RUN line that reads several sections."""
    for command in RUN.findall(CONTINUED.sub(" ", text)):
        if "--split-input-file" not in command or "FileCheck" not in command:
            continue
        given = PREFIXES.findall(command[command.index("FileCheck"):])
        yield ",".join(given).split(",") if given else ["CHECK"]


def lines_of(text, prefixes, label):
    kind = "-LABEL" if label else r"(?:-(?!LABEL)[A-Z0-9]+)?"
    return re.search(rf"//\s*(?:{'|'.join(prefixes)}){kind}:", text)


def check(root):
    problems = []
    for path in sources.tracked(root, {".mlir", ".test", ".td"}):
        text = sources.read(root, path)
        for prefixes in prefixes_of(text):
            if not lines_of(text, prefixes, label=False):
                continue
            start = 1
            for section in re.split(r"^// -----", text, flags=re.M):
                if "expected-error" not in section and not lines_of(
                        section, prefixes, label=True):
                    problems.append(f"{path}:{start}: this section has no "
                                    f"{' or '.join(prefixes)}-LABEL")
                start += section.count("\n")
    return problems


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parents[2]
    sys.exit(sources.report("labels", check(sys.argv[1] if sys.argv[1:]
                                            else here)))
