/// conv_transpose of every stride, padding and dilation, written out, against
/// its definition.
#include "runtime/graph/Builders.h"
#include "tests/unit/reference/HostRows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <sstream>

using namespace sinter;
using namespace sinter::reference;

namespace {

using Ints = std::vector<int64_t>;

/// Along each axis of space.
struct Case {
  Ints elements, sizes, strides, dilations, low, high;
  int64_t groups = 1, inPer = 2, outPer = 3;
  Layout layout = Layout::channels_first;

  size_t rank() const { return sizes.size(); }
  /// What conv makes so many positions of, and `more` places.
  Ints space = {};
};

std::ostream &operator<<(std::ostream &out, const Case &c) {
  auto list = [&](const char *name, const Ints &values) {
    out << name;
    for (int64_t value : values)
      out << ' ' << value;
  };
  list("elements", c.elements);
  list(", sizes", c.sizes);
  list(", strides", c.strides);
  list(", dilations", c.dilations);
  list(", low", c.low);
  list(", space", c.space);
  return out << ", " << c.groups << " groups, "
             << (c.layout == Layout::channels_first ? "first" : "last");
}

/// Small integers, so that sums are exact in any order.
HostTensor numbers(const Ints &dims, int64_t seed) {
  HostValue value(DType::f64, dims);
  for (int64_t i = 0; i < value.elements(); ++i)
    value.set(i, double((i * 7 + seed) % 11 - 5));
  return encode(value);
}

Ints imageDims(const Case &c, int64_t channels, const Ints &space) {
  Ints dims{2};
  if (c.layout == Layout::channels_first)
    dims.push_back(channels);
  dims.insert(dims.end(), space.begin(), space.end());
  if (c.layout == Layout::channels_last)
    dims.push_back(channels);
  return dims;
}

int64_t product(const Ints &dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t(1),
                         std::multiplies<>());
}

/// Coordinates of element `number` of a dense tensor.
Ints coordinates(int64_t number, const Ints &dims) {
  Ints at(dims.size());
  for (size_t i = dims.size(); i-- > 0; number /= dims[i])
    at[i] = number % dims[i];
  return at;
}

int64_t imageIndex(const Case &c, int64_t image, int64_t channel,
                   int64_t channels, const Ints &at, const Ints &space) {
  int64_t place = 0, places = product(space);
  for (size_t i = 0; i < at.size(); ++i)
    place = place * space[i] + at[i];
  return c.layout == Layout::channels_first
             ? (image * channels + channel) * places + place
             : (image * places + place) * channels + channel;
}

/// Each element times each tap, added where it belongs.
std::vector<double> expected(const Case &c, const HostValue &x,
                             const HostValue &w) {
  int64_t in = c.groups * c.inPer, out = c.groups * c.outPer;
  int64_t taps = product(c.sizes), elements = product(c.elements);
  std::vector<double> result(2 * out * product(c.space));
  for (int64_t image = 0; image < 2; ++image)
    for (int64_t from = 0; from < in; ++from)
      for (int64_t element = 0; element < elements; ++element)
        for (int64_t tap = 0; tap < taps; ++tap) {
          Ints at = coordinates(element, c.elements), place = at;
          Ints k = coordinates(tap, c.sizes);
          bool isInside = true;
          for (size_t i = 0; i < c.rank(); ++i) {
            place[i] = at[i] * c.strides[i] + k[i] * c.dilations[i] - c.low[i];
            isInside &= place[i] >= 0 && place[i] < c.space[i];
          }
          for (int64_t to = 0; isInside && to < c.outPer; ++to) {
            int64_t channel = from / c.inPer * c.outPer + to;
            result[imageIndex(c, image, channel, out, place, c.space)] +=
                x.reals[imageIndex(c, image, from, in, at, c.elements)] *
                w.reals[(from * c.outPer + to) * taps + tap];
          }
        }
  return result;
}

/// The space that conv would make `elements` positions of, with `more` places
/// that no window reaches.
void setSpace(Case &c, int64_t more) {
  c.space.clear();
  for (size_t i = 0; i < c.rank(); ++i)
    c.space.push_back(
        std::max<int64_t>(1, (c.elements[i] - 1) * c.strides[i] +
                                 (c.sizes[i] - 1) * c.dilations[i] + 1 + more -
                                 c.low[i] - c.high[i]));
  for (size_t i = 0; i < c.rank(); ++i)
    c.high[i] =
        std::max<int64_t>(c.high[i], (c.elements[i] - 1) * c.strides[i] +
                                         (c.sizes[i] - 1) * c.dilations[i] + 1 -
                                         c.low[i] - c.space[i]);
}

void check(const Case &c) {
  int64_t in = c.groups * c.inPer;
  Ints weightDims{in, c.outPer};
  weightDims.insert(weightDims.end(), c.sizes.begin(), c.sizes.end());
  HostTensor x = numbers(imageDims(c, in, c.elements), 3);
  HostTensor w = numbers(weightDims, 1);
  std::vector<Dim> space(c.space.begin(), c.space.end());
  HostValue result = apply(
      [&](const graph::NodeRef &x, const graph::NodeRef &w) {
        return graph::conv_transpose(x, w, c.sizes, c.strides, c.low, c.high,
                                     c.dilations, c.groups, space, c.layout);
      },
      x, w);
  EXPECT_EQ(result.dims, imageDims(c, c.groups * c.outPer, c.space)) << c;
  EXPECT_EQ(result.reals, expected(c, decode(x), decode(w))) << c;
}

TEST(ConvTranspose, OfOneAxis) {
  for (int64_t number = 0; number < 5 * 4 * 4 * 4 * 3; ++number) {
    Ints at = coordinates(number, {5, 4, 4, 4, 3});
    Case c{{4}, {1 + at[0]}, {1 + at[1]}, {1 + at[2]}, {at[3]}, {at[3] / 2}};
    setSpace(c, at[4]);
    c.layout = number % 2 ? Layout::channels_last : Layout::channels_first;
    c.groups = number % 3 == 2 ? 2 : 1;
    c.inPer = number % 5 == 4 ? 1 : 2;
    check(c);
  }
}

TEST(ConvTranspose, OfSeveralAxes) {
  std::vector<Case> cases{
      {{4, 4}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 0}},
      {{3, 4}, {4, 4}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
      {{3, 2}, {3, 1}, {2, 3}, {1, 1}, {1, 0}, {0, 0}},
      {{2, 3}, {3, 5}, {1, 3}, {2, 1}, {1, 2}, {1, 2}},
      {{3, 3}, {2, 3}, {4, 2}, {2, 3}, {1, 2}, {0, 0}},
      {{2, 3, 2}, {3, 2, 3}, {2, 1, 2}, {1, 1, 1}, {1, 0, 1}, {1, 0, 1}},
      {{2, 2, 2}, {3, 3, 1}, {2, 3, 4}, {2, 1, 1}, {1, 1, 0}, {0, 1, 0}},
  };
  for (const Case &c : cases)
    for (int64_t more : {0, 1})
      for (int64_t groups : {1, 2})
        for (int64_t inPer : {1, 2})
          for (Layout layout :
               {Layout::channels_first, Layout::channels_last}) {
            Case now = c;
            now.groups = groups;
            now.inPer = inPer;
            now.layout = layout;
            setSpace(now, more);
            check(now);
          }
}

// What has no elements gives zeros.
TEST(ConvTranspose, OfNothing) {
  Case c{{0}, {3}, {2}, {1}, {1}, {1}};
  c.space = {4};
  check(c);
}

} // namespace
