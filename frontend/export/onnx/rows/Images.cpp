/// Convolutions and pooling.
#include "frontend/export/onnx/rows/Rows.h"

#include <algorithm>
#include <numeric>

namespace sinter::onnx {

namespace {
/// Attributes that all of them begin with.
struct Windowed {
  explicit Windowed(OpCall &call)
      : sizes(call.ints()), strides(call.ints()), low(call.ints()),
        high(call.ints()), dilations(call.ints()) {}

  WrittenAttributes attributes() const {
    std::vector<int64_t> pads = low;
    pads.insert(pads.end(), high.begin(), high.end());
    return {{"kernel_shape", sizes},
            {"strides", strides},
            {"pads", pads},
            {"dilations", dilations}};
  }
  bool isCut() const {
    auto isNegative = [](int64_t pad) { return pad < 0; };
    return std::ranges::any_of(low, isNegative) ||
           std::ranges::any_of(high, isNegative);
  }

  std::vector<int64_t> sizes, strides, low, high, dilations;
};
} // namespace

/// Images are [n, c, ...] in ONNX.
static std::vector<int64_t> channelsTo(size_t rank, bool isFirst) {
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (isFirst)
    std::rotate(axes.begin() + 1, axes.end() - 1, axes.end());
  else
    std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
  return axes;
}

static bool hasChannelsLast(OpCall &call) {
  enum Layout : uint8_t { first, last };
  return call.attrs().choice<Layout>() == last;
}

static void onImage(OpCall &call, const char *op, bool isLast,
                    std::vector<std::string> operands,
                    const WrittenAttributes &attributes) {
  if (!isLast)
    return call.give(op, operands, attributes);
  operands[0] = call.make("Transpose", {operands[0]},
                          {{"perm", channelsTo(call.rank(), true)}});
  call.give("Transpose", {call.make(op, operands, attributes)},
            {{"perm", channelsTo(call.rank(), false)}});
}

static void convRule(OpCall &call) {
  Windowed windows(call);
  if (windows.isCut())
    call.unsupported("padding that cuts");
  WrittenAttributes attributes = windows.attributes();
  attributes.emplace_back("group", call.attrs().integer());
  bool isLast = hasChannelsLast(call);
  onImage(call, "Conv", isLast, {call.in(0), call.in(1)}, attributes);
}

static void convTransposeRule(OpCall &call) {
  Windowed windows(call);
  if (windows.isCut())
    call.unsupported("padding that cuts");
  WrittenAttributes attributes = windows.attributes();
  attributes.emplace_back("group", call.attrs().integer());
  std::vector<uint32_t> space = call.dims();
  bool isLast = hasChannelsLast(call);
  std::vector<int64_t> more;
  for (size_t i = 0; i < space.size(); ++i) {
    uint32_t own = call.operand(0).dims[i + (isLast ? 1 : 2)];
    bool areKnown = call.sizeOf(own) && call.sizeOf(space[i]);
    int64_t reach = (windows.sizes[i] - 1) * windows.dilations[i] + 1;
    int64_t smallest = (call.exampleOf(own) - 1) * windows.strides[i] + reach -
                       windows.low[i] - windows.high[i];
    more.push_back(call.exampleOf(space[i]) - smallest);
    // Of other sizes it could be another number, but for a stride of 1.
    if (!areKnown && more.back() != 0 && windows.strides[i] != 1)
      call.unsupported("output padding along a dynamic axis");
    if (more.back() < 0)
      call.unsupported("a result that is smaller than its windows");
  }
  attributes.emplace_back("output_padding", more);
  onImage(call, "ConvTranspose", isLast, {call.in(0), call.in(1)}, attributes);
}

static void maxPoolRule(OpCall &call) {
  Windowed windows(call);
  if (windows.isCut())
    call.unsupported("padding that cuts");
  bool isLast = hasChannelsLast(call);
  onImage(call, "MaxPool", isLast, {call.in(0)}, windows.attributes());
}

static void avgPoolRule(OpCall &call) {
  Windowed windows(call);
  std::vector<int64_t> low = call.ints(), high = call.ints();
  double divisor = call.attrs().real();
  bool isLast = hasChannelsLast(call);
  auto isZero = [](int64_t pad) { return pad == 0; };
  bool isNone =
      std::ranges::all_of(low, isZero) && std::ranges::all_of(high, isZero);
  bool isAll = low == windows.low && high == windows.high;
  bool isDilated =
      std::ranges::any_of(windows.dilations, [](int64_t d) { return d != 1; });
  if (divisor != 0 || (!isNone && !isAll))
    call.unsupported("a divisor, or padding that is counted in part");
  if (windows.isCut() || (isDilated && call.opset() < 19))
    call.unsupported("padding that cuts, or dilations before opset 19");
  WrittenAttributes attributes = windows.attributes();
  if (call.opset() < 19)
    attributes.pop_back();
  attributes.emplace_back("count_include_pad", int64_t(isAll && !isNone));
  onImage(call, "AveragePool", isLast, {call.in(0)}, attributes);
}

static constexpr WrittenOp rows[] = {
    {"conv", convRule},
    {"conv_transpose", convTransposeRule},
    {"max_pool", maxPoolRule},
    {"avg_pool", avgPoolRule},
};

std::span<const WrittenOp> writtenImages() { return rows; }

} // namespace sinter::onnx
