/// Core: all that a tokenizer's file says, and the work itself.
#pragma once

#include "frontend/tokenizers/AddedTokens.h"
#include "frontend/tokenizers/Steps.h"
#include "frontend/tokenizers/models/Model.h"

#include <sinter/text/Encoding.h>

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::text {

/// Memory of one thread that encodes.
struct Workspace {
  Pieces pieces;
  ModelMemory model;
  Tokens tokens;
  std::vector<uint32_t> chars; ///< the number of the character at each byte
};

/// Several threads may use it at once.
class Core {
public:
  /// Of the text of a tokenizer.json; a Failure says what is wrong with it.
  explicit Core(std::string_view json);

  /// What the file says of these.
  std::optional<Truncation> truncation;
  std::optional<Padding> padding;

  /// Tokens of one text, or of a pair; padding is the caller's.
  Encoding encode(std::string_view text, const std::string_view *pair,
                  const EncodeOptions &options,
                  const std::optional<Truncation> &cut, Workspace &space) const;
  std::string decode(std::span<const int32_t> ids, bool skipSpecial) const;

  int32_t idOf(std::string_view token) const;
  std::optional<std::string> tokenOf(int32_t id) const;
  /// With the added tokens, or without.
  int64_t size(bool added) const;
  size_t numAdded(bool pair) const { return post ? post->added(pair) : 0; }

  /// A workspace that nobody uses, given back by `put`.
  std::unique_ptr<Workspace> take() const;
  void put(std::unique_ptr<Workspace> space) const;

private:
  std::unique_ptr<const Normalizer> normalizer;
  std::unique_ptr<const PreTokenizer> preTokenizer;
  std::unique_ptr<const Model> model;
  std::unique_ptr<const PostProcessor> post;
  std::unique_ptr<const Decoder> decoder;
  AddedTokens added;
  mutable std::mutex mutex;
  mutable std::vector<std::unique_ptr<Workspace>> spaces;

  Encoding encodeText(std::string_view text, int32_t typeId, OffsetUnit unit,
                      Workspace &space) const;
  void lookUp(const Piece &piece, int32_t word, OffsetUnit unit,
              Workspace &space, Encoding &encoding) const;
  void addTokens(const Piece &piece, int32_t word, OffsetUnit unit,
                 Workspace &space, Encoding &encoding) const;
};

/// What `truncation` and `padding` of a file say.
std::optional<Truncation> readTruncation(const Field &field);
std::optional<Padding> readPadding(const Field &field);

/// A workspace of a core for as long as this lives.
class Borrowed {
public:
  explicit Borrowed(const Core &core) : core(core), space(core.take()) {}
  Borrowed(const Borrowed &) = delete;
  Borrowed &operator=(const Borrowed &) = delete;
  ~Borrowed() { core.put(std::move(space)); }
  Workspace &operator*() const { return *space; }

private:
  const Core &core;
  std::unique_ptr<Workspace> space;
};

} // namespace sinter::text
