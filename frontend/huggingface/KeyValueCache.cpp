/// KeyValueCache: what a decoder remembers of the words that it has read.
#include <sinter/hf/KeyValueCache.h>

#include "frontend/Raise.h"

#include <sinter/Arguments.h>
#include <sinter/Creation.h>
#include <sinter/Shaping.h>

#include <fmt/format.h>

namespace sinter::hf {

KeyValueCache::KeyValueCache(int64_t capacity, Where where) try
    : room(capacity) {
  detail::Arguments("key_value_cache", where).positive("capacity", capacity);
} catch (...) {
  detail::raiseExhausted(where);
}

void KeyValueCache::clear() {
  layers.clear();
  memories.clear();
  visible = Tensor();
  filled = 0;
}

void KeyValueCache::eval(const Tensor &with, Where where) const try {
  std::vector<Tensor> all;
  if (with.defined())
    all.push_back(with);
  if (visible.defined())
    all.push_back(visible);
  for (const std::vector<Layer> *each : {&layers, &memories})
    for (const Layer &layer : *each) {
      all.push_back(layer.keys);
      all.push_back(layer.values);
    }
  sinter::eval(all, where);
} catch (...) {
  detail::raiseExhausted(where);
}

void KeyValueCache::check(int64_t count, Where where) const {
  if (count > room - filled)
    detail::raise(makeError(ErrorKind::invalid_argument,
                            fmt::format("forward: {} words do not fit a cache "
                                        "of {} that has {}",
                                        count, room, filled)),
                  where);
}

KeyValueCache::Layer &KeyValueCache::memory(size_t index) try {
  if (index >= memories.size())
    memories.resize(index + 1);
  return memories[index];
} catch (...) {
  detail::raiseExhausted({});
}

/// Where the next words stand; a tensor, so that it is an argument of the
/// program from the first word on.
static Tensor placeOf(int64_t filled, const Tensor &words) {
  return full({}, scalar(filled), {DType::i64, words.device()});
}

void KeyValueCache::mask(const Tensor &words) try {
  Tensor own = words.dtype() == DType::boolean ? words : words != 0;
  if (!visible.defined())
    visible = full({own.dim(0), Dim(room)}, true, {.device = own.device()});
  visible = slice_assign(visible, own, {0, placeOf(filled, own)});
} catch (...) {
  detail::raiseExhausted({});
}

const KeyValueCache::Layer &KeyValueCache::append(size_t index,
                                                  const Tensor &keys,
                                                  const Tensor &values) try {
  auto empty = [&](const Tensor &like) {
    Dims shape = like.shape();
    shape[2] = Dim(room);
    return zeros(shape, {like.dtype(), like.device()});
  };
  if (index >= layers.size())
    layers.resize(index + 1);
  Layer &layer = layers[index];
  if (!layer.keys.defined())
    layer = {empty(keys), empty(values)};
  Tensor start = placeOf(filled, keys);
  layer.keys = slice_assign(layer.keys, keys, {0, 0, start, 0});
  layer.values = slice_assign(layer.values, values, {0, 0, start, 0});
  return layer;
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::hf
