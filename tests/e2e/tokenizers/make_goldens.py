#!/usr/bin/env python3
"""Writes what the `tokenizers` package gives of small tokenizers.

usage: make_goldens.py FOLDER
"""

import json
import os
import sys

from tokenizers import trainers

import lines as texts
import references
from compare import of_package

SIZES = {"gpt2": 340, "llama3": 340, "llama2": 420, "bert-uncased": 260,
         "unigram": 260}


def smaller(name, training):
    """The reference with few tokens: its trainer is told so."""
    size = SIZES[name]
    for kind in ("BpeTrainer", "WordPieceTrainer", "UnigramTrainer"):
        original = getattr(trainers, kind)

        def make(original=original, **given):
            given["vocab_size"] = size
            if "limit_alphabet" in given:
                given["limit_alphabet"] = 70
            return original(**given)
        setattr(references.trainers, kind, make)
        references.originals[kind] = original
    try:
        return references.ALL[name](training)
    finally:
        for kind, original in references.originals.items():
            setattr(references.trainers, kind, original)


def main(folder):
    references.originals = {}
    training = references.common(texts.lines(400, seed=3), 70)
    lines = texts.SENTENCES
    os.makedirs(folder, exist_ok=True)
    for name in SIZES:
        tokenizer = smaller(name, training)
        encodings = [of_package(tokenizer, e)
                     for e in tokenizer.encode_batch(lines)]
        made = {"tokenizer": json.loads(tokenizer.to_str()), "lines": lines,
                "expected": [{k: e[k] for k in ("ids", "offsets", "decoded")}
                             for e in encodings]}
        with open(os.path.join(folder, name + ".json"), "w",
                  encoding="utf-8") as file:
            json.dump(made, file, ensure_ascii=False, separators=(",", ":"))
            file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
