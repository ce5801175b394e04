#!/usr/bin/env python3
"""Prints lines per folder, long files and long functions.

usage: size.py [ROOT]

Fails on files over 800 lines; 400 is the aim. Functions over a screen are
listed, not refused.
"""

import collections
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import sources  # noqa: E402

HARD_LIMIT = 800
AIM = 400
SCREEN = 60
COUNTED = sources.CPP | {".td", ".py", ".cmake", ".fbs"}
# Comments, and text that may hold braces.
NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])'", re.S)
SCOPE = re.compile(r"\b(namespace|struct|class|enum|union|extern)\b[^()]*$")
ACCESS = re.compile(r"\s*(?:(?:public|private|protected):\s*)*")
PREPROCESSOR = re.compile(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", re.M)


def blank(match):
    """The matched text's line ends alone, so that lines keep their numbers."""
    return "\n" * match.group().count("\n")


def functions(text):
    """(first line, length) of each function: a body whose braces stand only
    in namespaces and types."""
    text = PREPROCESSOR.sub(blank, NOISE.sub(blank, text))
    depth, start, head = 0, None, 0
    for at in (m.start() for m in re.finditer(r"[{};]", text)):
        if text[at] == "{":
            if start is not None:
                depth += 1
            else:
                intro = text[head:at]
                if "(" in intro and not SCOPE.search(intro):
                    start, depth = head + ACCESS.match(intro).end(), 1
        elif text[at] == "}" and start is not None:
            depth -= 1
            if depth == 0:
                yield (text.count("\n", 0, start) + 1,
                       text.count("\n", start, at) + 1)
                start = None
        if start is None:
            head = at + 1


def check(root, out=print):
    per_folder = collections.Counter()
    problems, long_files, long_functions = [], [], []
    for path in sources.tracked(root, COUNTED):
        text = sources.read(root, path)
        count = text.count("\n")
        folder = "/".join(path.parts[:2][:len(path.parts) - 1]) or "."
        per_folder[folder] += count
        if count > HARD_LIMIT:
            problems.append(f"{path}: {count} lines, more than {HARD_LIMIT}")
        elif count > AIM:
            long_files.append(f"{path}: {count} lines")
        if path.suffix in sources.CPP:
            long_functions += [(length, f"{path}:{line}")
                               for line, length in functions(text)
                               if length > SCREEN]
    for folder, count in sorted(per_folder.items()):
        out(f"{count:7} {folder}")
    out(f"{sum(per_folder.values()):7} in all")
    for line in long_files:
        out(f"long file: {line} (the aim is {AIM})")
    for length, where in sorted(long_functions, reverse=True):
        out(f"long function: {where}: {length} lines")
    return problems


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parents[2]
    sys.exit(sources.report("size", check(sys.argv[1] if sys.argv[1:]
                                          else here)))
