/// Random nets over images, whose tensors the compiler stores as it likes.
#include "runtime/autodiff/Reverse.h"
#include "runtime/graph/Builders.h"
#include "runtime/graph/Slice.h"
#include "tests/property/Cases.h"
#include "tests/property/Compiled.h"
#include "tests/property/Problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

using namespace sinter;
using namespace sinter::property;
using graph::NodeRef;
using reference::HostTensor;
using reference::HostValue;

using Ints = std::vector<int64_t>;

namespace {

/// A net of the same seed for every batch.
class Net {
public:
  Net(uint64_t seed, Dim batch) : rng(seed), batch(batch) {}

  /// What the net gives, and gradients of all that it is made of.
  std::vector<NodeRef> build();

  std::vector<NodeRef> leaves;

private:
  int64_t pick(int64_t low, int64_t high) { return drawInt(rng, low, high); }
  NodeRef leaf(std::vector<Dim> dims) {
    leaves.push_back(graph::NodeFactory::lazyLeaf(DType::f32, dims, DeviceId(),
                                                  /*requiresGrad=*/true));
    return leaves.back();
  }
  int64_t channels(const NodeRef &x) const { return x->dims()[1].value; }
  NodeRef column(const NodeRef &like);

  NodeRef step(const NodeRef &x);
  NodeRef convolution(const NodeRef &x);
  NodeRef transposedConvolution(const NodeRef &x);
  NodeRef pooling(const NodeRef &x);
  NodeRef normalization(const NodeRef &x);
  NodeRef groupNormalization(const NodeRef &x);
  NodeRef lastInBetween(const NodeRef &x);
  NodeRef padding(const NodeRef &x);

  Rng rng;
  Dim batch;
};

} // namespace

/// A number for each channel, as wide as an image.
NodeRef Net::column(const NodeRef &like) {
  Dim count(channels(like));
  NodeRef x = *graph::reshape(leaf({count}), std::vector<Dim>{count, 1, 1});
  return *graph::broadcast(x, like->dims());
}

NodeRef Net::convolution(const NodeRef &x) {
  int64_t kernel = pick(0, 3) == 0 ? 1 : 3, in = channels(x);
  int64_t groups = pick(0, 4) == 0 ? (pick(0, 1) ? in : 2) : 1;
  groups = in % groups == 0 ? groups : 1;
  int64_t out = groups * pick(1, groups > 2 ? 2 : 12);
  int64_t pad = kernel / 2, stride = pick(1, 2);
  NodeRef weight = leaf({out, in / groups, kernel, kernel});
  return *graph::conv(x, weight, Ints{kernel, kernel}, Ints{stride, stride},
                      Ints{pad, pad}, Ints{pad, pad}, Ints{1, 1}, groups,
                      Layout::channels_first);
}

NodeRef Net::transposedConvolution(const NodeRef &x) {
  NodeRef weight = leaf({channels(x), pick(1, 9), 3, 2});
  std::vector<Dim> space{x->dims()[2] * Dim(2) + Dim(1), x->dims()[3] + Dim(1)};
  return *graph::conv_transpose(x, weight, Ints{3, 2}, Ints{2, 1}, Ints{0, 0},
                                Ints{0, 0}, Ints{1, 1}, 1, space,
                                Layout::channels_first);
}

NodeRef Net::pooling(const NodeRef &x) {
  Ints sizes{2, 3}, strides{pick(1, 2), 1}, low{1, 1}, none{0, 0}, ones{1, 1};
  if (pick(0, 1))
    return *graph::max_pool(x, sizes, strides, low, low, ones,
                            Layout::channels_first);
  return *graph::avg_pool(x, sizes, strides, low, low, ones, none, none, 0,
                          Layout::channels_first);
}

NodeRef Net::normalization(const NodeRef &x) {
  auto wide = [&](const NodeRef &y) { return *graph::broadcast(y, x->dims()); };
  NodeRef mean = wide(*graph::mean(x, Ints{0, 2, 3}, /*keepdims=*/true));
  return *graph::add(*graph::mul(*graph::sub(x, mean), column(x)), column(x));
}

/// By groups of channels, whose axis is joined with those of space; or by
/// channels, or whole images.
NodeRef Net::groupNormalization(const NodeRef &x) {
  int64_t count = channels(x), groups = pick(1, count);
  while (count % groups != 0)
    --groups;
  Dim space = x->dims()[2] * x->dims()[3];
  std::vector<Dim> dims{x->dims()[0], groups, Dim(count / groups) * space};
  NodeRef y = *graph::reshape(x, dims);
  bool keeps = pick(0, 1);
  auto wide = [&](NodeRef number) {
    if (!keeps)
      number = *graph::reshape(number, std::vector<Dim>{dims[0], groups, 1});
    return *graph::broadcast(number, dims);
  };
  y = *graph::sub(y, wide(*graph::mean(y, Ints{2}, keeps)));
  NodeRef one = *graph::full(dims, Number(1), DType::f32, DeviceId());
  NodeRef spread = *graph::mean(*graph::mul(y, y), Ints{2}, keeps);
  y = *graph::div(y, *graph::add(one, wide(*graph::sqrt(spread))));
  y = *graph::add(y, wide(*graph::amax(y, Ints{2}, keeps)));
  return *graph::mul(*graph::reshape(y, x->dims()), column(x));
}

/// As a user writes it who has channels last there.
NodeRef Net::lastInBetween(const NodeRef &x) {
  NodeRef y = *graph::tanh(*graph::transpose(x, Ints{0, 2, 3, 1}));
  if (pick(0, 1)) {
    int64_t out = pick(1, 9);
    y = *graph::conv(y, leaf({out, channels(x), 3, 3}), Ints{3, 3}, Ints{1, 1},
                     Ints{1, 1}, Ints{1, 1}, Ints{1, 1}, 1,
                     Layout::channels_last);
  }
  return *graph::transpose(y, Ints{0, 3, 1, 2});
}

NodeRef Net::padding(const NodeRef &x) {
  std::vector<Dim> shape(x->dims().begin(), x->dims().end());
  shape[1] = shape[1] + Dim(1);
  shape[3] = shape[3] + Dim(3);
  NodeRef padded =
      *graph::pad(x, Ints{0, 0, 0, 2}, shape, Ints{0, 0, 0, 0}, Number(0.5));
  shape[2] = Dim(std::max<int64_t>(2, shape[2].value - 1));
  return *graph::flip(
      *graph::slice(padded, Ints{0, 1, 0, 1}, shape, Ints{1, 1, 1, 1}),
      Ints{pick(1, 3)});
}

NodeRef Net::step(const NodeRef &x) {
  switch (pick(0, 10)) {
  case 0:
    return transposedConvolution(x);
  case 1:
    return pooling(x);
  case 2:
    return normalization(x);
  case 3:
    return lastInBetween(x);
  case 4:
    return padding(x);
  case 5:
    return *graph::tanh(*graph::add(x, column(x)));
  case 6:
    return *graph::concat(std::vector<NodeRef>{x, *graph::sigmoid(x)}, 1);
  case 7:
  case 8:
    return groupNormalization(x);
  default:
    return convolution(x);
  }
}

std::vector<NodeRef> Net::build() {
  NodeRef x = leaf({batch, pick(1, 40), pick(5, 8), pick(5, 8)});
  x = convolution(x);
  for (int64_t count = pick(1, 5); count > 0; --count)
    if (channels(x) <= 32 && x->dims()[2].value >= 3 && x->dims()[3].value >= 3)
      x = step(x);
  NodeRef total =
      *graph::sum(*graph::mul(x, *graph::tanh(x)), Ints{0, 1, 2, 3}, false);
  NodeRef one = *graph::full({}, Number(1), DType::f32, DeviceId());
  std::vector<NodeRef> results = *autodiff::gradients(total, one, leaves);
  results.push_back(x);
  return results;
}

//===- The properties -----------------------------------------------------===//

namespace {
struct Compiled {
  std::vector<NodeRef> leaves;
  graph::Slice slice;
  std::shared_ptr<const runtime::Program> program;
};
} // namespace

static Result<Compiled> compileNet(uint64_t seed, Dim batch,
                                   const runtime::CompileRequest &request) {
  Net net(seed, batch);
  Compiled result;
  SINTER_TRY_ASSIGN(result.slice, graph::slice(net.build()));
  result.leaves = net.leaves;
  SINTER_TRY_ASSIGN(result.program, compileGraph(result.slice.graph, request));
  return result;
}

/// Tensors for the inputs of a program with that many images.
static std::vector<HostTensor> inputsOf(const Compiled &net, uint64_t seed,
                                        int64_t batch) {
  std::vector<HostTensor> tensors;
  for (const NodeRef &input : net.slice.inputs) {
    Rng rng(seed + uint64_t(std::ranges::find(net.leaves, input) -
                            net.leaves.begin()));
    Ints dims;
    for (Dim dim : input->dims())
      dims.push_back(dim.isConstant() ? dim.value : batch);
    HostValue value(DType::f32, dims);
    for (int64_t i = 0; i < value.elements(); ++i)
      value.set(i, drawReal(rng, -0.5, 0.5));
    tensors.push_back(reference::encode(value));
  }
  return tensors;
}

static const runtime::CompileRequest fused{"cpu", 1, 0, false};
static const runtime::CompileRequest unfused{"cpu", 1, 1, false};

static void checkNet(uint64_t seed, bool &hasChosen) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  constexpr int64_t batch = 3;
  auto fixed = compileNet(seed, Dim(batch), fused);
  ASSERT_TRUE(fixed) << fixed.error().message;
  auto inputs = inputsOf(*fixed, seed, batch);
  auto expected = expectationOf(fixed->slice.graph, inputs);
  ASSERT_TRUE(expected) << expected.error().message;
  // Tolerances count one rounding for an op; these sums have hundreds.
  for (std::vector<double> &tolerances : expected->tolerances)
    for (double &tolerance : tolerances)
      tolerance *= 4;
  auto found = runProgram(*fixed->program, inputs);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(mismatchOf(*found, *expected), "");
  for (const runtime::Decision &decision : fixed->program->decisions())
    hasChosen |= decision.rule == "layout" && decision.accepted;

  auto apart = compileNet(seed, Dim(batch), unfused);
  ASSERT_TRUE(apart) << apart.error().message;
  auto foundApart = runProgram(*apart->program, inputs);
  ASSERT_TRUE(foundApart) << foundApart.error().message;
  EXPECT_EQ(mismatchOf(*foundApart, *expected), "");

  Dim symbol(16, dim_exprs::symbol(98, 0, 16));
  auto symbolic = compileNet(seed, symbol, fused);
  ASSERT_TRUE(symbolic) << symbolic.error().message;
  auto foundSymbolic =
      runProgram(*symbolic->program, inputsOf(*symbolic, seed, batch));
  ASSERT_TRUE(foundSymbolic) << foundSymbolic.error().message;
  EXPECT_TRUE(sameBytes(*found, *foundSymbolic));
}

TEST(Layouts, NetsAreTheReferenceHoweverStored) {
  std::vector<uint64_t> numbers = graphNumbers(5);
  size_t chosen = 0;
  for (uint64_t i : numbers) {
    bool hasChosen = false;
    checkNet(graphSeed(i), hasChosen);
    chosen += hasChosen;
  }
  EXPECT_GT(chosen, numbers.size() / 4);
}
