"""Tokenizers that are trained with the `tokenizers` package."""

import json
import os

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models,
                        normalizers, pre_tokenizers, processors, trainers)

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
          r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace("{1,3}", "")


def train(tokenizer, trainer, lines):
    tokenizer.train_from_iterator(lines, trainer)
    return tokenizer


def bytes_trainer(size, special):
    return trainers.BpeTrainer(
        vocab_size=size, special_tokens=special, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet())


def common(lines, count=1200):
    """The lines without their rare characters, which leave room for words."""
    from collections import Counter
    often = {c for c, _ in Counter("".join(lines)).most_common(count)}
    return ["".join(c for c in line if c in often) for line in lines]


def gpt2(lines):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.post_processor = processors.ByteLevel(trim_offsets=True)
    return train(t, bytes_trainer(3000, ["<|endoftext|>"]), lines)


def roberta(lines):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    t.decoder = decoders.ByteLevel()
    train(t, bytes_trainer(2000, ["<s>", "<pad>", "</s>", "<unk>"]), lines)
    t.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return t


def split_bytes(pattern, lines, ignore):
    t = Tokenizer(models.BPE(ignore_merges=ignore))
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(pattern), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    t.decoder = decoders.ByteLevel()
    train(t, bytes_trainer(4000, ["<|begin|>", "<|end|>"]), lines)
    t.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(
            single="<|begin|> $A", pair="<|begin|> $A <|begin|>:1 $B:1",
            special_tokens=[("<|begin|>", 0)])])
    return t


def llama3(lines):
    return split_bytes(LLAMA3, lines, True)


def qwen2(lines):
    t = split_bytes(QWEN2, lines, False)
    t.normalizer = normalizers.NFC()
    t.add_tokens([AddedToken("<tool>", normalized=False), "flour"])
    return t


def llama2(lines):
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True,
                             byte_fallback=True))
    t.normalizer = normalizers.Sequence([
        normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    t.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    train(t, trainers.BpeTrainer(vocab_size=3000, special_tokens=special,
                                 limit_alphabet=500, show_progress=False), lines)
    # The bytes are tokens of the model alone.
    data = json.loads(t.to_str())
    data["added_tokens"] = data["added_tokens"][:3]
    data["pre_tokenizer"] = None
    t = Tokenizer.from_str(json.dumps(data))
    t.decoder = decoders.Sequence([
        decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
        decoders.Strip(" ", 1, 0)])
    t.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)])
    return t


def bert(lines, lowercase):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece()
    train(t, trainers.WordPieceTrainer(
        vocab_size=4000, limit_alphabet=1000, show_progress=False,
        special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]), lines)
    t.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return t


def bert_uncased(lines):
    return bert(lines, True)


def bert_cased(lines):
    t = bert(lines, False)
    t.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return t


def unigram(lines):
    t = Tokenizer(models.Unigram())
    t.normalizer = normalizers.Sequence([
        normalizers.Nmt(), normalizers.NFKC(),
        normalizers.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    t.decoder = decoders.Metaspace()
    train(t, trainers.UnigramTrainer(
        vocab_size=3000, special_tokens=["<pad>", "</s>", "<unk>"],
        unk_token="<unk>", show_progress=False), common(lines))
    t.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)])
    return t


def sentencepiece(lines, folder, name="nmt_nfkc_cf"):
    """A unigram model of SentencePiece with its charsmap, or None."""
    try:
        import sentencepiece as spm
        from sentencepiece import sentencepiece_model_pb2 as pb
    except ImportError:
        return None
    path = os.path.join(folder, "lines.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(x.replace("\n", " ").replace("\0", "")
                             for x in common(lines) if x.strip()))
    spm.SentencePieceTrainer.train(
        input=path, model_prefix=os.path.join(folder, "spm"), vocab_size=2500, hard_vocab_limit=False,
        normalization_rule_name=name, byte_fallback=True,
        character_coverage=0.98, minloglevel=3, num_threads=1)
    model = pb.ModelProto()
    with open(os.path.join(folder, "spm.model"), "rb") as file:
        model.ParseFromString(file.read())
    t = Tokenizer(models.Unigram(
        [(p.piece, p.score) for p in model.pieces], unk_id=0,
        byte_fallback=True))
    t.normalizer = normalizers.Sequence([
        normalizers.Precompiled(model.normalizer_spec.precompiled_charsmap),
        normalizers.Strip(left=False, right=True),
        normalizers.Replace(Regex(" {2,}"), "▁")])
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    t.decoder = decoders.Sequence([
        decoders.ByteFallback(), decoders.Metaspace()])
    t.add_special_tokens(["<s>", "</s>", "<unk>"])
    return t


def word_level(lines):
    t = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    t.normalizer = normalizers.Sequence([normalizers.NFD(),
                                         normalizers.StripAccents(),
                                         normalizers.Lowercase()])
    t.pre_tokenizer = pre_tokenizers.Whitespace()
    return train(t, trainers.WordLevelTrainer(
        vocab_size=3000, special_tokens=["[UNK]"], show_progress=False), lines)


ALL = {"gpt2": gpt2, "roberta": roberta, "llama3": llama3, "qwen2": qwen2,
       "llama2": llama2, "bert-uncased": bert_uncased,
       "bert-cased": bert_cased, "unigram": unigram, "word-level": word_level}
