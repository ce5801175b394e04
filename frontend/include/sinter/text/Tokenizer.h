/// Tokenizers that Hugging Face's `tokenizer.json` describes.
#pragma once

#include <sinter/Tensor.h>
#include <sinter/text/Encoding.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sinter::text {

class Core;

/// What a model is given of a batch, each [text, token], int64.
struct BatchTensors {
  Tensor ids, attention_mask, type_ids;
};

/// Makes tokens of texts and texts of tokens. What it gives is what the
/// `tokenizers` package gives of the same file. Copies share what was read;
/// several threads may use one.
///
///     auto tokenizer = sn::text::Tokenizer::from_file("tokenizer.json");
///     sn::text::Encoding encoding = tokenizer.encode("Hello, world");
///     std::string text = tokenizer.decode(encoding.ids);
///
/// Texts are UTF-8; one that is not is an `invalid_argument` Error, which says
/// where.
class Tokenizer {
public:
  Tokenizer() = default;
  /// Reads a file. An Error is of kind `io` where the file is damaged or says
  /// what cannot be, and `unsupported` where it wants what is not there: it
  /// names the file and the field, as in `model.merges[3]`.
  static Tokenizer
  from_file(const std::string &path,
            std::source_location where = std::source_location::current());
  /// The same of `tokenizer.json` in a folder.
  static Tokenizer
  from_folder(const std::string &path,
              std::source_location where = std::source_location::current());
  /// The same of the file's text.
  static Tokenizer
  from_json(std::string_view json,
            std::source_location where = std::source_location::current());

  /// How texts are cut off and filled up; at first as the file says.
  std::optional<Truncation> truncation;
  std::optional<Padding> padding;

  Encoding
  encode(std::string_view text, const EncodeOptions &options = {},
         std::source_location where = std::source_location::current()) const;
  /// Of two texts that belong together, as a question and its answer.
  Encoding
  encode(std::string_view text, std::string_view pair,
         const EncodeOptions &options = {},
         std::source_location where = std::source_location::current()) const;
  /// Of each text, by `workers` threads; what it gives does not depend on their
  /// number. Padding makes all as long as the longest. The first text that
  /// cannot be encoded is named.
  std::vector<Encoding> encode_batch(
      std::span<const std::string> texts, int64_t workers = 1,
      const EncodeOptions &options = {},
      std::source_location where = std::source_location::current()) const;
  std::vector<Encoding> encode_batch(
      std::span<const std::pair<std::string, std::string>> pairs,
      int64_t workers = 1, const EncodeOptions &options = {},
      std::source_location where = std::source_location::current()) const;

  /// What a model is given of texts; padding that the tokenizer lacks is as
  /// `Padding` says, with the id of `[PAD]` or `<pad>`, or 0.
  BatchTensors
  tensors(std::span<const std::string> texts, int64_t workers = 1,
          std::source_location where = std::source_location::current()) const;

  /// Ids that are no token's are left out.
  std::string
  decode(std::span<const int32_t> ids, bool skip_special_tokens = true,
         std::source_location where = std::source_location::current()) const;
  std::string
  decode(std::span<const int64_t> ids, bool skip_special_tokens = true,
         std::source_location where = std::source_location::current()) const;
  std::string
  decode(const std::vector<int32_t> &ids, bool skip_special_tokens = true,
         std::source_location where = std::source_location::current()) const {
    return decode(std::span(ids), skip_special_tokens, where);
  }
  /// Of each row of a tensor of ids, as `generate` gives it.
  std::vector<std::string>
  decode(const Tensor &ids, bool skip_special_tokens = true,
         std::source_location where = std::source_location::current()) const;

  std::optional<int32_t> token_to_id(std::string_view token) const;
  std::optional<std::string> id_to_token(int32_t id) const;
  /// How many tokens there are, with those that were added or without.
  int64_t vocab_size(bool with_added_tokens = true) const;

private:
  friend class DecodeStream;
  std::shared_ptr<const Core> core;

  explicit Tokenizer(std::shared_ptr<const Core> core);
};

/// Text of tokens that come one after the other, as a model says them. A
/// character is given when all of its bytes are there.
///
///     sn::text::DecodeStream stream(tokenizer);
///     for (int32_t id : ids)
///       std::cout << stream.step(id) << std::flush;
///     std::cout << stream.finish();
class DecodeStream {
public:
  explicit DecodeStream(const Tokenizer &tokenizer,
                        bool skip_special_tokens = true);
  /// The text that is new; it may be empty.
  std::string
  step(int32_t id,
       std::source_location where = std::source_location::current());
  /// What was held back, if the text ends within a character.
  std::string
  finish(std::source_location where = std::source_location::current());

private:
  std::shared_ptr<const Core> core;
  bool skip;
  std::vector<int32_t> ids; ///< from the last that were given on
  std::string prefix;       ///< the text of the first of them
  size_t given = 0;         ///< how many of them were given
};

} // namespace sinter::text
