"""What the tests of a played training share."""

import os
import pathlib
import subprocess
import sys

DEMO = pathlib.Path(sys.argv.pop()).resolve()


def environment(**more):
    """One in which nothing but what is asked for says how to draw."""
    kept = {key: value for key, value in os.environ.items()
            if key not in {"NO_COLOR", "TERM", "LANG", "LC_ALL", "LC_CTYPE"}}
    return {**kept, **more}


def play(folder, *words, code=0, **more):
    """Runs the demo with KEY=VALUE words; gives what it wrote."""
    done = subprocess.run([DEMO, str(folder), *words], capture_output=True,
                          text=True, timeout=300, errors="surrogateescape",
                          env=environment(**more))
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done
