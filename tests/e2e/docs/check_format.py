"""Whether docs/format.md names every table and field of the schema and every
section.

usage: check_format.py format.md program.fbs FileFormat.cpp
"""

import pathlib
import re
import sys


def main(document, schema, code):
    text = pathlib.Path(document).read_text()
    rows = {}
    for line in text.splitlines():
        if match := re.match(r"\| `(\w+)` \|(.*)", line):
            rows[match[1]] = match[2]
    problems = []
    source = re.sub(r"//.*", "", pathlib.Path(schema).read_text())
    for name, body in re.findall(r"(?:table|struct) (\w+) \{(.*?)\}", source,
                                 re.S):
        if name not in rows:
            problems.append(f"{name}: not described")
            continue
        for field in re.findall(r"(\w+)\s*:", body):
            if f"`{field}`" not in rows[name]:
                problems.append(f"{name}: its field {field} is not described")
    names = re.search(r"names\[\] = \{(.*?)\}",
                      pathlib.Path(code).read_text(), re.S)
    for name in re.findall(r'"(\w+)"', names[1]):
        if not re.search(rf"^\| \d+ \| `{name}` ", text, re.M):
            problems.append(f"section {name}: not described")
    print("\n".join(problems) or f"{len(rows)} tables: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
