"""Tokenizers whose steps are drawn at random."""

import random

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models,
                        normalizers, pre_tokenizers, processors, trainers)

BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next",
             "contiguous"]


def normalizer(r):
    N = normalizers
    return r.choice([
        N.NFC, N.NFD, N.NFKC, N.NFKD, N.Lowercase, N.StripAccents, N.Nmt,
        lambda: N.Strip(r.random() < 0.5, r.random() < 0.5),
        lambda: N.Prepend(r.choice(["▁", "x", " "])),
        lambda: N.Replace(r.choice([" ", "a", "ab", "é"]),
                          r.choice(["▁", "", "xy", "é"])),
        lambda: N.Replace(Regex(r.choice([r"\s+", r"[0-9]", "^", "$", r"\b",
                                          r"(?=[A-Z])", "aa?", r"\p{Mn}+"])),
                          r.choice([" ", "", "<n>", "ü"])),
        lambda: N.BertNormalizer(*(r.random() < 0.5 for _ in range(4)))])()


def pre_tokenizer(r):
    P = pre_tokenizers
    pattern = r.choice([" ", "a", Regex(r"\s"), Regex(r"\w+|[^\w\s]+"),
                        Regex(r"\p{Lu}?\p{Ll}+"), Regex(r"\d{1,3}"),
                        Regex(r"(?=[A-Z])"), Regex(r"'s|'t| ?\p{L}+"), "▁"])
    return r.choice([
        P.Whitespace, P.WhitespaceSplit, P.BertPreTokenizer, P.UnicodeScripts,
        lambda: P.Punctuation(r.choice(BEHAVIORS)),
        lambda: P.Digits(r.random() < 0.5),
        lambda: P.CharDelimiterSplit(r.choice("a -é")),
        lambda: P.Metaspace(r.choice("▁_"),
                            r.choice(["first", "never", "always"]),
                            r.random() < 0.5),
        lambda: P.Split(pattern, r.choice(BEHAVIORS), r.random() < 0.3),
        lambda: P.ByteLevel(r.random() < 0.5, r.random() < 0.5,
                            r.random() < 0.5),
        lambda: P.FixedLength(r.randint(1, 6))])()


def decoder(r):
    D = decoders
    return r.choice([
        D.ByteLevel, D.WordPiece, D.Metaspace, D.ByteFallback, D.Fuse,
        lambda: D.BPEDecoder(r.choice(["</w>", "a"])),
        lambda: D.WordPiece(r.choice(["##", ""]), r.random() < 0.5),
        lambda: D.Metaspace("▁", r.choice(["first", "never", "always"])),
        lambda: D.Replace(r.choice(["a", "▁", Regex(r"\s+")]), " "),
        lambda: D.CTC(r.choice(["a", "[PAD]"]), r.choice(["|", " "]),
                      r.random() < 0.5)])()


def some(r, make, sequence, most):
    count = r.randint(0, most)
    if count == 0:
        return None
    if count == 1:
        return make(r)
    return sequence([make(r) for _ in range(count)])


SPECIAL = ["[UNK]", "[CLS]", "[SEP]", "[PAD]"]


def model(r):
    """A model, and its trainer."""
    kind = r.randrange(5)
    alphabet = pre_tokenizers.ByteLevel.alphabet() if r.random() < 0.4 else []
    if kind < 2:
        prefix = r.choice([None, None, "##"])
        suffix = r.choice([None, None, "</w>"])
        given = {"unk_token": r.choice([None, "[UNK]"]),
                 "continuing_subword_prefix": prefix,
                 "end_of_word_suffix": suffix}
        given = {k: v for k, v in given.items() if v is not None}
        return (models.BPE(fuse_unk=r.random() < 0.5,
                           byte_fallback=r.random() < 0.4,
                           ignore_merges=r.random() < 0.3, **given),
                trainers.BpeTrainer(
                    vocab_size=r.choice([600, 1500]), show_progress=False,
                    limit_alphabet=r.choice([100, 300]),
                    initial_alphabet=alphabet,
                    **{k: v for k, v in given.items() if k != "unk_token"},
                    special_tokens=SPECIAL + (
                        [f"<0x{b:02X}>" for b in range(256)]
                        if r.random() < 0.4 else [])))
    if kind == 2:
        return (models.WordPiece(unk_token="[UNK]",
                                 max_input_chars_per_word=r.choice([8, 100])),
                trainers.WordPieceTrainer(
                    vocab_size=1500, limit_alphabet=300, show_progress=False,
                    special_tokens=SPECIAL))
    if kind == 3:
        return (models.Unigram(),
                trainers.UnigramTrainer(
                    vocab_size=1500, show_progress=False, unk_token="[UNK]",
                    special_tokens=SPECIAL))
    return (models.WordLevel(unk_token="[UNK]"),
            trainers.WordLevelTrainer(vocab_size=800, show_progress=False,
                                      special_tokens=SPECIAL))


def post(r):
    P = processors
    template = P.TemplateProcessing(
        single=r.choice(["[CLS] $A [SEP]", "$A", "$A:2 [SEP]:1 [SEP]"]),
        pair=r.choice(["[CLS] $A [SEP] $B:1 [SEP]:1", "$B:1 [SEP] $A:3",
                       "$A $B $A"]),
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    sep, cls = ("[SEP]", 2), ("[CLS]", 1)
    bytes_ = P.ByteLevel(trim_offsets=r.random() < 0.7)
    return r.choice([
        None, template, P.BertProcessing(sep, cls), bytes_,
        P.RobertaProcessing(sep, cls, r.random() < 0.5, r.random() < 0.5),
        P.Sequence([bytes_, template])])


def add_tokens(r, t):
    for content in r.sample(["<mask>", "flour", " the", "é", "a b", "日本",
                             "[X]", "Hello", "ab", "ＡＢ"], r.randint(0, 4)):
        token = AddedToken(content, single_word=r.random() < 0.3,
                           lstrip=r.random() < 0.3, rstrip=r.random() < 0.3,
                           normalized=r.random() < 0.5)
        if r.random() < 0.5:
            t.add_tokens([token])
        else:
            t.add_special_tokens([token])


def options(r, t):
    if r.random() < 0.4:
        t.enable_truncation(r.randint(6, 30), stride=r.randint(0, 2),
                            strategy=r.choice(["longest_first", "only_first"]),
                            direction=r.choice(["left", "right"]))
    if r.random() < 0.4:
        t.enable_padding(direction=r.choice(["left", "right"]), pad_id=3,
                         pad_type_id=r.randint(0, 1),
                         length=r.choice([None, 20]),
                         pad_to_multiple_of=r.choice([None, 8]))


def draw(seed, lines):
    """The tokenizer of a seed, or None where the package refuses it."""
    r = random.Random(seed)
    made, trainer = model(r)
    t = Tokenizer(made)
    t.normalizer = some(r, normalizer, normalizers.Sequence, 3)
    t.pre_tokenizer = some(r, pre_tokenizer, pre_tokenizers.Sequence, 3)
    t.train_from_iterator(lines, trainer)
    processor, step = post(r), some(r, decoder, decoders.Sequence, 3)
    if processor is not None:
        t.post_processor = processor
    if step is not None:
        t.decoder = step
    add_tokens(r, t)
    options(r, t)
    return t
