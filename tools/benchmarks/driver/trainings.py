"""Whole trainings of small models, ours (tests/e2e/baselines) and PyTorch's,
each in a process of its own, ours with empty caches."""

import os
import pathlib
import re
import subprocess
import tempfile

from driver.extras import Figure
from driver.sides import PEERS_FOLDER, environment_for, fields

# Test of the program baselines-test, by recipe.
RECIPES = {"iris": "Iris", "wine": "Wine", "breast_cancer": "BreastCancer",
           "digits_mlp": "DigitsByAnMlp", "digits_cnn": "DigitsByConvolutions",
           "mnist": "MnistByConvolutionsInOneEpoch"}


def output(command, environment):
    done = subprocess.run([str(word) for word in command], env=environment,
                          capture_output=True, text=True, check=False,
                          timeout=600)
    return done.stdout if done.returncode == 0 else ""


def ours(command, recipe, environment):
    """Seconds of the first training and of the shortest; empty: it failed."""
    with tempfile.TemporaryDirectory() as folder:
        text = output([*command, f"--gtest_filter=*.{RECIPES[recipe]}"],
                      environment | {"SINTER_CACHE_DIR": folder})
    found = re.search(r"([\d.]+) s for the first, ([\d.]+) s", text)
    epoch = re.search(r"([\d.]+) s for the epoch", text)
    if found:
        return float(found[1]), float(found[2])
    return (float(epoch[1]),) if epoch else ()


def theirs(python, recipe, environment):
    data = pathlib.Path(environment["SINTER_SUITES"]) / "data"
    found = fields(output([python, PEERS_FOLDER / "torch_trainings.py", data,
                           recipe], environment))
    return (found["first"], found["least"]) if "first" in found else ()


def trainings(build, python, threads, caches, rounds=3):
    """The least of a few processes; without SINTER_SUITES there is no data."""
    if "SINTER_SUITES" not in os.environ:
        return [Figure("trainings", "", failure="SINTER_SUITES is not set")]
    environment = environment_for(threads, caches, True)
    environment["SINTER_SUITES"] = os.environ["SINTER_SUITES"]
    program = build / "tests/baselines-test"
    figures = []
    for recipe in RECIPES:
        found = {"ours": [], "theirs": []}
        for _ in range(rounds):
            found["ours"].append(ours([program], recipe, environment))
            if python:
                found["theirs"].append(theirs(python, recipe, environment))
        for which, what in enumerate(("first training, s", "a later one, s")):
            times = [min(each[which] for each in side)
                     if side and all(len(each) > which for each in side)
                     else None for side in found.values()]
            if times[0] is None and which:
                continue  # there is but one
            figures.append(Figure(recipe, what, times[0], times[1], times[1],
                                  "" if times[0] else "failed"))
    return figures
