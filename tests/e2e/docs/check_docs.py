"""Runs the commands and follows the links of the documentation.

usage: check_docs.py REPOSITORY BUILD FILE.md

A line of a ```console block that begins with `$ ` is run by bash in the build
folder and must succeed. Relative links, and paths of the repository in
backticks, must exist.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import os

# Not the brackets of a lambda.
LINK = re.compile(r"(?<![\[&=])\]\(([^)#:]+)(?:#[^)]*)?\)")
PATH = re.compile(r"`((?:compiler|dialects|docs|examples|frontend|runtime|"
                  r"tests|tools)/[\w./-]+\.\w+)`")


def commands(text):
    """The commands of every console block, continued lines joined."""
    for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S):
        for line in block.replace("\\\n", "").splitlines():
            if line.startswith("$ "):
                yield line[2:]


def broken_links(root, document, text):
    for link in LINK.findall(text):
        if not (document.parent / link).exists():
            yield f"{document.name}: no file behind the link {link}"
    for path in PATH.findall(text):
        if not (root / path).exists():
            yield f"{document.name}: there is no {path}"


def main(root, build, document):
    root, document = pathlib.Path(root), pathlib.Path(document)
    text = document.read_text()
    problems = list(broken_links(root, document, text))
    with tempfile.TemporaryDirectory() as scratch:
        environment = dict(os.environ, TMPDIR=scratch)
        for command in commands(text):
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", command],
                                  cwd=build, env=environment, text=True,
                                  capture_output=True, check=False)
            if done.returncode != 0:
                problems.append(f"{document.name}: failed: {command}\n"
                                f"{done.stdout}{done.stderr}")
    print("\n".join(problems) or f"{document.name}: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
