"""A Python environment of packages that a test needs, made from PyPI."""

import os
import subprocess
import venv

# The exit status of a test that cannot run here.
SKIPPED = 77


def setup(folder, packages, needs):
    """The environment's Python; None where it cannot be made. NEEDS is a
    statement that fails where a package is missing."""
    python = os.path.join(folder, "bin/python")
    if not os.path.exists(python):
        venv.create(folder, with_pip=True)
    if subprocess.run([python, "-c", needs],
                      capture_output=True).returncode == 0:
        return python
    done = subprocess.run([python, "-m", "pip", "install", "-q", *packages])
    return python if done.returncode == 0 else None
