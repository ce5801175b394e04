/// Ops that move elements, or make them of sizes.
#include "frontend/export/onnx/rows/Rows.h"

#include <limits>
#include <numeric>

namespace sinter::onnx {

/// Any op whose result has the elements of its operand in their order.
static void reshapeRule(OpCall &call) {
  call.give("Reshape", {call.in(0), call.dimsName(call.value().dims)},
            {{"allowzero", int64_t(1)}});
}

static void transposeRule(OpCall &call) {
  call.give("Transpose", {call.in(0)}, {{"perm", call.ints()}});
}

static void broadcastRule(OpCall &call) {
  call.give("Expand", {call.in(0), call.dimsName(call.value().dims)});
}

static std::vector<int64_t> upTo(size_t count) {
  std::vector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

static void sliceRule(OpCall &call) {
  if (call.rank() == 0)
    return call.give("Identity", {call.in(0)});
  std::vector<int64_t> starts = call.ints();
  std::vector<uint32_t> limits = call.dims();
  std::vector<int64_t> steps = call.ints();
  call.give("Slice",
            {call.in(0), call.integers(starts), call.dimsName(limits),
             call.integers(upTo(starts.size())), call.integers(steps)});
}

static void flipRule(OpCall &call) {
  std::vector<int64_t> axes = call.ints();
  std::vector<int64_t> last(axes.size(), -1), back(axes.size(), -1);
  std::vector<int64_t> before(axes.size(),
                              std::numeric_limits<int64_t>::min() + 1);
  call.give("Slice", {call.in(0), call.integers(last), call.integers(before),
                      call.integers(axes), call.integers(back)});
}

static void concatRule(OpCall &call) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < call.numOperands(); ++i)
    parts.push_back(call.in(i));
  call.give("Concat", parts, {{"axis", call.attrs().integer()}});
}

/// How much stands behind x, where that is a number.
static std::optional<int64_t> afterOf(OpCall &call, uint32_t own,
                                      uint32_t shape, int64_t low) {
  auto from = call.sizeOf(own), to = call.sizeOf(shape);
  if (from && to)
    return *to - *from - low;
  return own == shape && low == 0 ? std::optional<int64_t>(0) : std::nullopt;
}

static void padRule(OpCall &call) {
  std::vector<int64_t> low = call.ints(), numbers = low;
  std::vector<uint32_t> shape = call.dims();
  for (int64_t interior : call.ints())
    if (interior != 0)
      call.unsupported("elements between those of x");
  Number value = call.attrs().number();
  for (size_t i = 0; i < low.size(); ++i)
    if (auto after = afterOf(call, call.operand(0).dims[i], shape[i], low[i]))
      numbers.push_back(*after);
  std::string pads;
  if (numbers.size() == 2 * low.size()) {
    pads = call.integers(numbers);
  } else {
    std::string own = call.dimsName(call.operand(0).dims);
    std::string before = call.make("Add", {own, call.integers(low)});
    std::string after = call.make("Sub", {call.dimsName(shape), before});
    pads = call.make("Concat", {call.integers(low), after},
                     {{"axis", int64_t(0)}});
  }
  call.give("Pad", {call.in(0), pads, call.number(call.dtype(), value)});
}

/// The start is brought to where `size` elements are left.
static void dynamicSliceRule(OpCall &call) {
  int64_t axis = call.attrs().integer();
  std::string size = call.dimName(call.attrs().dim().expr);
  std::string extent = call.dimName(call.operand(0).dims[size_t(axis)]);
  std::string start = call.make("Reshape", {call.in(1), call.integers({1})});
  start = call.make("Min", {start, call.make("Sub", {extent, size})});
  start = call.make("Max", {start, call.integers({0})});
  call.give("Slice", {call.in(0), start, call.make("Add", {start, size}),
                      call.integers({axis})});
}

static void iotaRule(OpCall &call) {
  std::vector<uint32_t> shape = call.dims();
  auto axis = size_t(call.attrs().integer());
  std::vector<int64_t> along(shape.size(), 1), scalar;
  along[axis] = -1;
  std::string extent =
      call.make("Reshape", {call.dimName(shape[axis]), call.integers(scalar)});
  std::string places =
      call.make("Range", {call.number(DType::i64, Number(int64_t(0))), extent,
                          call.number(DType::i64, Number(int64_t(1)))});
  places = call.make("Reshape",
                     {call.cast(places, call.dtype()), call.integers(along)});
  call.give("Expand", {places, call.dimsName(shape)});
}

static void fullRule(OpCall &call) {
  std::vector<uint32_t> shape = call.dims();
  std::string number = call.number(call.dtype(), call.attrs().number());
  call.give("Expand", {number, call.dimsName(shape)});
}

static void extentRule(OpCall &call) {
  std::vector<int64_t> scalar;
  std::string size = call.dimName(call.attrs().dim().expr);
  call.give("Reshape", {call.cast(size, call.dtype()), call.integers(scalar)});
}

static void gatherRule(OpCall &call) {
  call.give("GatherElements", {call.in(0), call.in(1)},
            {{"axis", call.attrs().integer()}});
}

static void indexSelectRule(OpCall &call) {
  call.give("Gather", {call.in(0), call.in(1)},
            {{"axis", call.attrs().integer()}});
}

static void embeddingRule(OpCall &call) {
  call.give("Gather", {call.in(0), call.in(1)}, {{"axis", int64_t(0)}});
}

static void scatter(OpCall &call, const char *reduction) {
  call.give("ScatterElements", {call.in(0), call.in(1), call.in(2)},
            {{"axis", call.attrs().integer()}, {"reduction", reduction}});
}
static void scatterRule(OpCall &call) { scatter(call, "none"); }
static void scatterAddRule(OpCall &call) { scatter(call, "add"); }
static void scatterProdRule(OpCall &call) { scatter(call, "mul"); }
static void scatterAmaxRule(OpCall &call) {
  if (call.opset() < 18)
    call.unsupported("it needs opset 18");
  scatter(call, "max");
}
static void scatterAminRule(OpCall &call) {
  if (call.opset() < 18)
    call.unsupported("it needs opset 18");
  scatter(call, "min");
}

/// The first elements in order, and their places.
static void ordered(OpCall &call, size_t result) {
  int64_t axis = call.attrs().integer();
  bool isDescending = call.attrs().boolean();
  std::string count = call.dimName(call.attrs().dim().expr);
  call.giveOne("TopK", {call.in(0), count},
               {{"axis", axis}, {"largest", int64_t(isDescending)}}, result, 2);
}
static void sortRule(OpCall &call) { ordered(call, 0); }
static void argsortRule(OpCall &call) { ordered(call, 1); }

static constexpr WrittenOp rows[] = {
    {"reshape", reshapeRule},
    {"squeeze", reshapeRule},
    {"unsqueeze", reshapeRule},
    {"transpose", transposeRule},
    {"broadcast", broadcastRule},
    {"slice", sliceRule},
    {"flip", flipRule},
    {"concat", concatRule},
    {"pad", padRule},
    {"dynamic_slice", dynamicSliceRule},
    {"iota", iotaRule},
    {"full", fullRule},
    {"extent", extentRule},
    {"gather", gatherRule},
    {"index_select", indexSelectRule},
    {"embedding", embeddingRule},
    {"scatter", scatterRule},
    {"scatter_add", scatterAddRule},
    {"scatter_prod", scatterProdRule},
    {"scatter_amax", scatterAmaxRule},
    {"scatter_amin", scatterAminRule},
    {"sort", sortRule},
    {"argsort", argsortRule},
};

std::span<const WrittenOp> writtenViews() { return rows; }

} // namespace sinter::onnx
