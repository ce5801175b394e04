/// The types of steps that there are, and what several of them read.
#pragma once

#include "frontend/tokenizers/JsonField.h"
#include "frontend/tokenizers/characters/Regex.h"

#include <initializer_list>
#include <span>
#include <string_view>

namespace sinter::text {

inline constexpr std::string_view normalizerTypes[] = {
    "BertNormalizer", "Strip",   "StripAccents", "NFC",       "NFD",
    "NFKC",           "NFKD",    "Sequence",     "Lowercase", "Nmt",
    "Precompiled",    "Replace", "Prepend",      "ByteLevel"};
inline constexpr std::string_view preTokenizerTypes[] = {
    "ByteLevel",        "Whitespace", "WhitespaceSplit",
    "BertPreTokenizer", "Metaspace",  "Split",
    "Punctuation",      "Digits",     "CharDelimiterSplit",
    "UnicodeScripts",   "Sequence",   "FixedLength"};
inline constexpr std::string_view postProcessorTypes[] = {
    "TemplateProcessing", "BertProcessing", "RobertaProcessing", "ByteLevel",
    "Sequence"};
inline constexpr std::string_view decoderTypes[] = {
    "ByteLevel", "WordPiece", "Metaspace", "BPEDecoder", "ByteFallback",
    "Fuse",      "Strip",     "Replace",   "CTC",        "Sequence"};
inline constexpr std::string_view modelTypes[] = {"BPE", "WordPiece", "Unigram",
                                                  "WordLevel"};

/// The place of a step's type in `types`; a Failure where it is none of them.
size_t typeOf(const Field &step, std::span<const std::string_view> types);

/// A Failure that lists every step of the file whose type is unknown.
void checkTypes(const Field &file);

/// `{"String": ...}` or `{"Regex": ...}`.
Regex readPattern(const Field &pattern);

/// The parts of a text that are `wanted`, and what lies between.
void findPlain(std::string_view text, std::string_view wanted, Matches &parts);

/// A step of a sequence, which may not be null.
template <typename Step> Step needed(Step step, const Field &field) {
  if (!step)
    field.wrong("expected an object, not null");
  return step;
}

} // namespace sinter::text
