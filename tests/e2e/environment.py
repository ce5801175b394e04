"""A Python environment of packages that a test needs, made from PyPI."""

import os
import subprocess
import sys
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


def run(script, make, check, setup):
    """The verbs of a script on models: `make DIR [NAME...]`, in the environment
    of `setup`; `check SINTER DIR`; `setup VENV`; `all SINTER DIR`, which is the
    three of them."""
    verb = sys.argv[1]
    if verb == "make":
        return make(sys.argv[2], sys.argv[3:])
    if verb == "check":
        return check(sys.argv[2], sys.argv[3])
    if verb == "setup":
        return 0 if setup(sys.argv[2]) else SKIPPED
    python = setup(os.path.join(sys.argv[3], "venv"))
    if not python:
        print("skipped: the environment cannot be made")
        return SKIPPED
    models = os.path.join(sys.argv[3], "models")
    made = subprocess.run([python, script, "make", models]).returncode
    return 1 if made + check(sys.argv[2], models) else 0
