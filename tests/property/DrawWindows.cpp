/// Random windows: whatever fits the operands.
#include "tests/property/DrawWindows.h"

#include "runtime/graph/AttrWords.h"
#include "runtime/graph/Builders.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace sinter::property {

using Shape = std::vector<int64_t>;

bool isWindowRule(std::string_view rule) {
  static constexpr std::array<std::string_view, 7> rules = {
      "window",     "unwindow", "conv",   "convTranspose",
      "convWeight", "pool",     "avgPool"};
  return std::ranges::count(rules, rule) > 0;
}

namespace {

/// Draws the attributes of one call.
class WindowDrawer {
public:
  WindowDrawer(const std::vector<Shape> &operands, std::mt19937_64 &random)
      : operands(operands), random(random) {}

  std::optional<std::vector<uint64_t>> draw(std::string_view rule);

private:
  int64_t between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  bool window();
  bool unwindow();
  bool conv(std::string_view rule);
  bool pool(bool averages);
  void drawSteps(size_t count);
  /// The padding with which axis i, of `extent`, holds `reach`.
  void drawPadding(int64_t extent, int64_t reach);
  size_t space(Layout layout) const {
    return layout == Layout::channels_first ? 2 : 1;
  }
  size_t channels(Layout layout) const {
    return layout == Layout::channels_first ? 1 : operands[0].size() - 1;
  }
  bool drawGroups(std::string_view rule, Layout layout);
  void writeWindows() {
    for (const Shape *list : {&sizes, &strides, &low, &high, &dilations})
      writer.ints(*list);
  }

  const std::vector<Shape> &operands;
  std::mt19937_64 &random;
  Shape sizes, strides, low, high, dilations;
  int64_t groups = 1;
  graph::AttrWriter writer;
};

} // namespace

void WindowDrawer::drawSteps(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    strides.push_back(between(1, 3));
    dilations.push_back(between(1, 2));
  }
}

bool WindowDrawer::window() {
  Shape axes;
  for (size_t i = 0; i < operands[0].size() && axes.size() < 2; ++i) {
    int64_t extent = operands[0][i];
    if (extent == 0 || between(0, 1))
      continue;
    axes.push_back(int64_t(i));
    sizes.push_back(between(1, std::min<int64_t>(extent, 3)));
    strides.push_back(between(1, 3));
    bool fits = (sizes.back() - 1) * 2 + 1 <= extent;
    dilations.push_back(fits ? between(1, 2) : 1);
  }
  for (const Shape *list : {&axes, &sizes, &strides, &dilations})
    writer.ints(*list);
  return !axes.empty();
}

bool WindowDrawer::unwindow() {
  const Shape &x = operands[0];
  size_t count = x.size() / 2;
  if (count == 0 || std::ranges::count(x, 0) > 0)
    return false;
  count = size_t(between(1, std::min<int64_t>(int64_t(count), 2)));
  drawSteps(count);
  Shape axes;
  std::vector<Dim> shape(x.begin(), x.end() - int64_t(count));
  for (size_t j = 0; j < count; ++j) {
    axes.push_back(int64_t(j));
    sizes.push_back(x[shape.size() + j]);
    shape[j] = (x[j] - 1) * strides[j] + (sizes[j] - 1) * dilations[j] + 1 +
               between(0, strides[j] - 1);
  }
  writer.dims(shape);
  for (const Shape *list : {&axes, &sizes, &strides, &dilations})
    writer.ints(*list);
  return true;
}

void WindowDrawer::drawPadding(int64_t extent, int64_t reach) {
  low.push_back(between(0, 2));
  high.push_back(between(0, 2));
  high.back() +=
      std::max<int64_t>(0, reach - extent - low.back() - high.back());
}

bool WindowDrawer::drawGroups(std::string_view rule, Layout layout) {
  const Shape &x = operands[0], &other = operands[1];
  int64_t in = x[channels(layout)];
  if (rule == "conv") {
    groups = other[1] > 0 ? in / other[1] : 0;
    return groups > 0 && in == groups * other[1] && other[0] % groups == 0;
  }
  int64_t shared = in;
  if (rule == "convTranspose" && in != other[0])
    return false;
  if (rule == "convWeight")
    shared = std::gcd(in, other[channels(layout)]);
  for (int64_t divisor : {1, 2, 3})
    if (divisor <= shared && shared % divisor == 0 && between(0, 1))
      groups = divisor;
  return true;
}

bool WindowDrawer::conv(std::string_view rule) {
  const Shape &x = operands[0], &other = operands[1];
  Layout layout = Layout(between(0, 1));
  if (!drawGroups(rule, layout))
    return false;
  size_t rank = x.size() - 2;
  drawSteps(rank);
  std::vector<Dim> result;
  for (size_t i = 0; i < rank; ++i) {
    bool isWeight = rule != "convWeight";
    sizes.push_back(isWeight ? other[2 + i] : between(1, 3));
    if (sizes.back() < 1)
      return false;
    int64_t reach = (sizes[i] - 1) * dilations[i] + 1;
    int64_t extent = x[space(layout) + i];
    int64_t positions = isWeight ? extent : other[space(layout) + i];
    int64_t spread = (positions - 1) * strides[i] + reach;
    if (rule == "convTranspose") {
      low.push_back(between(0, 2));
      high.push_back(between(0, 2));
      result.push_back(std::max<int64_t>(1, spread - low[i] - high[i]) +
                       between(0, 2));
    } else {
      drawPadding(extent, isWeight ? reach : std::max(reach, spread));
    }
  }
  writeWindows();
  writer.integer(groups);
  if (rule == "convTranspose")
    writer.dims(result);
  writer.choice(layout);
  return true;
}

bool WindowDrawer::pool(bool averages) {
  const Shape &x = operands[0];
  if (x.size() < 3)
    return false;
  Layout layout = Layout(between(0, 1));
  drawSteps(x.size() - 2);
  for (size_t i = 0; i < x.size() - 2; ++i) {
    sizes.push_back(between(1, 3));
    dilations[i] = averages ? 1 : dilations[i];
    drawPadding(x[space(layout) + i], (sizes[i] - 1) * dilations[i] + 1);
    // Each window holds an element of the image, where there is one.
    int64_t reach = (sizes[i] - 1) * dilations[i] + 1;
    int64_t most = dilations[i] == 1 ? sizes[i] - 1 : 0;
    low[i] = std::min(low[i], most);
    high[i] = std::max(std::min(high[i], most),
                       reach - x[space(layout) + i] - low[i]);
  }
  writeWindows();
  if (averages) {
    bool all = between(0, 1);
    Shape none(x.size() - 2, 0);
    writer.ints(all ? low : none);
    writer.ints(all ? high : none);
    writer.real(double(between(0, 3)));
  }
  writer.choice(layout);
  return !averages || std::ranges::count(x, 0) == 0;
}

std::optional<std::vector<uint64_t>> WindowDrawer::draw(std::string_view rule) {
  bool drawn = rule == "window"     ? window()
               : rule == "unwindow" ? unwindow()
               : rule == "pool"     ? pool(false)
               : rule == "avgPool"  ? pool(true)
                                    : conv(rule);
  if (!drawn)
    return std::nullopt;
  std::span<const uint64_t> words = writer.view();
  return std::vector<uint64_t>(words.begin(), words.end());
}

std::optional<std::vector<uint64_t>>
drawWindowAttrs(std::string_view rule,
                const std::vector<std::vector<int64_t>> &operands,
                std::mt19937_64 &random) {
  return WindowDrawer(operands, random).draw(rule);
}

std::vector<Shape> windowShapes(std::string_view rule, Shape image,
                                std::mt19937_64 &random) {
  auto between = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int64_t &extent : image)
    extent = std::min<int64_t>(extent, 7);
  if (rule == "window" || rule == "unwindow" || rule == "pool" ||
      rule == "avgPool")
    return {image};
  // Channels stand at both ends, so that either layout fits.
  int64_t groups = between(1, 3), in = between(1, 2), out = between(1, 3);
  image[1] = image.back() = groups * in;
  Shape other = image;
  if (rule == "convWeight") {
    for (int64_t &extent : other)
      extent = between(1, 3);
    other[0] = image[0];
    other[1] = other.back() = groups * out;
    return {image, other};
  }
  other[0] = rule == "conv" ? groups * out : groups * in;
  other[1] = rule == "conv" ? in : out;
  for (size_t i = 2; i < other.size(); ++i)
    other[i] = between(1, 3);
  return {image, other};
}

} // namespace sinter::property
