"""What tokenizer-run prints beside what the `tokenizers` package gives."""

import json
import subprocess


def of_package(tokenizer, encoding, top=True):
    made = {"ids": encoding.ids, "tokens": encoding.tokens,
            "type_ids": encoding.type_ids,
            "word_ids": [-1 if w is None else w for w in encoding.word_ids],
            "offsets": [list(o) for o in encoding.offsets],
            "attention_mask": encoding.attention_mask,
            "special_tokens_mask": encoding.special_tokens_mask,
            "overflowing": [of_package(tokenizer, o, False)
                            for o in encoding.overflowing]}
    if top:
        made["decoded"] = tokenizer.decode(encoding.ids,
                                           skip_special_tokens=False)
        made["skipped"] = tokenizer.decode(encoding.ids)
        made["steps"] = steps(tokenizer, encoding.ids)
    return made


def steps(tokenizer, ids):
    from tokenizers.decoders import DecodeStream
    stream, made = DecodeStream(skip_special_tokens=False), []
    try:
        for token in ids:
            made.append(stream.step(tokenizer, token) or "")
    except Exception:
        made.append("error")
    return made


def compare(program, path, lines, tokenizer, mode="", workers=1, folder="."):
    """The lines that differ, as (line, what, ours, theirs)."""
    texts = f"{folder}/texts.json"
    with open(texts, "w", encoding="utf-8") as file:
        json.dump(lines, file)
    done = subprocess.run([program, path, texts, mode, str(workers)],
                          capture_output=True)
    if done.returncode:
        raise RuntimeError(done.stderr.decode())
    ours = [json.loads(x) for x in done.stdout.decode().split("\n") if x]
    assert len(ours) == len(lines), (len(ours), len(lines))
    if mode == "pair":
        theirs = [tokenizer.encode(lines[i], lines[(i + 1) % len(lines)])
                  for i in range(len(lines))]
    else:
        theirs = tokenizer.encode_batch(lines,
                                        add_special_tokens=mode != "plain")
    wrong = []
    for line, our, their in zip(lines, ours, theirs):
        their = of_package(tokenizer, their)
        for what in their:
            if our[what] != their[what]:
                wrong.append((line, what, our[what], their[what]))
                break
    return wrong
