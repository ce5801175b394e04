/// Small tokenizers, as JSON.
#pragma once

#include <sinter/Tokenizers.h>

#include <string>

namespace sinter::text {

/// Of words and their pieces, with two special tokens.
inline std::string wordPieceJson() {
  return R"({"version": "1.0", "truncation": null, "padding": null,
"added_tokens": [
 {"id": 0, "content": "[UNK]", "single_word": false, "lstrip": false,
  "rstrip": false, "normalized": false, "special": true},
 {"id": 1, "content": "[CLS]", "single_word": false, "lstrip": false,
  "rstrip": false, "normalized": false, "special": true},
 {"id": 2, "content": "[SEP]", "single_word": false, "lstrip": false,
  "rstrip": false, "normalized": false, "special": true}],
"normalizer": {"type": "BertNormalizer", "clean_text": true,
 "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
"pre_tokenizer": {"type": "BertPreTokenizer"},
"post_processor": {"type": "TemplateProcessing",
 "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
  {"Sequence": {"id": "A", "type_id": 0}},
  {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
 "pair": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
  {"Sequence": {"id": "A", "type_id": 0}},
  {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
  {"Sequence": {"id": "B", "type_id": 1}},
  {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
 "special_tokens": {
  "[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]},
  "[SEP]": {"id": "[SEP]", "ids": [2], "tokens": ["[SEP]"]}}},
"decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
"model": {"type": "WordPiece", "unk_token": "[UNK]",
 "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
 "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "play": 3, "##ing": 4,
  "##s": 5, "the": 6, "cafe": 7, ".": 8}}})";
}

/// Of bytes, with a few merges and GPT-2's words.
inline std::string byteLevelJson() {
  std::string vocab, byte = "!\"#$%&'()*+,-./0123456789:;<=>?@";
  auto add = [&, id = 0](const std::string &token) mutable {
    vocab += (id ? ", \"" : "\"") + token + "\": " + std::to_string(id);
    ++id;
  };
  auto addChar = [&](int c) {
    if (c == '"' || c == '\\')
      add(std::string("\\") + char(c));
    else if (c < 0x80)
      add(std::string(1, char(c)));
    else
      add({char(0xC0 | c >> 6), char(0x80 | (c & 0x3F))});
  };
  for (int c = '!'; c <= '~'; ++c)
    addChar(c);
  for (int c = 0xA1; c < 0x144; ++c)
    if (c != 0xAD)
      addChar(c);
  for (const char *token : {"ab", "Ġab", "abc"})
    add(token);
  return R"({"version": "1.0", "added_tokens": [], "normalizer": null,
"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false,
 "trim_offsets": true, "use_regex": true},
"post_processor": null,
"decoder": {"type": "ByteLevel", "add_prefix_space": true,
 "trim_offsets": true, "use_regex": true},
"model": {"type": "BPE", "dropout": null, "unk_token": null,
 "continuing_subword_prefix": null, "end_of_word_suffix": null,
 "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
 "vocab": {)" +
         vocab + R"(}, "merges": ["a b", ["Ġ", "ab"], ["ab", "c"]]}})";
}

/// Of likely words; characters are marked with where words begin.
inline std::string unigramJson() {
  return R"({"version": "1.0", "added_tokens": [
 {"id": 0, "content": "<unk>", "single_word": false, "lstrip": false,
  "rstrip": false, "normalized": false, "special": true}],
"normalizer": {"type": "Sequence", "normalizers": [{"type": "Nmt"},
  {"type": "NFKC"}]},
"pre_tokenizer": {"type": "Metaspace", "replacement": "▁",
 "prepend_scheme": "always", "split": true},
"post_processor": null,
"decoder": {"type": "Metaspace", "replacement": "▁",
 "prepend_scheme": "always", "split": true},
"model": {"type": "Unigram", "unk_id": 0, "byte_fallback": false, "vocab": [
 ["<unk>", 0.0], ["▁", -2.0], ["a", -3.0], ["b", -3.5], ["ab", -4.0],
 ["▁ab", -4.5], ["abab", -6.0]]}})";
}

} // namespace sinter::text
