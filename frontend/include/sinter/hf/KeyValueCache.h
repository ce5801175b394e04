/// KeyValueCache: what a decoder remembers of the words that it has read.
#pragma once

#include <sinter/Tensor.h>

#include <cstdint>
#include <source_location>
#include <vector>

namespace sinter::hf {

/// Keys and values of each layer, in memory of a fixed size: one program serves
/// every position. `forward` of a decoder that is given one reads `ids` as the
/// words that follow those in it, and adds them.
///
///     sn::hf::KeyValueCache cache(256);
///     sn::Tensor scores = model.forward(prompt, {.cache = &cache});
///     scores = model.forward(next, {.cache = &cache});
class KeyValueCache {
public:
  using Where = std::source_location;

  /// For up to `capacity` words.
  explicit KeyValueCache(int64_t capacity, Where where = Where::current());

  int64_t length() const { return filled; } ///< words in it
  int64_t capacity() const { return room; }
  /// Forgets all words.
  void clear();
  /// Evaluates what is recorded, and with it `with`, in one program.
  void eval(const Tensor &with = {}, Where where = Where::current()) const;

  /// [batch, head, position, size of a head] of a layer.
  struct Layer {
    Tensor keys, values;
  };

  /// For decoders: puts keys and values behind those of layer `index`, and
  /// gives all that there is room for.
  const Layer &append(size_t index, const Tensor &keys, const Tensor &values);
  /// For decoders of what an encoder gave: its keys and values, made by the
  /// first words; empty until then.
  Layer &memory(size_t index);
  /// Which of the words that are read next are seen: [batch, position], any
  /// dtype; without this all are.
  void mask(const Tensor &words);
  /// [batch, capacity], bool; empty where all are seen.
  const Tensor &seen() const { return visible; }
  /// An Error where there is no room for so many more words.
  void check(int64_t count, Where where = Where::current()) const;
  /// All layers have so many more words.
  void advance(int64_t count) { filled += count; }

private:
  int64_t room = 0;
  int64_t filled = 0;
  std::vector<Layer> layers, memories;
  Tensor visible;
};

/// What a decoder may be given beside ids [batch, position].
struct DecoderInputs {
  /// [batch, position], any dtype: 0 where an id only fills up, which no word
  /// sees. A cache remembers it.
  Tensor attention_mask = {};
  /// [batch or 1, position], integers; default: 0, 1, ... behind the words in
  /// the cache.
  Tensor position_ids = {};
  KeyValueCache *cache = nullptr;
};

struct GenerateOptions {
  int64_t max_new_tokens = 20;
  /// [batch, position], any dtype: 0 where an id only fills up, as texts of
  /// several lengths are on their left. Words are counted from the first that
  /// does not.
  Tensor attention_mask = {};
  /// Words that end a text; a batch goes on until all of its texts have ended,
  /// and repeats the first of these behind the end.
  std::vector<int64_t> eos = {};
};

} // namespace sinter::hf
