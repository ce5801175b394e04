/// Depthwise convolutions and the gradients of their weights over images with
/// many places, with sizes around the borders of what is taken in at once. All
/// numbers are small integers, so that sums are exact in any order.
#include "runtime/graph/Builders.h"
#include "runtime/graph/Slice.h"
#include "sinter/generated/builders/View.h"
#include "sinter/generated/builders/Windows.h"
#include "tests/property/Compiled.h"
#include "tests/unit/reference/HostRows.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace sinter;
using graph::NodeRef;
using reference::HostTensor;
using reference::HostValue;

using Ints = std::vector<int64_t>;

namespace {

/// As compiler::NumericsMode has them.
constexpr uint8_t exact = 0, standard = 1;

/// A convolution of images [batch, rows, columns, channels] (or channels
/// first), `per` results for each channel.
struct Depthwise {
  int64_t batch, rows, columns, channels, per;
  Ints sizes, strides, low, high, dilations;
  Layout layout = Layout::channels_last;
  DType dtype = DType::f32;

  int64_t positions(size_t axis) const {
    int64_t space = axis == 0 ? rows : columns;
    int64_t reach = (sizes[axis] - 1) * dilations[axis] + 1;
    return (space + low[axis] + high[axis] - reach) / strides[axis] + 1;
  }
  Ints imageDims() const { return dimsOf(rows, columns, channels); }
  Ints resultDims() const {
    return dimsOf(positions(0), positions(1), channels * per);
  }
  Ints weightDims() const { return {channels * per, 1, sizes[0], sizes[1]}; }
  /// The number of an element of images of these dims.
  int64_t at(const Ints &dims, int64_t n, int64_t p, int64_t q,
             int64_t c) const {
    if (layout == Layout::channels_last)
      return ((n * dims[1] + p) * dims[2] + q) * dims[3] + c;
    return ((n * dims[1] + c) * dims[2] + p) * dims[3] + q;
  }
  /// Runs `body(result, weight, image)` with the numbers of elements that meet.
  template <typename Body> void each(Body body) const;

private:
  Ints dimsOf(int64_t p, int64_t q, int64_t c) const {
    return layout == Layout::channels_last ? Ints{batch, p, q, c}
                                           : Ints{batch, c, p, q};
  }
};

template <typename Body> void Depthwise::each(Body body) const {
  Ints image = imageDims(), result = resultDims();
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t p = 0; p < positions(0); ++p)
      for (int64_t q = 0; q < positions(1); ++q)
        for (int64_t i = 0; i < sizes[0]; ++i)
          for (int64_t j = 0; j < sizes[1]; ++j) {
            int64_t row = p * strides[0] + i * dilations[0] - low[0];
            int64_t column = q * strides[1] + j * dilations[1] - low[1];
            if (row < 0 || row >= rows || column < 0 || column >= columns)
              continue;
            for (int64_t o = 0; o < channels * per; ++o)
              body(at(result, n, p, q, o), (o * sizes[0] + i) * sizes[1] + j,
                   at(image, n, row, column, o / per));
          }
}

HostTensor smallIntegers(DType dtype, const Ints &dims, uint32_t seed) {
  HostValue value(dtype, dims);
  for (size_t i = 0; i < value.reals.size(); ++i) {
    seed = seed * 1664525 + 1013904223;
    value.set(int64_t(i), double(int64_t(seed >> 28) % 5 - 2));
  }
  return reference::encode(value);
}

/// What `node` gives, compiled with this numerics mode; a batch that varies has
/// a symbol.
std::vector<double> compiled(const Depthwise &work, bool isWeight,
                             const std::vector<HostTensor> &inputs,
                             uint8_t numerics, bool isSymbolic) {
  std::vector<NodeRef> leaves;
  for (const HostTensor &input : inputs) {
    std::vector<Dim> dims(input.dims.begin(), input.dims.end());
    if (isSymbolic && (isWeight || leaves.empty()))
      dims[0] = Dim(work.batch, dim_exprs::symbol(96, 0, work.batch));
    leaves.push_back(
        graph::NodeFactory::lazyLeaf(input.dtype, dims, DeviceId(), false));
  }
  NodeRef node =
      isWeight
          ? graph::ok(graph::conv_weight_grad(
                leaves[0], leaves[1], work.sizes, work.strides, work.low,
                work.high, work.dilations, work.channels, work.layout))
          : graph::ok(graph::conv(leaves[0], leaves[1], work.sizes,
                                  work.strides, work.low, work.high,
                                  work.dilations, work.channels, work.layout));
  graph::Slice slice = *graph::slice({&node, 1});
  runtime::CompileRequest request;
  request.numerics = numerics;
  auto program = property::compileGraph(slice.graph, request);
  EXPECT_TRUE(program) << program.error().message;
  auto found = property::runProgram(**program,
                                    reference::inputsOf(slice, leaves, inputs));
  EXPECT_TRUE(found) << found.error().message;
  return found ? reference::decode((*found)[0]).reals : std::vector<double>();
}

void check(const Depthwise &work) {
  SCOPED_TRACE("image " + std::to_string(work.rows) + " x " +
               std::to_string(work.columns) + " x " +
               std::to_string(work.channels));
  HostTensor image = smallIntegers(work.dtype, work.imageDims(), 1),
             weight = smallIntegers(work.dtype, work.weightDims(), 2),
             grad = smallIntegers(work.dtype, work.resultDims(), 3);
  HostValue x = reference::decode(image), w = reference::decode(weight),
            g = reference::decode(grad);
  std::vector<double> results(g.reals.size()), gradients(w.reals.size());
  work.each([&](int64_t result, int64_t of, int64_t from) {
    results[result] += x.reals[from] * w.reals[of];
    gradients[of] += x.reals[from] * g.reals[result];
  });
  for (bool isSymbolic : {false, true}) {
    uint8_t numerics = isSymbolic ? exact : standard;
    EXPECT_EQ(compiled(work, false, {image, weight}, numerics, isSymbolic),
              results);
    EXPECT_EQ(compiled(work, true, {image, grad}, numerics, isSymbolic),
              gradients);
  }
}

} // namespace

TEST(Depthwise, LinesThatBlocksOfRowsEndIn) {
  check({2, 13, 23, 24, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}});
  check({3, 17, 64, 32, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}});
}

TEST(Depthwise, SeveralChunksOfRows) {
  check({2, 67, 65, 8, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}});
}

TEST(Depthwise, ChannelsThatFillNoVector) {
  check({2, 14, 14, 72, 1, {5, 5}, {1, 1}, {2, 2}, {2, 2}, {1, 1}});
  check({1, 40, 15, 10, 1, {3, 5}, {2, 1}, {1, 2}, {1, 2}, {1, 1}});
}

TEST(Depthwise, WindowsThatStepAndReach) {
  check({2, 31, 29, 40, 1, {5, 5}, {2, 2}, {2, 2}, {2, 2}, {1, 1}});
  check({3, 9, 70, 16, 1, {1, 7}, {1, 1}, {0, 6}, {0, 6}, {1, 2}});
  check({2, 20, 19, 16, 1, {3, 3}, {3, 2}, {0, 0}, {0, 0}, {2, 1}});
}

TEST(Depthwise, SeveralResultsOfAChannel) {
  check({2, 12, 18, 9, 2, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}});
}

TEST(Depthwise, ImagesThatAreSmallerThanWindows) {
  check({40, 3, 4, 16, 1, {5, 5}, {1, 1}, {2, 2}, {2, 2}, {1, 1}});
}

TEST(Depthwise, ChannelsFirst) {
  check({2,
         13,
         23,
         12,
         1,
         {3, 3},
         {1, 1},
         {1, 1},
         {1, 1},
         {1, 1},
         Layout::channels_first});
  check({1,
         33,
         70,
         4,
         2,
         {3, 3},
         {2, 2},
         {1, 1},
         {1, 1},
         {1, 1},
         Layout::channels_first});
}
