/// Plain vectors of floats to and from tensors and parameters, for trainers
/// that know no tensors.
#pragma once

#include <sinter/Fields.h>
#include <sinter/FlatGradients.h>
#include <sinter/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sinter::train {

/// All elements in row-major order, whatever the rank; none of an empty shape.
std::vector<float>
tensor_to_vec(const Tensor &tensor,
              std::source_location where = std::source_location::current());
/// The sizes of the axes; none of a single number.
std::vector<int64_t>
tensor_shape(const Tensor &tensor,
             std::source_location where = std::source_location::current());
/// The tensor of that shape, f32. Another number of elements is an Error.
Tensor
vec_to_tensor(const std::vector<float> &values,
              const std::vector<int64_t> &shape,
              std::source_location where = std::source_location::current());

/// A parameter as trainers see it.
struct ParamKey {
  std::string path; ///< `fc1.weight`
  uint64_t cell = 0;
  Dims shape;
  DType dtype = DType::f32;
  DeviceId device = {};
  bool trained = true;
};

/// What weights change by, one vector a parameter.
using VectorDelta = std::map<std::string, std::vector<float>>;

/// The gradients of one loss, flat and by the parameters' paths. A value: any
/// thread may read it, also while others read it, and it may be moved or copied
/// from one to another.
class KeyedGradients {
public:
  using Keys = std::shared_ptr<const std::vector<ParamKey>>;

  KeyedGradients() = default;
  KeyedGradients(Keys keys, Gradients gradients)
      : keys(std::move(keys)), own(std::move(gradients)) {}

  /// The paths of parameters that have a gradient, in the order of `visit`.
  std::vector<std::string> paths() const;
  /// The gradient with one axis; recorded. Zeros for a parameter that is not
  /// used; an Error for a path that is no trained parameter's.
  Tensor
  flat(std::string_view path,
       std::source_location where = std::source_location::current()) const;
  /// The same with its parameter's shape.
  Tensor
  shaped(std::string_view path,
         std::source_location where = std::source_location::current()) const;
  /// The values of all, evaluated as one program.
  VectorDelta to_vectors(
      std::source_location where = std::source_location::current()) const;

  /// For optimizers, which take what is given up apart.
  const Gradients &gradients() const & { return own; }
  Gradients gradients() && { return std::move(own); }
  /// Adds those of another batch.
  void accumulate(const KeyedGradients &other);
  bool empty() const { return own.empty(); }

private:
  Keys keys;
  Gradients own;
};

namespace detail {

KeyedGradients::Keys keysOf(const sinter::detail::Fields &fields);
/// Each a tensor of its parameter's shape; an Error for what does not fit.
WeightDelta deltaOf(const std::vector<ParamKey> &keys, const VectorDelta &delta,
                    std::source_location where);
/// The trained parameters as one vector, as flat_gradients orders them; the
/// values are evaluated.
Tensor flatWeights(const sinter::detail::Fields &fields,
                   std::source_location where);
[[noreturn]] void throwNoForward(std::source_location where);

} // namespace detail
} // namespace sinter::train
