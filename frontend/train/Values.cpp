/// Gradients and weights as plain vectors.
#include <sinter/train/Values.h>

#include "frontend/Raise.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/ModuleFile.h>
#include <sinter/Shaping.h>
#include <sinter/SourceScope.h>

#include <fmt/format.h>

#include <algorithm>

namespace sinter::train {

using sinter::detail::Fields;
using sinter::detail::raise;
using sinter::detail::raiseExhausted;

[[noreturn]] static void refuse(const char *call, const std::string &what,
                                const SourceLine &where) {
  raise(makeError(ErrorKind::invalid_argument,
                  fmt::format("{}: {}", call, what), call),
        where);
}

std::vector<float> tensor_to_vec(const Tensor &tensor,
                                 std::source_location where) {
  if (!tensor.defined())
    refuse("tensor_to_vec", "the tensor is empty", where);
  return tensor.to_vector<float>(where);
}

std::vector<int64_t> tensor_shape(const Tensor &tensor,
                                  std::source_location where) try {
  if (!tensor.defined())
    refuse("tensor_shape", "the tensor is empty", where);
  std::vector<int64_t> shape;
  for (Dim dim : tensor.shape())
    shape.push_back(dim.value);
  return shape;
} catch (...) {
  raiseExhausted(where);
}

Tensor vec_to_tensor(const std::vector<float> &values,
                     const std::vector<int64_t> &shape,
                     std::source_location where) try {
  Dims dims;
  for (int64_t size : shape)
    dims.push_back(Dim(size));
  return tensor(values, dims, {}, where);
} catch (...) {
  raiseExhausted(where);
}

//===- Gradients ----------------------------------------------------------===//

namespace detail {

KeyedGradients::Keys keysOf(const Fields &fields) try {
  std::vector<ParamKey> keys;
  for (size_t i = 0; i < fields.params.size(); ++i) {
    const auto &[path, param] = fields.params[i];
    if (sinter::detail::firstWithCell(fields.params, i) == i)
      keys.push_back({.path = path.empty() ? param->name() : path,
                      .cell = param->cell()->id(),
                      .shape = param->shape(),
                      .dtype = param->dtype(),
                      .device = param->device(),
                      .trained = param->requires_grad()});
  }
  return std::make_shared<const std::vector<ParamKey>>(std::move(keys));
} catch (...) {
  raiseExhausted({});
}

/// The key of a path, or an Error of `call`.
static const ParamKey &find(const std::vector<ParamKey> &keys,
                            std::string_view path, const char *call,
                            const SourceLine &where) {
  auto found = std::ranges::find(keys, path, &ParamKey::path);
  if (found == keys.end())
    refuse(call, fmt::format("the module has no parameter '{}'", path), where);
  return *found;
}

static int64_t elementsOf(const ParamKey &key) {
  int64_t count = 1;
  for (Dim dim : key.shape)
    count *= dim.value;
  return count;
}

WeightDelta deltaOf(const std::vector<ParamKey> &keys, const VectorDelta &delta,
                    std::source_location where) try {
  std::map<std::string, Tensor> tensors;
  for (const auto &[path, values] : delta) {
    const ParamKey &key = find(keys, path, "apply_weight_delta", where);
    if (static_cast<int64_t>(values.size()) != elementsOf(key))
      refuse("apply_weight_delta",
             fmt::format("'{}' has {} elements, its delta {}", path,
                         elementsOf(key), values.size()),
             where);
    tensors[path] = tensor(values, key.shape, {.device = key.device}, where);
  }
  return WeightDelta(std::move(tensors));
} catch (...) {
  raiseExhausted(where);
}

Tensor flatWeights(const Fields &fields, std::source_location where) try {
  sinter::detail::SourceScope scope(where);
  no_grad guard;
  std::vector<Tensor> pieces;
  DType dtype = DType::f32;
  for (size_t i = 0; i < fields.params.size(); ++i) {
    const Param &param = *fields.params[i].value;
    if (!param.requires_grad() ||
        sinter::detail::firstWithCell(fields.params, i) != i)
      continue;
    dtype = pieces.empty() ? param.dtype() : promote(dtype, param.dtype());
    pieces.push_back(param.tensor(where));
  }
  if (pieces.empty())
    refuse("weights", "no parameter of the module wants a gradient", where);
  for (Tensor &piece : pieces)
    piece = piece.to(dtype, where).reshape({-1}, where);
  return concat(pieces, 0).eval(where);
} catch (...) {
  raiseExhausted(where);
}

void throwNoForward(std::source_location where) {
  refuse("backward", "this thread has called no forward before it", where);
}

} // namespace detail

std::vector<std::string> KeyedGradients::paths() const try {
  std::vector<std::string> found;
  if (keys)
    for (const ParamKey &key : *keys)
      if (own.findKey(key.cell))
        found.push_back(key.path);
  return found;
} catch (...) {
  raiseExhausted({});
}

Tensor KeyedGradients::shaped(std::string_view path,
                              std::source_location where) const try {
  if (!keys)
    refuse("gradients", "there are none: they are empty", where);
  const ParamKey &key = detail::find(*keys, path, "gradients", where);
  if (const Tensor *found = own.findKey(key.cell))
    return *found;
  if (!key.trained)
    refuse("gradients", fmt::format("'{}' is not trained", path), where);
  return zeros(key.shape, {.dtype = key.dtype, .device = key.device}, where);
} catch (...) {
  raiseExhausted(where);
}

Tensor KeyedGradients::flat(std::string_view path,
                            std::source_location where) const try {
  sinter::detail::SourceScope scope(where);
  return shaped(path, where).reshape({-1}, where);
} catch (...) {
  raiseExhausted(where);
}

VectorDelta KeyedGradients::to_vectors(std::source_location where) const try {
  std::vector<std::string> names = paths();
  std::vector<Tensor> tensors;
  for (const std::string &path : names)
    tensors.push_back(flat(path, where));
  if (!tensors.empty())
    eval(tensors, where);
  VectorDelta vectors;
  for (size_t i = 0; i < names.size(); ++i)
    vectors[names[i]] = tensors[i].to_vector<float>(where);
  return vectors;
} catch (...) {
  raiseExhausted(where);
}

void KeyedGradients::accumulate(const KeyedGradients &other) {
  if (!keys)
    keys = other.keys;
  own.accumulate(other.own);
}

} // namespace sinter::train
