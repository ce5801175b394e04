/// Values: known elements and tensors.
#include "frontend/import/onnx/Value.h"

#include "frontend/Capture.h"
#include "frontend/CountedRows.h"
#include "frontend/HostBytes.h"
#include "frontend/Leaves.h"
#include "frontend/Raise.h"
#include "frontend/ScanBodies.h"
#include "runtime/graph/Builders.h"
#include "runtime/graph/Elements.h"
#include "sinter/runtime/Complex.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/Shaping.h>

#include <algorithm>
#include <cstring>
#include <utility>

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

static int64_t integerAt(const std::byte *from, DType dtype) {
  if (dtype != DType::i64 && dtype != DType::u64)
    return int64_t(loadNumber(from, dtype));
  int64_t integer;
  std::memcpy(&integer, from, sizeof(integer));
  return integer;
}

KnownRef knownOf(std::span<const std::byte> bytes, DType dtype,
                 const std::vector<int64_t> &dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    if (__builtin_mul_overflow(count, dim, &count) || count > Known::most)
      return nullptr;
  if (isComplex(dtype) || bytes.size() != size_t(count) * byteWidth(dtype))
    return nullptr;
  auto known = std::make_shared<Known>();
  known->dtype = dtype;
  known->dims = dims;
  for (size_t i = 0; i < size_t(count); ++i) {
    const std::byte *from = bytes.data() + i * byteWidth(dtype);
    if (known->isReal()) {
      known->reals.push_back(loadNumber(from, dtype));
      continue;
    }
    int64_t integer = integerAt(from, dtype);
    if (!isKnowable(dtype, integer))
      return nullptr;
    known->integers.emplace_back(integer);
  }
  return known;
}

/// Integers of a dtype; those of 64 bits need not be numbers of f64.
static void storeInteger(std::byte *to, DType dtype, int64_t integer) {
  if (byteWidth(dtype) == sizeof(integer))
    std::memcpy(to, &integer, sizeof(integer));
  else
    storeNumber(to, dtype, double(integer));
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

/// Of sizes that the program computes.
static Tensor computedOf(const Known &known, DeviceId device) {
  std::vector<Tensor> elements;
  for (Dim integer : known.integers)
    elements.push_back(detail::sizeTensor(integer, device));
  Dims dims(known.dims.begin(), known.dims.end());
  return reshape(stack(std::span<const Tensor>(elements)), dims)
      .to(known.dtype);
}

bool hasCounted(const Known &known) {
  return std::ranges::any_of(known.integers, detail::isCounted);
}

Tensor tensorOf(const Known &known, DeviceId device) {
  if (hasCounted(known))
    return computedOf(known, device);
  // The number of a symbol is an argument of programs.
  for (Dim integer : known.integers)
    fixed(integer);
  if (known.size() == 1 && !known.varies && isComputable(known.dtype))
    return filled(known, device);
  size_t width = byteWidth(known.dtype);
  std::vector<std::byte> bytes(size_t(known.size()) * width);
  std::byte *to = bytes.data();
  for (double real : known.reals)
    storeNumber(std::exchange(to, to + width), known.dtype, real);
  for (Dim integer : known.integers)
    storeInteger(std::exchange(to, to + width), known.dtype, integer.value);
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

/// The recorder says of which node.
[[noreturn]] static void refuseNoTensor() {
  throw Error(makeError(ErrorKind::invalid_argument,
                        "an operand is a list or nothing, not a tensor"));
}

DType Value::dtype() const {
  if (recorded.defined())
    return recorded.dtype();
  if (!elements)
    refuseNoTensor();
  return elements->dtype;
}

Dims Value::shape() const {
  if (recorded.defined())
    return recorded.shape();
  if (!elements)
    refuseNoTensor();
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
  if (!recorded.defined())
    refuseNoTensor();
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
