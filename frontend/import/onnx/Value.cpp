/// Values: known elements and tensors.
#include "frontend/import/onnx/Value.h"

#include "frontend/Capture.h"
#include "frontend/HostBytes.h"
#include "frontend/Leaves.h"
#include "frontend/Raise.h"
#include "frontend/ScanBodies.h"
#include "runtime/graph/Builders.h"
#include "runtime/support/HalfFloat.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/Shaping.h>

#include <cstring>

namespace sinter::onnx {

int64_t fixed(Dim dim) {
  if (!dim.isConstant())
    throw NeedsNumbers();
  return dim.value;
}

std::vector<int64_t> fixed(const Dims &dims) {
  std::vector<int64_t> numbers;
  for (Dim dim : dims)
    numbers.push_back(fixed(dim));
  return numbers;
}

//===- Elements in memory -------------------------------------------------===//

Known knownNumber(DType dtype, Number number) {
  Known known;
  known.dtype = dtype;
  if (known.isReal())
    known.reals = {number.asReal()};
  else
    known.integers = {
        Dim(number.isReal ? int64_t(number.real) : number.integer)};
  return known;
}

template <typename T> static T at(std::span<const std::byte> bytes, size_t i) {
  T element;
  std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
  return element;
}

static double realAt(std::span<const std::byte> bytes, DType dtype, size_t i) {
  switch (dtype) {
  case DType::f64:
    return at<double>(bytes, i);
  case DType::f32:
    return double(at<float>(bytes, i));
  case DType::f16:
    return double(fromHalf(at<uint16_t>(bytes, i)));
  default:
    return double(fromBfloat16(at<uint16_t>(bytes, i)));
  }
}

static int64_t integerAt(std::span<const std::byte> bytes, DType dtype,
                         size_t i) {
  switch (dtype) {
  case DType::i8:
    return at<int8_t>(bytes, i);
  case DType::i16:
    return at<int16_t>(bytes, i);
  case DType::i32:
    return at<int32_t>(bytes, i);
  case DType::i64:
    return at<int64_t>(bytes, i);
  default: // u8 and bool
    return at<uint8_t>(bytes, i);
  }
}

KnownRef knownOf(std::span<const std::byte> bytes, DType dtype,
                 const std::vector<int64_t> &dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    if (__builtin_mul_overflow(count, dim, &count) || count > Known::most)
      return nullptr;
  if (!isComputable(dtype) || bytes.size() != size_t(count) * byteWidth(dtype))
    return nullptr;
  auto known = std::make_shared<Known>();
  known->dtype = dtype;
  known->dims = dims;
  for (size_t i = 0; i < size_t(count); ++i) {
    if (known->isReal())
      known->reals.push_back(realAt(bytes, dtype, i));
    else
      known->integers.emplace_back(integerAt(bytes, dtype, i));
  }
  return known;
}

template <typename T>
static void append(std::vector<std::byte> &bytes, T element) {
  auto *first = reinterpret_cast<const std::byte *>(&element);
  bytes.insert(bytes.end(), first, first + sizeof(T));
}

static void appendReal(std::vector<std::byte> &bytes, DType dtype,
                       double real) {
  switch (dtype) {
  case DType::f64:
    return append(bytes, real);
  case DType::f32:
    return append(bytes, float(real));
  case DType::f16:
    return append(bytes, toHalf(float(real)));
  default:
    return append(bytes, toBfloat16(float(real)));
  }
}

static void appendInteger(std::vector<std::byte> &bytes, DType dtype,
                          int64_t integer) {
  switch (dtype) {
  case DType::i64:
    return append(bytes, integer);
  case DType::i32:
    return append(bytes, int32_t(integer));
  case DType::i16:
    return append(bytes, int16_t(integer));
  case DType::boolean:
    return append(bytes, uint8_t(integer != 0));
  default:
    return append(bytes, uint8_t(integer));
  }
}

/// Of one number: it is part of the program.
static Tensor filled(const Known &known, DeviceId device) {
  Dims dims(known.dims.begin(), known.dims.end());
  Options options{known.dtype, device};
  if (known.isReal())
    return full(dims, known.reals[0], options);
  if (known.dtype == DType::boolean)
    return full(dims, known.integers[0].value != 0, options);
  return full(dims, known.integers[0].value, options);
}

Tensor tensorOf(const Known &known, DeviceId device) {
  // The number of a symbol is an argument of programs.
  for (Dim integer : known.integers)
    fixed(integer);
  if (known.size() == 1 && !known.varies)
    return filled(known, device);
  std::vector<std::byte> bytes;
  for (double real : known.reals)
    appendReal(bytes, known.dtype, real);
  for (Dim integer : known.integers)
    appendInteger(bytes, known.dtype, integer.value);
  Dims dims(known.dims.begin(), known.dims.end());
  return detail::leafOf(bytes, known.dtype, dims, {{}, device}, {});
}

//===- Elements of tensors ------------------------------------------------===//

bool canEvaluate() {
  return !detail::Capture::current() && !detail::recordsScanBody();
}

KnownRef readKnown(const Tensor &tensor) {
  const graph::NodeRef &node = tensor.node();
  if (node->elements() > Known::most)
    return nullptr;
  std::vector<std::byte> bytes = detail::unwrap(detail::readBytes(*node), {});
  std::vector<int64_t> dims;
  for (Dim dim : tensor.shape())
    dims.push_back(dim.value);
  KnownRef known = knownOf(bytes, tensor.dtype(), dims);
  if (!known)
    return nullptr;
  auto varying = std::make_shared<Known>(*known);
  varying->varies = true;
  return varying;
}

//===- Values -------------------------------------------------------------===//

Tensor Value::tensor(DeviceId device) const {
  return recorded.defined() || !elements ? recorded
                                         : tensorOf(*elements, device);
}

DType Value::dtype() const {
  return recorded.defined() ? recorded.dtype() : elements->dtype;
}

Dims Value::shape() const {
  if (recorded.defined())
    return recorded.shape();
  return Dims(elements->dims.begin(), elements->dims.end());
}

KnownRef Value::known() const {
  if (elements || !lazy)
    return elements;
  if (!lazy->isAsked) {
    lazy->isAsked = true;
    lazy->answer = lazy->source();
    lazy->source = nullptr;
  }
  return lazy->answer;
}

KnownRef Value::read() const {
  if (recorded.node()->elements() > Known::most)
    return nullptr;
  return readKnown(recorded.eval());
}

void Value::setSource(Source source, unsigned depth) {
  lazy = std::make_shared<Lazy>();
  lazy->source = std::move(source);
  lazy->depth = depth;
}

} // namespace sinter::onnx
