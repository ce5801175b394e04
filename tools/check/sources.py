"""The files that the checks look at."""

import pathlib
import subprocess

CPP = {".cpp", ".h", ".c"}


def tracked(root, suffixes=None):
    """Files below `root` that git knows or would add, as relative paths.

    Outside a git checkout it is every file, so that the checks can be tested
    on a plain folder.
    """
    root = pathlib.Path(root)
    listing = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "-co", "--exclude-standard"],
        capture_output=True, text=True, check=False)
    if listing.returncode == 0 and (root / ".git").exists():
        paths = [pathlib.PurePosixPath(p) for p in listing.stdout.split("\0")]
        paths = [p for p in paths if str(p) != "." and (root / p).is_file()]
    else:
        paths = [pathlib.PurePosixPath(p.relative_to(root).as_posix())
                 for p in root.rglob("*") if p.is_file()]
    if suffixes:
        paths = [p for p in paths if p.suffix in suffixes]
    return sorted(set(paths))


def read(root, path):
    """The text of a file; nothing for a binary one."""
    data = (pathlib.Path(root) / path).read_bytes()
    if b"\0" in data:
        return ""
    return data.decode("utf-8", errors="replace")


def report(name, problems):
    """Prints `problems`, one a line, and gives the exit status."""
    for problem in problems:
        print(f"error: {problem}")
    print(f"{name}: {len(problems)} problem(s)" if problems else f"{name}: ok")
    return 1 if problems else 0
