/// All that a tokenizer's file says, and the work itself.
#include "frontend/tokenizers/Core.h"
#include "frontend/tokenizers/Encodings.h"
#include "frontend/tokenizers/Types.h"

#include <fmt/format.h>

#include <algorithm>

namespace sinter::text {

Core::Core(std::string_view text) {
  Json json = parseJson(text);
  Field file(json, "");
  if (!json.is_object())
    fail(ErrorKind::io, "expected an object");
  file.onlyHas({"version", "truncation", "padding", "added_tokens",
                "normalizer", "pre_tokenizer", "post_processor", "decoder",
                "model"});
  if (Field version = file.get("version"); !version.isNull())
    version.choice({"1.0"});
  checkTypes(file);
  truncation = readTruncation(file.get("truncation"));
  padding = readPadding(file.get("padding"));
  model = readModel(file.at("model"));
  normalizer = readNormalizer(file.get("normalizer"));
  preTokenizer = readPreTokenizer(file.get("pre_tokenizer"));
  decoder = readDecoder(file.get("decoder"));
  added.read(file.get("added_tokens"), model->vocabulary, normalizer.get());
  post = readPostProcessor(file.get("post_processor"), [&](int32_t id) {
    return added.find(id) || model->vocabulary.has(id);
  });
}

std::unique_ptr<Workspace> Core::take() const {
  {
    std::lock_guard lock(mutex);
    if (!spaces.empty()) {
      auto space = std::move(spaces.back());
      spaces.pop_back();
      return space;
    }
  }
  return std::make_unique<Workspace>();
}

void Core::put(std::unique_ptr<Workspace> space) const {
  if (!space)
    return;
  std::lock_guard lock(mutex);
  // One that cannot be kept is made again.
  try {
    spaces.push_back(std::move(space));
  } catch (const std::bad_alloc &) {
    space.reset();
  }
}

int32_t Core::idOf(std::string_view token) const {
  int32_t id = added.find(token);
  return id >= 0 ? id : model->vocabulary.find(token);
}

std::optional<std::string> Core::tokenOf(int32_t id) const {
  if (const AddedToken *token = added.find(id))
    return token->normalized ? token->found : token->content;
  if (model->vocabulary.has(id))
    return std::string(model->vocabulary.token(id));
  return std::nullopt;
}

int64_t Core::size(bool withAdded) const {
  return int64_t(model->vocabulary.size() + (withAdded ? added.numOwn() : 0));
}

// ---- Encoding ---------------------------------------------------------------

static void numberChars(std::string_view text, std::vector<uint32_t> &chars) {
  chars.clear();
  if (std::ranges::none_of(text, [](char byte) { return byte & 0x80; }))
    return;
  chars.resize(text.size());
  uint32_t number = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i > 0 && (text[i] & 0xC0) != 0x80)
      ++number;
    chars[i] = number;
  }
}

/// Bytes as characters, if there are others than ASCII.
static Offset offsetOf(Span span, size_t size,
                       const std::vector<uint32_t> &chars) {
  Offset bytes = {int32_t(span.begin), int32_t(span.end)};
  if (chars.empty() || span.begin >= size)
    return bytes;
  auto first = chars[span.begin];
  uint32_t last = first + 2;
  if (span.end < size)
    last = chars[span.end];
  else if (span.end > 0 && span.end - 1 < size)
    last = chars[span.end - 1] + 1;
  return {int32_t(first), int32_t(last)};
}

void Core::addTokens(const Piece &piece, int32_t word, OffsetUnit unit,
                     Workspace &space, Encoding &encoding) const {
  const Pieces &pieces = space.pieces;
  std::string_view text = pieces.textOf(piece);
  for (const Token &token : space.tokens) {
    encoding.ids.push_back(token.id);
    encoding.word_ids.push_back(word);
    if (unit == OffsetUnit::none)
      continue;
    Span span = pieces.originOf(piece, token.begin, token.end);
    encoding.offsets.push_back(
        offsetOf(span, pieces.original.size(), space.chars));
    bool own = piece.id >= 0 || token.id == model->textId();
    encoding.tokens.emplace_back(
        own ? text.substr(token.begin, token.end - token.begin)
            : model->vocabulary.token(token.id));
  }
}

void Core::lookUp(const Piece &piece, int32_t word, OffsetUnit unit,
                  Workspace &space, Encoding &encoding) const {
  const Pieces &pieces = space.pieces;
  space.tokens.clear();
  if (piece.id >= 0)
    space.tokens.push_back({piece.id, 0, piece.end - piece.begin});
  else
    model->run(pieces.textOf(piece), pieces.bytes, space.model, space.tokens);
  addTokens(piece, word, unit, space, encoding);
}

Encoding Core::encodeText(std::string_view text, int32_t typeId,
                          OffsetUnit unit, Workspace &space) const {
  if (text.size() > size_t(maxId))
    fail(ErrorKind::invalid_argument,
         fmt::format("a text of {} bytes is too long", text.size()));
  if (size_t bad = findInvalid(text); bad != text.npos)
    fail(ErrorKind::invalid_argument,
         fmt::format("the text is not UTF-8 at byte {}", bad));
  Pieces &pieces = space.pieces;
  pieces.assign(text);
  added.cut(pieces, false);
  if (normalizer) {
    pieces.rewrite([&](Line &line) { normalizer->run(line); });
    std::erase_if(pieces.list, [](const Piece &piece) {
      return piece.id < 0 && piece.begin == piece.end;
    });
  }
  added.cut(pieces, true);
  if (preTokenizer)
    preTokenizer->run(pieces, model->readsBytes());
  std::erase_if(pieces.list,
                [](const Piece &piece) { return piece.begin == piece.end; });
  space.chars.clear();
  if (unit == OffsetUnit::characters)
    numberChars(text, space.chars);
  Encoding encoding;
  auto number = int32_t(pieces.list.size());
  for (int32_t i = 0; i < number; ++i)
    lookUp(pieces.list[size_t(i)], i, unit, space, encoding);
  encoding.type_ids.assign(encoding.size(), typeId);
  encoding.attention_mask.assign(encoding.size(), 1);
  encoding.special_tokens_mask.assign(encoding.size(), 0);
  return encoding;
}

static void dropTexts(Encoding &encoding) {
  encoding.tokens.clear();
  encoding.offsets.clear();
  for (Encoding &part : encoding.overflowing)
    dropTexts(part);
}

Encoding Core::encode(std::string_view text, const std::string_view *pair,
                      const EncodeOptions &options,
                      const std::optional<Truncation> &cut,
                      Workspace &space) const {
  std::vector<Encoding> encodings;
  encodings.push_back(encodeText(text, 0, options.offsets, space));
  if (pair)
    encodings.push_back(encodeText(*pair, 1, options.offsets, space));
  if (cut) {
    size_t special = options.special_tokens ? numAdded(pair != nullptr) : 0;
    auto most = size_t(cut->max_length);
    if (most < special)
      fail(ErrorKind::invalid_argument,
           fmt::format("truncation: max_length is {}, but {} special tokens "
                       "are added",
                       most, special));
    truncate(encodings, *cut, most - special);
  }
  if (post)
    post->run(encodings, options.special_tokens);
  Encoding all;
  if (!encodings.empty())
    all = std::move(encodings.front());
  for (size_t i = 1; i < encodings.size(); ++i)
    append(all, encodings[i]);
  if (options.offsets == OffsetUnit::none)
    dropTexts(all);
  return all;
}

// ---- Decoding ---------------------------------------------------------------

std::string Core::decode(std::span<const int32_t> ids, bool skipSpecial) const {
  std::vector<std::string> tokens;
  for (int32_t id : ids) {
    std::optional<std::string> token = tokenOf(id);
    if (!token || (skipSpecial && added.isSpecial(*token)))
      continue;
    tokens.push_back(std::move(*token));
  }
  std::string text;
  if (decoder)
    decoder->run(tokens);
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0 && !decoder)
      text += ' ';
    text += tokens[i];
  }
  return text;
}

// ---- What a file says beside ------------------------------------------------

std::optional<Truncation> readTruncation(const Field &field) {
  if (field.isNull())
    return std::nullopt;
  field.onlyHas({"direction", "max_length", "strategy", "stride"});
  Truncation made;
  made.max_length = field.at("max_length").integer(0, maxId);
  made.stride = field.at("stride").integer(0, maxId);
  made.strategy = static_cast<TruncationStrategy>(
      field.at("strategy").choice({"LongestFirst", "OnlyFirst", "OnlySecond"}));
  if (Field side = field.get("direction"); !side.isNull())
    made.side = static_cast<Side>(side.choice({"Left", "Right"}));
  return made;
}

/// Longer fillings are no tokenizer's.
static constexpr int64_t maxPadding = 1 << 24;

std::optional<Padding> readPadding(const Field &field) {
  if (field.isNull())
    return std::nullopt;
  field.onlyHas({"strategy", "direction", "pad_to_multiple_of", "pad_id",
                 "pad_type_id", "pad_token"});
  Padding made;
  Field strategy = field.at("strategy");
  if (strategy.json().is_object()) {
    strategy.onlyHas({"Fixed"});
    made.length = strategy.at("Fixed").integer(0, maxPadding);
  } else {
    strategy.choice({"BatchLongest"});
  }
  made.side =
      static_cast<Side>(field.at("direction").choice({"Left", "Right"}));
  if (Field multiple = field.get("pad_to_multiple_of"); !multiple.isNull())
    made.multiple_of = multiple.integer(0, maxPadding);
  made.id = int32_t(field.at("pad_id").integer(0, maxId));
  made.type_id = int32_t(field.at("pad_type_id").integer(0, maxId));
  made.token = field.at("pad_token").string();
  return made;
}

} // namespace sinter::text
