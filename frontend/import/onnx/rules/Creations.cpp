/// Tensors that are made of attributes and sizes.
#include "frontend/CountedRows.h"
#include "frontend/import/onnx/rules/Rules.h"

#include "frontend/import/onnx/ModelRecorder.h"
#include "runtime/graph/ShapeChecks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace sinter::onnx {

static void constantRule(Call &call) {
  if (const TensorRecord *tensor = call.tensorAttribute("value"))
    return call.give(call.recorder().stored(*tensor));
  if (call.given("value_int"))
    return call.give(knownNumber(DType::i64, call.integer("value_int")));
  if (call.given("value_float"))
    return call.give(knownNumber(DType::f32, call.real("value_float")));
  Known list;
  if (call.given("value_ints")) {
    for (int64_t each : call.integers("value_ints"))
      list.integers.emplace_back(each);
  } else if (call.given("value_floats")) {
    list.dtype = DType::f32;
    list.reals = call.reals("value_floats");
  } else {
    call.unsupported("a constant that is neither a tensor nor numbers");
  }
  list.dims = {list.size()};
  call.give(std::move(list));
}

/// One number of an attribute that holds a tensor of one element.
static Known fillOf(Call &call) {
  const TensorRecord *tensor = call.tensorAttribute("value");
  if (!tensor)
    return knownNumber(DType::f32, 0.0);
  KnownRef known = call.recorder().stored(*tensor).known();
  if (!known || known->size() != 1)
    call.invalid("the value is not one element");
  return *known;
}

static Tensor filled(const Known &number, const Dims &shape, DeviceId device) {
  Options options{number.dtype, device};
  if (number.isReal())
    return full(shape, number.reals[0], options);
  if (number.dtype == DType::boolean)
    return full(shape, number.integers[0].value != 0, options);
  return full(shape, number.integers[0].value, options);
}

static void constantOfShapeRule(Call &call) {
  Dims shape = call.dims(0, "the shape");
  Known number = fillOf(call);
  if (shape.size() > graph::maxRank)
    call.invalid(std::to_string(shape.size()) + " axes");
  int64_t count = 1;
  bool isSmall = true;
  for (Dim dim : shape) {
    if (dim.value < 0)
      call.invalid("an extent of " + std::to_string(dim.value));
    isSmall = isSmall && dim.isConstant() &&
              !__builtin_mul_overflow(count, dim.value, &count) &&
              count <= Known::most;
  }
  if (!isSmall)
    return call.give(filled(number, shape, call.device()));
  // Few elements may be a shape's.
  Known result = number;
  result.dims = fixed(shape);
  if (number.isReal())
    result.reals.assign(size_t(count), number.reals[0]);
  else
    result.integers.assign(size_t(count), number.integers[0]);
  call.give(std::move(result));
}

/// Least number of steps from `start` that reach `limit`. Distances of int64
/// fit uint64.
static uint64_t stepsTo(int64_t start, int64_t limit, int64_t delta) {
  bool isUp = delta > 0;
  if (isUp ? start >= limit : start <= limit)
    return 0;
  uint64_t from = uint64_t(isUp ? start : limit);
  uint64_t to = uint64_t(isUp ? limit : start);
  uint64_t step = isUp ? uint64_t(delta) : 0 - uint64_t(delta);
  return (to - from - 1) / step + 1;
}

static constexpr int64_t mostOfRange = 1'000'000'000;

/// From 0 to a size that values decide; false for another range.
static bool countedRange(Call &call, DType dtype) {
  auto one = [&](size_t input, const char *what) {
    Dims dims = call.dims(input, what);
    return dims.size() == 1 ? dims[0] : Dim(0);
  };
  Dim limit = one(1, "limit");
  if (!detail::isCounted(limit) || call.integer(0, "start") != 0 ||
      call.integer(2, "delta") != 1)
    return false;
  call.give(arange(limit, {DType::i64, call.device()}).to(dtype));
  return true;
}

static void integerRange(Call &call, DType dtype) {
  if (countedRange(call, dtype))
    return;
  int64_t start = call.integer(0, "start"), limit = call.integer(1, "limit"),
          delta = call.integer(2, "delta");
  if (delta == 0)
    call.invalid("a step of 0");
  uint64_t count = stepsTo(start, limit, delta);
  if (count >= uint64_t(mostOfRange))
    call.invalid("too many elements");
  Tensor number = arange(Dim(int64_t(count)), {DType::i64, call.device()});
  call.give((number * delta + start).to(dtype));
}

static void rangeRule(Call &call) {
  DType dtype = call.value(0).dtype();
  call.sameDTypes();
  if (!isFloat(dtype))
    return integerRange(call, dtype);
  double start = call.real(0, "start"), limit = call.real(1, "limit"),
         delta = call.real(2, "delta");
  if (delta == 0 || std::isnan(delta))
    call.invalid("a step of 0");
  double count = std::max(std::ceil((limit - start) / delta), 0.0);
  if (!(count < double(mostOfRange)))
    call.invalid("too many elements");
  Options options{DType::i64, call.device()};
  Tensor number = arange(Dim(int64_t(count)), options);
  DType wide = dtype == DType::f64 ? DType::f64 : DType::f32;
  call.give((number.to(wide) * delta + start).to(dtype));
}

static void eyeLikeRule(Call &call) {
  Dims shape = call.value(0).shape();
  if (shape.size() != 2)
    call.invalid("the tensor is no matrix");
  DType dtype = call.given("dtype") ? call.dtypeAttribute("dtype")
                                    : call.value(0).dtype();
  Options index{DType::i64, call.device()};
  Tensor distance = iota(shape, 1, index) - iota(shape, 0, index);
  call.give((distance == call.integer("k")).to(dtype));
}

//===- Windows of signals -------------------------------------------------===//

/// a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n) on the host.
static void cosineWindow(Call &call, double a0, double a1, double a2) {
  int64_t size = call.integer(0, "size");
  if (size < 0 || size > (1 << 24))
    call.invalid("a size of " + std::to_string(size));
  auto n = double(call.flag("periodic") ? size : size - 1);
  std::vector<double> values;
  for (int64_t i = 0; i < size; ++i) {
    double angle = n == 0 ? 0 : 2 * std::numbers::pi * double(i) / n;
    values.push_back(a0 - a1 * std::cos(angle) + a2 * std::cos(2 * angle));
  }
  call.give(hostReals(values, {size}, call.dtypeAttribute("output_datatype"),
                      call.device()));
}
static void hannRule(Call &call) { cosineWindow(call, 0.5, 0.5, 0); }
static void hammingRule(Call &call) {
  cosineWindow(call, 25.0 / 46, 21.0 / 46, 0);
}
static void blackmanRule(Call &call) { cosineWindow(call, 0.42, 0.5, 0.08); }

/// Rows of a spectrum between which the triangles stand.
static std::vector<int64_t> melEdges(Call &call, int64_t bins, int64_t length) {
  double rate = call.real(2, "sample_rate");
  double low = call.real(3, "lower_edge_hertz");
  double high = call.real(4, "upper_edge_hertz");
  auto toMel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  double lowMel = toMel(low), step = (toMel(high) - lowMel) / double(bins + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bins + 2; ++i) {
    double hertz =
        700 * (std::pow(10.0, (double(i) * step + lowMel) / 2595) - 1);
    double edge = std::floor(double(length + 1) * hertz / rate);
    if (!(rate > 0) || !(std::fabs(edge) < 1e15))
      call.invalid("the frequencies do not fit");
    edges.push_back(int64_t(edge));
  }
  return edges;
}

/// Triangles that stand at equal distances on the mel scale.
static void melRule(Call &call) {
  int64_t bins = call.integer(0, "num_mel_bins");
  int64_t length = call.integer(1, "dft_length");
  if (bins < 1 || length < 1 || bins > 10000 || length > (1 << 20))
    call.invalid("the sizes do not fit");
  int64_t rows = length / 2 + 1;
  if (rows * bins > (1 << 26))
    call.unsupported("so many elements");
  std::vector<int64_t> edges = melEdges(call, bins, length);
  std::vector<double> weights(size_t(rows * bins), 0);
  auto put = [&](int64_t row, int64_t bin, double weight) {
    if (row >= 0 && row < rows)
      weights[size_t(row * bins + bin)] = weight;
  };
  for (int64_t bin = 0; bin < bins; ++bin) {
    int64_t left = edges[size_t(bin)], middle = edges[size_t(bin) + 1],
            right = edges[size_t(bin) + 2];
    if (middle == left)
      put(middle, bin, 1);
    for (int64_t i = std::max<int64_t>(left, 0);
         middle != left && i <= std::min(middle, rows - 1); ++i)
      put(i, bin, double(i - left) / double(middle - left));
    for (int64_t i = std::max<int64_t>(middle, 0);
         right != middle && i < std::min(right, rows); ++i)
      put(i, bin, double(right - i) / double(right - middle));
  }
  call.give(hostReals(weights, {rows, bins},
                      call.dtypeAttribute("output_datatype"), call.device()));
}

static constexpr const char *window = "output_datatype:int=1 periodic:int=1";

static constexpr Operator rows[] = {
    {"Constant", 1, 10, "value:tensor!", constantRule},
    {"Constant", 11, 11, "value:tensor sparse_value:sparse", constantRule},
    {"Constant", 12, 0,
     "value:tensor value_float:float value_floats:floats value_int:int "
     "value_ints:ints value_string:string value_strings:strings "
     "sparse_value:sparse",
     constantRule},
    {"ConstantOfShape", 9, 0, "value:tensor", constantOfShapeRule},
    {"Range", 11, 0, "stash_type:int=1", rangeRule},
    {"EyeLike", 9, 0, "dtype:int k:int=0", eyeLikeRule},
    {"HannWindow", 17, 0, window, hannRule},
    {"HammingWindow", 17, 0, window, hammingRule},
    {"BlackmanWindow", 17, 0, window, blackmanRule},
    {"MelWeightMatrix", 17, 0, "output_datatype:int=1", melRule},
};

std::span<const Operator> creationRows() { return rows; }

} // namespace sinter::onnx
