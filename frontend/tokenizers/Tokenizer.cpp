/// Tokenizers that Hugging Face's `tokenizer.json` describes.
#include <sinter/text/Tokenizer.h>

#include "frontend/Raise.h"
#include "frontend/tokenizers/Batch.h"
#include "frontend/tokenizers/Encodings.h"
#include "runtime/files/MappedFile.h"

#include <sinter/Creation.h>
#include <sinter/Held.h>

namespace sinter::text {

/// Of Failures and of what runs out, an Error at the user's line.
template <typename Function>
static auto atLine(const std::source_location &where, Function function) try {
  return function();
} catch (const Failure &failure) {
  detail::raise(failure.error, where);
} catch (...) {
  detail::raiseExhausted(where);
}

Tokenizer::Tokenizer(std::shared_ptr<const Core> core)
    : truncation(core->truncation), padding(core->padding),
      core(std::move(core)) {}

Tokenizer Tokenizer::from_json(std::string_view json,
                               std::source_location where) {
  return atLine(where,
                [&] { return Tokenizer(std::make_shared<const Core>(json)); });
}

Tokenizer Tokenizer::from_file(const std::string &path,
                               std::source_location where) {
  return atLine(where, [&] {
    auto file = detail::unwrap(runtime::MappedFile::open(path), where);
    auto bytes = file.bytes();
    std::string_view json(reinterpret_cast<const char *>(bytes.data()),
                          bytes.size());
    try {
      return Tokenizer(std::make_shared<const Core>(json));
    } catch (const Failure &failure) {
      fail(failure.error.kind, path + ": " + failure.error.message);
    }
  });
}

Tokenizer Tokenizer::from_folder(const std::string &path,
                                 std::source_location where) {
  return from_file(path + "/tokenizer.json", where);
}

static void check(const std::optional<Truncation> &truncation) {
  if (truncation && (truncation->max_length < 0 || truncation->stride < 0))
    fail(ErrorKind::invalid_argument,
         "truncation: max_length and stride may not be negative");
}

/// Longer fillings are a mistake.
static constexpr int64_t maxPadding = 1 << 24;

static void check(const std::optional<Padding> &padding) {
  auto isWrong = [](const std::optional<int64_t> &length) {
    return length && (*length < 0 || *length > maxPadding);
  };
  if (padding && (isWrong(padding->length) || isWrong(padding->multiple_of)))
    fail(ErrorKind::invalid_argument,
         "padding: length and multiple_of may be 0 to " +
             std::to_string(maxPadding));
}

static void padOne(Encoding &encoding, const Padding &padding,
                   OffsetUnit unit) {
  std::vector<Encoding> one;
  one.push_back(std::move(encoding));
  pad(one, padding, unit != OffsetUnit::none);
  encoding = std::move(one.front());
}

Encoding Tokenizer::encode(std::string_view text, const EncodeOptions &options,
                           std::source_location where) const {
  return atLine(where, [&] {
    const Core &file = detail::held(core, "encode", where);
    check(truncation);
    check(padding);
    Borrowed space(file);
    Encoding made = file.encode(text, nullptr, options, truncation, *space);
    if (padding)
      padOne(made, *padding, options.offsets);
    return made;
  });
}

Encoding Tokenizer::encode(std::string_view text, std::string_view pair,
                           const EncodeOptions &options,
                           std::source_location where) const {
  return atLine(where, [&] {
    const Core &file = detail::held(core, "encode", where);
    check(truncation);
    check(padding);
    Borrowed space(file);
    Encoding made = file.encode(text, &pair, options, truncation, *space);
    if (padding)
      padOne(made, *padding, options.offsets);
    return made;
  });
}

std::vector<Encoding>
Tokenizer::encode_batch(std::span<const std::string> texts, int64_t workers,
                        const EncodeOptions &options,
                        std::source_location where) const {
  return atLine(where, [&] {
    const Core &file = detail::held(core, "encode_batch", where);
    check(truncation);
    check(padding);
    std::vector<Encoding> all(texts.size());
    forEachText(file, texts.size(), workers, [&](size_t i, Workspace &space) {
      all[i] = file.encode(texts[i], nullptr, options, truncation, space);
    });
    if (padding)
      pad(all, *padding, options.offsets != OffsetUnit::none);
    return all;
  });
}

std::vector<Encoding> Tokenizer::encode_batch(
    std::span<const std::pair<std::string, std::string>> pairs, int64_t workers,
    const EncodeOptions &options, std::source_location where) const {
  return atLine(where, [&] {
    const Core &file = detail::held(core, "encode_batch", where);
    check(truncation);
    check(padding);
    std::vector<Encoding> all(pairs.size());
    forEachText(file, pairs.size(), workers, [&](size_t i, Workspace &space) {
      std::string_view second = pairs[i].second;
      all[i] = file.encode(pairs[i].first, &second, options, truncation, space);
    });
    if (padding)
      pad(all, *padding, options.offsets != OffsetUnit::none);
    return all;
  });
}

BatchTensors Tokenizer::tensors(std::span<const std::string> texts,
                                int64_t workers,
                                std::source_location where) const {
  Tokenizer filled = *this;
  if (!filled.padding) {
    filled.padding.emplace();
    for (const char *token : {"[PAD]", "<pad>"})
      if (std::optional<int32_t> id = token_to_id(token))
        filled.padding->id = *id;
  }
  std::vector<Encoding> all =
      filled.encode_batch(texts, workers, {.offsets = OffsetUnit::none}, where);
  size_t length = all.empty() ? 0 : all.front().size();
  // A text may be longer than the length that is asked for.
  for (const Encoding &encoding : all)
    if (encoding.size() != length)
      detail::raise(makeError(ErrorKind::invalid_argument,
                              "tensors: texts have " + std::to_string(length) +
                                  " and " + std::to_string(encoding.size()) +
                                  " tokens; truncation makes them equal"),
                    where);
  auto tensorOf = [&](auto member) {
    std::vector<int64_t> values;
    values.reserve(all.size() * length);
    for (const Encoding &encoding : all)
      values.insert(values.end(), (encoding.*member).begin(),
                    (encoding.*member).end());
    return tensor(values, {int64_t(all.size()), int64_t(length)}, {}, where);
  };
  return {tensorOf(&Encoding::ids), tensorOf(&Encoding::attention_mask),
          tensorOf(&Encoding::type_ids)};
}

std::string Tokenizer::decode(std::span<const int32_t> ids, bool skip,
                              std::source_location where) const {
  return atLine(where, [&] {
    return detail::held(core, "decode", where).decode(ids, skip);
  });
}

std::string Tokenizer::decode(std::span<const int64_t> ids, bool skip,
                              std::source_location where) const {
  return atLine(where, [&] {
    std::vector<int32_t> small;
    for (int64_t id : ids)
      if (id >= 0 && id <= maxId)
        small.push_back(int32_t(id));
    return decode(std::span<const int32_t>(small), skip, where);
  });
}

std::vector<std::string> Tokenizer::decode(const Tensor &ids, bool skip,
                                           std::source_location where) const {
  return atLine(where, [&] {
    if (ids.rank() != 1 && ids.rank() != 2)
      fail(ErrorKind::invalid_argument,
           "decode: ids have " + std::to_string(ids.rank()) +
               " axes, expected [token] or [text, token]");
    std::vector<int64_t> all = ids.to(DType::i64, where).to_vector<int64_t>();
    size_t rows = ids.rank() == 2 ? size_t(ids.dim(0).value) : 1;
    size_t length = rows == 0 ? 0 : all.size() / rows;
    std::vector<std::string> texts;
    for (size_t i = 0; i < rows; ++i)
      texts.push_back(
          decode(std::span<const int64_t>(all).subspan(i * length, length),
                 skip, where));
    return texts;
  });
}

std::optional<int32_t> Tokenizer::token_to_id(std::string_view token) const {
  int32_t id = detail::held(core, "token_to_id").idOf(token);
  return id < 0 ? std::nullopt : std::optional(id);
}

std::optional<std::string> Tokenizer::id_to_token(int32_t id) const {
  return detail::held(core, "id_to_token").tokenOf(id);
}

int64_t Tokenizer::vocab_size(bool with_added_tokens) const {
  return detail::held(core, "vocab_size").size(with_added_tokens);
}

// ---- DecodeStream -----------------------------------------------------------

DecodeStream::DecodeStream(const Tokenizer &tokenizer, bool skip_special_tokens)
    : core(tokenizer.core), skip(skip_special_tokens) {}

static bool isOpen(std::string_view text) {
  return text.ends_with("\xEF\xBF\xBD");
}

std::string DecodeStream::step(int32_t id, std::source_location where) {
  return atLine(where, [&]() -> std::string {
    const Core &file = detail::held(core, "step", where);
    if (prefix.empty() && !ids.empty()) {
      std::string text = file.decode(ids, skip);
      if (!isOpen(text)) {
        prefix = std::move(text);
        given = ids.size();
      }
    }
    ids.push_back(id);
    std::string text = file.decode(ids, skip);
    if (text.size() <= prefix.size() || isOpen(text))
      return {};
    if (!text.starts_with(prefix))
      fail(ErrorKind::unsupported,
           "step: a token changes the text before it: decode the whole");
    std::string added = text.substr(prefix.size());
    // The last tokens decide what the next ones look like.
    ids.erase(ids.begin(), ids.begin() + std::ptrdiff_t(given));
    given = ids.size();
    prefix = file.decode(ids, skip);
    return added;
  });
}

std::string DecodeStream::finish(std::source_location where) {
  return atLine(where, [&]() -> std::string {
    std::string text = detail::held(core, "finish", where).decode(ids, skip);
    std::string rest =
        text.starts_with(prefix) ? text.substr(prefix.size()) : std::string();
    ids.clear();
    prefix.clear();
    given = 0;
    return rest;
  });
}

} // namespace sinter::text
