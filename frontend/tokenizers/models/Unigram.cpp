/// The most likely tokens of a word, each by itself (Kudo: Subword
/// Regularization, 2018), as SentencePiece finds them.
#include "frontend/tokenizers/characters/Unicode.h"
#include "frontend/tokenizers/models/Model.h"
#include "frontend/tokenizers/models/Trie.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <string>

namespace sinter::text {

namespace {

class Unigram : public Model {
public:
  explicit Unigram(const Field &field);
  void run(std::string_view word, bool bytes, ModelMemory &memory,
           Tokens &tokens) const override;
  int32_t textId() const override { return unknown; }

private:
  std::vector<double> scores; ///< logarithms of probabilities, by id
  Trie trie;
  double unknownScore = 0;
  int32_t unknown = -1;
  bool fallback;
  std::array<int32_t, 256> byteIds;

  void findBest(std::string_view word, std::vector<Best> &best) const;
  void addToken(std::string_view word, int32_t begin, int32_t end,
                Tokens &tokens) const;
  int32_t unknownId() const;
};

/// The double that the package `tokenizers` reads where the nearest one would
/// be `number`. It rounds twice: its digits become a double, which is divided
/// by a power of ten. Only with its numbers do texts that are as likely in two
/// ways get its tokens.
double asPackageReads(double number) {
  if (!std::isfinite(number))
    return number;
  std::array<char, 32> text; // -d.ddde-ddd, of at most 17 digits
  char *end = std::to_chars(text.data(), text.data() + text.size(), number,
                            std::chars_format::scientific)
                  .ptr;
  char *mark = std::find(text.data(), end, 'e');
  uint64_t digits = 0;
  int exponent = 0;
  std::from_chars(mark + 1 + (mark[1] == '+'), end, exponent);
  bool fraction = false;
  for (char c : std::span(text.data(), mark)) {
    fraction |= c == '.';
    if (c < '0')
      continue;
    digits = digits * 10 + uint64_t(c - '0');
    exponent -= fraction;
  }
  auto value = double(digits);
  for (; exponent < -308; exponent += 308)
    value /= 1e308;
  std::string power = fmt::format("1e{}", std::abs(exponent));
  double scale = 1;
  std::from_chars(power.data(), power.data() + power.size(), scale);
  return std::copysign(exponent < 0 ? value / scale : value * scale, number);
}

Unigram::Unigram(const Field &field)
    : fallback(field.booleanOr("byte_fallback", false)) {
  field.onlyHas({"type", "unk_id", "vocab", "byte_fallback"});
  Field list = field.at("vocab");
  size_t count = list.array().size();
  std::vector<std::string> tokens;
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < count; ++i) {
    const Json &entry = list.json()[i];
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() ||
        !entry[1].is_number())
      list.at(i).wrong("expected a token and its score");
    tokens.push_back(entry[0].get<std::string>());
    scores.push_back(asPackageReads(entry[1].get<double>()));
    least = std::min(least, scores.back());
  }
  if (Field id = field.get("unk_id"); !id.isNull()) {
    if (count == 0)
      list.wrong("empty, but there is an unk_id");
    unknown = int32_t(id.integer(0, int64_t(count) - 1));
  }
  // SentencePiece's penalty of characters that are no token.
  unknownScore = least - 10;
  vocabulary = Vocabulary::ofList(std::move(tokens));
  std::vector<std::pair<std::string_view, int32_t>> all;
  vocabulary.forEach(
      [&](std::string_view token, int32_t id) { all.emplace_back(token, id); });
  trie.build(std::move(all));
  for (int i = 0; i < 256; ++i)
    byteIds[size_t(i)] = vocabulary.find(byteToken(uint8_t(i)));
}

int32_t Unigram::unknownId() const {
  if (unknown < 0)
    fail(ErrorKind::invalid_argument,
         "the text has characters that are no tokens, and there is no "
         "model.unk_id");
  return unknown;
}

/// For each end of a character the best token that ends there.
void Unigram::findBest(std::string_view word, std::vector<Best> &best) const {
  best.assign(word.size() + 1, {});
  auto offer = [&](size_t end, double score, size_t from, int32_t id) {
    Best &there = best[end];
    if (there.from < 0 || score > there.score)
      there = {score, int32_t(from), id};
  };
  for (size_t at = 0; at < word.size();) {
    double here = best[at].score;
    size_t length = charLength(word[at]);
    bool single = false;
    uint32_t node = Trie::root;
    for (size_t i = at; i < word.size(); ++i) {
      node = trie.next(node, uint8_t(word[i]));
      if (node == Trie::none)
        break;
      int32_t id = trie.id(node);
      if (id < 0)
        continue;
      offer(i + 1, scores[size_t(id)] + here, at, id);
      single |= i + 1 == at + length;
    }
    if (!single) {
      Best &there = best[at + length];
      double score = unknownScore + here;
      if (there.from < 0 || score > there.score)
        there = {score, int32_t(at), unknownId()};
    }
    at += length;
  }
}

void Unigram::addToken(std::string_view word, int32_t begin, int32_t end,
                       Tokens &tokens) const {
  auto first = uint32_t(begin), last = uint32_t(end);
  std::string_view text = word.substr(first, last - first);
  int32_t id = vocabulary.find(text);
  if (id < 0 && fallback &&
      std::ranges::all_of(
          text, [&](char byte) { return byteIds[uint8_t(byte)] >= 0; })) {
    for (char byte : text)
      tokens.push_back({byteIds[uint8_t(byte)], first, last});
    return;
  }
  tokens.push_back({id < 0 ? unknownId() : id, first, last});
}

void Unigram::run(std::string_view word, bool, ModelMemory &memory,
                  Tokens &tokens) const {
  bool kept = word.size() <= WordCache::maxLength;
  if (kept && memory.cache.find(word, tokens))
    return;
  findBest(word, memory.best);
  // Back from the end; unknown ones that follow each other are one.
  auto &ends = memory.merged;
  ends.clear();
  bool open = false; // the part on the right is unknown
  for (auto at = int32_t(word.size()); at > 0;) {
    const Best &part = memory.best[size_t(at)];
    bool isUnknown = part.id == unknown;
    if (!(isUnknown && open))
      ends.push_back(at);
    open = isUnknown;
    at = part.from;
  }
  size_t first = tokens.size();
  int32_t begin = 0;
  for (size_t i = ends.size(); i-- > 0; begin = ends[i])
    addToken(word, begin, ends[i], tokens);
  if (kept)
    memory.cache.keep(word, std::span(tokens).subspan(first));
}

} // namespace

std::unique_ptr<const Model> readUnigram(const Field &field) {
  return std::make_unique<Unigram>(field);
}

} // namespace sinter::text
