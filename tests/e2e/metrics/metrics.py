#!/usr/bin/env python3
"""Metrics of 1,000 batches of uneven size, beside what other libraries say.

usage: metrics.py TEST FOLDER [BATCHES]

SINTER_PYTHON names a Python that has the packages, if this one does not.

TEST is the program of tests/unit/metrics. Ends with 77, which says that it was
left out, where a package is missing.
"""

import os
import pathlib
import subprocess
import sys

NEEDED = ["numpy", "torch", "torchmetrics", "sklearn", "skimage", "jiwer",
          "sacrebleu", "rouge_score"]


def main():
    python = os.environ.get("SINTER_PYTHON", sys.executable)
    found = subprocess.run([python, "-c", "import " + ", ".join(NEEDED)],
                           capture_output=True, text=True)
    if found.returncode != 0:
        print("left out: " + found.stderr.strip().splitlines()[-1])
        return 77
    test, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    batches = sys.argv[3] if len(sys.argv) > 3 else "1000"
    if not (folder / "cases.json").exists():
        script = pathlib.Path(__file__).with_name("cases.py")
        subprocess.run([python, script, folder, batches, "64"], check=True)
    environment = dict(os.environ, SINTER_METRIC_CASES=str(folder))
    return subprocess.run([test, "--gtest_filter=MetricCases.*"],
                          env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
