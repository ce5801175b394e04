/// Value: what a name of a model stands for while the model is recorded.
#pragma once

#include "frontend/import/onnx/Records.h"

#include <sinter/Tensor.h>

#include <functional>
#include <memory>
#include <vector>

namespace sinter::onnx {

/// Thrown where a symbolic dim has to be a number: what is recorded starts
/// again with the dims of inputs as numbers, which guards the program.
struct NeedsNumbers {};

/// The number of a dim that is a constant; throws NeedsNumbers for others.
int64_t fixed(Dim dim);
std::vector<int64_t> fixed(const Dims &dims);

/// A tensor whose elements are known on the host: shapes, and what is computed
/// of them. Integers and bools are dims, so that what came from a symbolic one
/// stays symbolic.
struct Known {
  DType dtype = DType::i64;
  std::vector<int64_t> dims;
  std::vector<Dim> integers; ///< of dtypes that are no floats
  std::vector<double> reals; ///< of floats
  /// Came from sizes of what the model was given, so it may vary.
  bool varies = false;

  bool isReal() const { return isFloat(dtype); }
  int64_t size() const {
    return int64_t(isReal() ? reals.size() : integers.size());
  }
  /// Most elements that are computed on the host.
  static constexpr int64_t most = 4096;
};
using KnownRef = std::shared_ptr<const Known>;

/// Whether the host computes with an integer of the dtype as it is: those of
/// u64 that an i64 does not hold are left to the device.
inline bool isKnowable(DType dtype, int64_t integer) {
  return dtype != DType::u64 || integer >= 0;
}
Known knownNumber(DType dtype, Number number);
/// Reads elements; empty where there are too many, or the dtype is none that
/// computes.
KnownRef knownOf(std::span<const std::byte> bytes, DType dtype,
                 const std::vector<int64_t> &dims);
/// Whether a count of rows is among the elements (frontend/CountedRows.h).
bool hasCounted(const Known &known);
/// Whether this thread can evaluate tensors now.
bool canEvaluate();
/// The elements of a small tensor that has a value; null where there are too
/// many.
KnownRef readKnown(const Tensor &tensor);
/// The known elements as a tensor on a device.
Tensor tensorOf(const Known &known, DeviceId device);

/// A tensor, perhaps one that is known, or a list of tensors, or nothing.
class Value {
public:
  Value() = default;
  Value(Tensor tensor) : recorded(std::move(tensor)) {}
  Value(Known known) : elements(std::make_shared<Known>(std::move(known))) {}
  explicit Value(KnownRef known) : elements(std::move(known)) {}
  static Value ofList(std::vector<Value> list) {
    Value value;
    value.parts = std::make_shared<const std::vector<Value>>(std::move(list));
    return value;
  }

  bool isNothing() const { return !recorded.defined() && !elements && !parts; }
  bool isList() const { return parts != nullptr; }
  const std::vector<Value> &list() const { return *parts; }

  /// The tensor, made of what is known if need be.
  Tensor tensor(DeviceId device) const;
  /// An Error where it is no tensor; as of `shape` and `read`.
  DType dtype() const;
  /// The dims, symbolic or not.
  Dims shape() const;
  int64_t rank() const { return int64_t(shape().size()); }

  /// Whether the elements are known without asking a device, and no parameter
  /// is among what they were made of.
  bool isConstant() const { return elements && !recorded.defined(); }
  /// The elements, if they can be known: they are read where the model was
  /// given them, and computed on the host where all that they are made of can
  /// be known. Null where not.
  KnownRef known() const;

  /// The elements of a tensor, which this evaluates; null where there are too
  /// many.
  KnownRef read() const;

  /// Lets `known` call this once, to find out.
  using Source = std::function<KnownRef()>;
  void setSource(Source source, unsigned depth);
  /// How many sources are asked one by the other.
  unsigned depth() const { return lazy ? lazy->depth : 0; }
  static constexpr unsigned maxDepth = 200;

private:
  struct Lazy {
    Source source;
    unsigned depth = 0;
    bool isAsked = false;
    KnownRef answer;
  };
  Tensor recorded;
  KnownRef elements;
  std::shared_ptr<Lazy> lazy;
  std::shared_ptr<const std::vector<Value>> parts;
};

} // namespace sinter::onnx
