/// Operators whose results have as many elements as values say: what they count
/// is read while the model is recorded, or stays open in a file.
#include "frontend/CountedRows.h"
#include "frontend/import/onnx/rules/Rules.h"

#include <algorithm>

namespace sinter::onnx {

/// Positions of known elements that are not 0.
static Known knownNonZero(const Known &known) {
  size_t rank = std::max<size_t>(known.dims.size(), 1);
  std::vector<std::vector<int64_t>> columns(rank);
  for (int64_t i = 0; i < known.size(); ++i) {
    bool isZero = known.isReal() ? known.reals[size_t(i)] == 0
                                 : fixed(known.integers[size_t(i)]) == 0;
    if (isZero)
      continue;
    int64_t rest = i;
    for (size_t axis = rank; axis-- > 0;) {
      int64_t extent = axis < known.dims.size() ? known.dims[axis] : 1;
      columns[axis].push_back(rest % extent);
      rest /= extent;
    }
  }
  Known result;
  result.varies = true;
  for (const auto &column : columns)
    result.integers.insert(result.integers.end(), column.begin(), column.end());
  result.dims = {int64_t(rank), int64_t(columns[0].size())};
  return result;
}

static void nonZeroRule(Call &call) {
  if (KnownRef known = call.value(0).known())
    return call.give(knownNonZero(*known));
  call.mustCount(0, "the tensor");
  Tensor x = call.tensor(0);
  call.give(swapaxes(nonzero(x.rank() == 0 ? reshape(x, {1}) : x), 0, 1));
}

/// Where a vector holds, as positions; read unless it is known.
static Tensor heldPositions(Call &call, size_t input, Dim most) {
  if (call.value(input).rank() != 1)
    call.invalid("the condition is no vector");
  Tensor places;
  Dim longest = call.value(input).shape()[0];
  if (KnownRef known = call.value(input).known()) {
    std::vector<int64_t> held;
    for (size_t i = 0; i < known->integers.size(); ++i)
      if (fixed(known->integers[i]) != 0)
        held.push_back(int64_t(i));
    longest = held.empty() ? 0 : held.back() + 1;
    Dims shape{int64_t(held.size())};
    places = held.empty() ? zeros(shape, {DType::i64, call.device()})
                          : hostIntegers(held, shape, call.device());
  } else {
    call.mustCount(input, "the condition");
    places = reshape(nonzero(call.tensor(input)), {-1});
  }
  if (!detail::isCounted(longest) && !detail::isCounted(most) &&
      fixed(longest) > fixed(most))
    call.invalid("the condition is longer than the axis");
  return places;
}

/// The slices where a condition holds.
static void compressRule(Call &call) {
  Tensor x = call.tensor(0);
  bool isFlat = !call.given("axis");
  if (isFlat)
    x = reshape(x, {-1});
  int64_t axis = isFlat ? 0 : call.axis("axis", x.rank());
  Tensor places = heldPositions(call, 1, x.dim(axis));
  call.give(places.numel() == 0 ? sliceAxis(x, axis, 0, 0)
                                : index_select(x, places, axis));
}

static void uniqueRule(Call &call) {
  call.mustCount(0, "the tensor");
  Tensor x = call.tensor(0);
  std::optional<int64_t> axis;
  if (call.given("axis"))
    axis = call.axis("axis", x.rank());
  UniqueElements found = unique(x, axis, call.flag("sorted"));
  call.give(found.values);
  call.give(1, found.indices);
  call.give(2, reshape(found.inverse, {-1}));
  call.give(3, found.counts);
}

//===- Bits ---------------------------------------------------------------===//

/// Of an element in a file.
static unsigned bitsInFile(DType dtype) {
  return dtype == DType::boolean ? 8 : valueBits(dtype);
}

/// Integers as others of as many bits are a cast; no op reads other bits, so
/// those are read.
static void bitCastRule(Call &call) {
  DType from = call.value(0).dtype(), to = call.dtypeAttribute("to");
  if (bitsInFile(from) != bitsInFile(to))
    call.invalid("elements of " + std::string(name(from)) + " as " +
                 std::string(name(to)) + " of another width");
  bool isByte = byteWidth(from) == 1 && !isFloat(from) && !isFloat(to);
  if (from == to || (isByte && to != DType::boolean))
    return call.give(call.tensor(0).to(to));
  call.mustEvaluate(0, "the tensor");
  // A byte of a signed one has its sign: such are cast.
  bool isPart = valueBits(to) < 8 && isInteger(to);
  Tensor bits = bitsAs(call.tensor(0), isPart ? DType::u8 : to);
  call.give(isPart ? bits.to(to) : bits);
}

static constexpr Operator rows[] = {
    {"NonZero", 9, 0, "", nonZeroRule},
    {"Compress", 9, 0, "axis:int", compressRule},
    {"Unique", 11, 0, "axis:int sorted:int=1", uniqueRule},
    {"BitCast", 26, 0, "to:int!", bitCastRule},
};

std::span<const Operator> countedRows() { return rows; }

} // namespace sinter::onnx
