/// Convolutions and pooling.
#include "frontend/export/cpp/Text.h"
#include "frontend/export/cpp/rows/Rows.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sinter::cpp {

namespace {
/// Attributes that all of them begin with, and the options made of them.
class Windowed {
public:
  explicit Windowed(OpCode &op)
      : sizes(op.ints()), strides(op.ints()), low(op.ints()), high(op.ints()),
        dilations(op.ints()) {}

  void setLayout(OpCode &op) {
    enum Layout : uint8_t { first, last };
    isLast = op.attrs().choice<Layout>() == last;
  }
  /// The image, padded by itself where the function cannot.
  std::string image(OpCode &op, const char *value) {
    std::string x = op.in(0).text;
    bool isNegative = std::ranges::any_of(low, [](int64_t p) { return p < 0; });
    if (low == high && !isNegative)
      return x;
    std::string paddings;
    for (size_t i = 0; i < low.size(); ++i)
      if (low[i] != 0 || high[i] != 0)
        paddings +=
            fmt::format("{}{{{}, {}, {}}}", paddings.empty() ? "" : ", ",
                        i + (isLast ? 1 : 2), low[i], high[i]);
    low.assign(low.size(), 0);
    std::vector<std::string> arguments{x, "{" + paddings + "}"};
    if (value) {
      arguments.emplace_back("sn::PadMode::constant");
      arguments.emplace_back(value);
    }
    return callOf("pad", arguments).text;
  }

  void add(const char *name, const std::vector<int64_t> &numbers,
           int64_t otherwise) {
    bool isDefault = std::ranges::all_of(
        numbers, [&](int64_t each) { return each == otherwise; });
    if (!isDefault)
      add(name, list(numbers, true));
  }
  void add(const char *name, const std::string &text) {
    options.push_back(fmt::format(".{} = {}", name, text));
  }
  /// `sn::conv2d(operands, {options})`.
  Code call(const char *function, std::vector<std::string> operands) {
    if (isLast)
      add("layout", "sn::Layout::channels_last");
    if (!options.empty())
      operands.push_back(fmt::format("{{{}}}", fmt::join(options, ", ")));
    return callOf(fmt::format("{}{}d", function, sizes.size()), operands);
  }
  void check(OpCode &op) const {
    if (sizes.empty() || sizes.size() > 3)
      op.unsupported(fmt::format("{} axes", sizes.size()));
  }

  std::vector<int64_t> sizes, strides, low, high, dilations;
  std::vector<std::string> options;
  bool isLast = false;
};
} // namespace

static Code convRule(OpCode &op) {
  Windowed windows(op);
  windows.check(op);
  int64_t groups = op.attrs().integer();
  windows.setLayout(op);
  std::string x = windows.image(op, nullptr);
  windows.add("stride", windows.strides, 1);
  windows.add("padding", windows.low, 0);
  windows.add("dilation", windows.dilations, 1);
  windows.add("groups", {groups}, 1);
  return windows.call("conv", {x, op.in(1).text});
}

static Code convTransposeRule(OpCode &op) {
  Windowed windows(op);
  windows.check(op);
  int64_t groups = op.attrs().integer();
  std::vector<uint32_t> space = op.dims();
  windows.setLayout(op);
  if (windows.low != windows.high)
    op.unsupported("padding that differs at both ends");
  std::vector<int64_t> more;
  for (size_t i = 0; i < space.size(); ++i) {
    uint32_t own = op.operand(0).dims[i + (windows.isLast ? 1 : 2)];
    bool areKnown = op.sizeOf(own) && op.sizeOf(space[i]);
    int64_t stride = windows.strides[i], dilation = windows.dilations[i];
    int64_t smallest = (op.exampleOf(own) - 1) * stride +
                       (windows.sizes[i] - 1) * dilation + 1 -
                       2 * windows.low[i];
    more.push_back(op.exampleOf(space[i]) - smallest);
    if (!areKnown && more.back() != 0 && stride != 1)
      op.unsupported("output padding along a dynamic axis");
    if (more.back() < 0 ||
        (more.back() >= stride && more.back() >= dilation && more.back() != 0))
      op.unsupported("a result of another size than its windows reach");
  }
  windows.add("stride", windows.strides, 1);
  windows.add("padding", windows.low, 0);
  windows.add("output_padding", more, 0);
  windows.add("dilation", windows.dilations, 1);
  windows.add("groups", {groups}, 1);
  return windows.call("conv_transpose", {op.in(0).text, op.in(1).text});
}

static Code maxPoolRule(OpCode &op) {
  Windowed windows(op);
  windows.check(op);
  windows.setLayout(op);
  std::string x = windows.image(op, "-std::numeric_limits<double>::infinity()");
  if (windows.strides != windows.sizes)
    windows.add("stride", list(windows.strides, true));
  windows.add("padding", windows.low, 0);
  windows.add("dilation", windows.dilations, 1);
  return windows.call("max_pool", {x, list(windows.sizes, true)});
}

static Code avgPoolRule(OpCode &op) {
  Windowed windows(op);
  windows.check(op);
  std::vector<int64_t> low = op.ints(), high = op.ints();
  double divisor = op.attrs().real();
  windows.setLayout(op);
  auto isZero = [](int64_t pad) { return pad == 0; };
  bool isNone =
      std::ranges::all_of(low, isZero) && std::ranges::all_of(high, isZero);
  bool isAll = low == windows.low && high == windows.high;
  bool isDilated =
      std::ranges::any_of(windows.dilations, [](int64_t d) { return d != 1; });
  if (isDilated || (divisor == 0 && !isNone && !isAll))
    op.unsupported("dilations, or padding that is counted in part");
  if (windows.low != windows.high && divisor == 0 && !isAll)
    op.unsupported("padding that differs at both ends and is not counted");
  std::string x = windows.image(op, nullptr);
  if (windows.strides != windows.sizes)
    windows.add("stride", list(windows.strides, true));
  windows.add("padding", windows.low, 0);
  if (divisor != 0)
    windows.add("divisor", real(divisor));
  else if (!isAll)
    windows.add("count_include_pad", "false");
  return windows.call("avg_pool", {x, list(windows.sizes, true)});
}

static constexpr CodeRow rows[] = {
    {"conv", convRule},
    {"conv_transpose", convTransposeRule},
    {"max_pool", maxPoolRule},
    {"avg_pool", avgPoolRule},
};

std::span<const CodeRow> imageRows() { return rows; }

} // namespace sinter::cpp
