"""Whether the reference of ops says everything of every op.

usage: check_ops.py ops.md OpIds.inc
"""

import pathlib
import re
import sys

PARTS = {"an example": r"^```cpp\n(.+\n)+```$", "a gradient": r"^- gradient: \w",
         "PyTorch's name": r"^- PyTorch: ", "Burn's name": r"^- Burn: ",
         "a definition": r"^- defined at \w+\.td:\d+$"}


def main(reference, ids):
    text = pathlib.Path(reference).read_text()
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", text,
                               re.M | re.S))
    names = re.findall(r"^SINTER_OP\((\w+)\)", pathlib.Path(ids).read_text(), re.M)
    problems = [f"{name}: not in the reference" for name in names
                if name.rstrip("_") not in sections]
    for name, section in sections.items():
        problems += [f"{name}: lacks {what}" for what, pattern in PARTS.items()
                     if not re.search(pattern, section, re.M)]
    if len(names) != len(sections):
        problems.append(f"{len(names)} ops, {len(sections)} in the reference")
    print("\n".join(problems) or f"{len(sections)} ops: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
