/// One symbolic program serves every size, with the bits of a static one.
#include "runtime/autodiff/Reverse.h"
#include "runtime/graph/Builders.h"
#include "tests/property/Cases.h"
#include "tests/property/Compiled.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::property;
using graph::NodeRef;
using reference::HostTensor;
using reference::HostValue;

using Axes = std::vector<int64_t>;

namespace {
/// A model over leaves that it makes; `rows` is a number or a symbol.
struct Model {
  std::vector<NodeRef> leaves;

  NodeRef leaf(std::vector<Dim> dims, DType dtype = DType::f32) {
    leaves.push_back(
        graph::NodeFactory::lazyLeaf(dtype, dims, DeviceId(), isFloat(dtype)));
    return leaves.back();
  }
};
using Build = std::vector<NodeRef> (*)(Model &model, Dim rows);
} // namespace

static NodeRef widen(const NodeRef &x, const NodeRef &like) {
  return *graph::broadcast(x, like->dims());
}

static std::vector<NodeRef> perceptron(Model &model, Dim rows) {
  NodeRef x = model.leaf({rows, 24}), w = model.leaf({24, 10});
  NodeRef b = model.leaf({10});
  NodeRef y = *graph::matmul(x, w);
  return {*graph::relu(*graph::add(y, widen(b, y)))};
}

static std::vector<NodeRef> softmaxByHand(Model &model, Dim rows) {
  NodeRef x = model.leaf({rows, 40});
  NodeRef top = *graph::amax(x, Axes{1}, true);
  NodeRef e = *graph::exp(*graph::sub(x, widen(top, x)));
  NodeRef total = *graph::sum(e, Axes{1}, true);
  return {*graph::div(e, widen(total, e)), *graph::softmax(x, 1)};
}

static std::vector<NodeRef> normalized(Model &model, Dim rows) {
  NodeRef x = model.leaf({rows, 33});
  NodeRef w = model.leaf({33}), b = model.leaf({33});
  return {*graph::layer_norm(x, w, b, 1e-5)};
}

static std::vector<NodeRef> columnStatistics(Model &model, Dim rows) {
  NodeRef x = model.leaf({rows, 17});
  NodeRef mean = *graph::mean(x, Axes{0}, false);
  NodeRef difference = *graph::sub(x, widen(mean, x));
  NodeRef squares = *graph::mul(difference, difference);
  return {mean, *graph::sum(squares, Axes{0, 1}, false),
          *graph::cumsum(x, 1, false)};
}

/// Rows of a fixed length, and columns as long as there are rows.
static std::vector<NodeRef> sorts(Model &model, Dim rows) {
  NodeRef x = model.leaf({rows, 19});
  return {*graph::sort(x, 1, true, Dim(19)),
          *graph::argsort(x, 1, true, Dim(4)), *graph::sort(x, 0, false, rows),
          *graph::argsort(x, 0, false, rows)};
}

static std::vector<NodeRef> trainingStep(Model &model, Dim rows) {
  NodeRef x = model.leaf({rows, 24}), w = model.leaf({24, 10});
  NodeRef labels = model.leaf({rows}, DType::i64);
  NodeRef loss = *graph::cross_entropy(*graph::matmul(x, w), labels);
  NodeRef one = *graph::full({}, 1.0, DType::f32, DeviceId());
  return {loss, (*autodiff::gradients(loss, one, {&w, 1}))[0]};
}

/// Products that blocks of a GPU's threads share: what they share of k is the
/// same for few rows and for many.
static std::vector<NodeRef> layers(Model &model, Dim rows) {
  NodeRef x = model.leaf({rows, 200}), w = model.leaf({200, 96});
  NodeRef v = model.leaf({96, 10});
  NodeRef labels = model.leaf({rows}, DType::i64);
  NodeRef y = *graph::relu(*graph::matmul(x, w));
  NodeRef loss = *graph::cross_entropy(*graph::matmul(y, v), labels);
  NodeRef one = *graph::full({}, 1.0, DType::f32, DeviceId());
  NodeRef weights[] = {w, v};
  auto gradients = *autodiff::gradients(loss, one, weights);
  return {y, loss, gradients[0], gradients[1]};
}

static std::vector<NodeRef> wideProduct(Model &model, Dim rows) {
  return {*graph::matmul(model.leaf({rows, 96}), model.leaf({96, 2048}))};
}

/// Few rows have k in more slices than many.
static std::vector<NodeRef> slicedProduct(Model &model, Dim rows) {
  return {*graph::matmul(model.leaf({rows, 64}), model.leaf({64, 1024}))};
}

/// A k that counts rows is in slices, too, and in parts.
static std::vector<NodeRef> slicedGradient(Model &model, Dim rows) {
  NodeRef x = model.leaf({rows, 64}), g = model.leaf({rows, 48});
  return {*graph::matmul(*graph::transpose(x, Axes{1, 0}), g)};
}

/// Columns, and a k that counts no rows, are as many as rows.
static std::vector<NodeRef> similarities(Model &model, Dim rows) {
  NodeRef x = model.leaf({rows, 40});
  NodeRef y = *graph::matmul(x, *graph::transpose(x, Axes{1, 0}));
  return {y, *graph::matmul(y, x)};
}

static std::vector<NodeRef> shortProducts(Model &model, Dim rows) {
  return {*graph::matmul(model.leaf({rows, 9}), model.leaf({9, 8})),
          *graph::matmul(model.leaf({rows, 48}), model.leaf({48, 40}))};
}

static std::vector<NodeRef> batchedProducts(Model &model, Dim rows) {
  NodeRef x = model.leaf({rows, 20, 80}), y = model.leaf({rows, 80, 24});
  NodeRef places = model.leaf({3, rows, 16}),
          others = model.leaf({3, 16, rows});
  NodeRef scores = *graph::matmul(places, others);
  return {*graph::matmul(x, y), scores, *graph::matmul(scores, places)};
}

/// The gradient of a small weight: its parts are many.
static std::vector<NodeRef> sumOverRows(Model &model, Dim rows) {
  NodeRef x = model.leaf({rows, 9}), g = model.leaf({rows, 8});
  return {*graph::matmul(*graph::transpose(x, Axes{1, 0}), g)};
}

/// A number as divisor that a symbolic program does not know.
static std::vector<NodeRef> variance(Model &model, Dim rows) {
  NodeRef x = model.leaf({rows, 15});
  return {*graph::var(x, Axes{0, 1}, 1, false),
          *graph::mean(x, Axes{0}, false)};
}

/// A sub-batch glued to itself: dims that are expressions.
static std::vector<NodeRef> doubled(Model &model, Dim rows) {
  NodeRef x = model.leaf({rows, 6});
  NodeRef both = *graph::concat(std::vector<NodeRef>{x, *graph::tanh(x)}, 0);
  return {*graph::reshape(both, Dims{-1, 3})};
}

static std::vector<HostTensor> drawInputs(const Model &model, int64_t rows) {
  Rng rng(runSeed() + static_cast<uint64_t>(rows));
  std::vector<HostTensor> tensors;
  for (const NodeRef &leaf : model.leaves) {
    std::vector<int64_t> dims;
    for (Dim dim : leaf->dims())
      dims.push_back(dim.value);
    HostValue value(leaf->dtype(), dims);
    for (int64_t i = 0, count = value.elements(); i < count; ++i) {
      if (value.isReal())
        value.set(i, drawReal(rng, -2, 2));
      else
        value.set(i, drawInt(rng, 0, 9));
    }
    tensors.push_back(reference::encode(value));
  }
  return tensors;
}

namespace {
struct Compiled {
  graph::Slice slice;
  std::shared_ptr<const runtime::Program> program;
  std::vector<NodeRef> leaves;
};
} // namespace

static Result<Compiled> compileModel(Build build, Dim rows) {
  Compiled result;
  Model model;
  std::vector<NodeRef> outputs = build(model, rows);
  SINTER_TRY_ASSIGN(result.slice, graph::slice(outputs));
  SINTER_TRY_ASSIGN(result.program, compileGraph(result.slice.graph));
  result.leaves = model.leaves;
  return result;
}

static std::vector<HostTensor> ordered(const Compiled &compiled,
                                       const std::vector<HostTensor> &tensors) {
  std::vector<HostTensor> inputs;
  for (const NodeRef &input : compiled.slice.inputs) {
    auto leaf = std::ranges::find(compiled.leaves, input);
    inputs.push_back(tensors[leaf - compiled.leaves.begin()]);
  }
  return inputs;
}

static void checkModel(Build build, std::initializer_list<int64_t> sizes = {
                                        1, 2, 5, 16, 29, 33, 64, 200}) {
  Dim symbol(64, dim_exprs::symbol(99, 0, 64));
  auto symbolic = compileModel(build, symbol);
  ASSERT_TRUE(symbolic) << symbolic.error().message;
  ASSERT_EQ(symbolic->slice.graph.numSymbols, 1u);
  for (int64_t rows : sizes) {
    SCOPED_TRACE("rows " + std::to_string(rows));
    Model model;
    build(model, Dim(rows));
    std::vector<HostTensor> tensors = drawInputs(model, rows);
    auto fixed = compileModel(build, Dim(rows));
    ASSERT_TRUE(fixed) << fixed.error().message;
    auto expected = expectationOf(fixed->slice.graph, ordered(*fixed, tensors));
    auto a = runProgram(*symbolic->program, ordered(*symbolic, tensors));
    auto b = runProgram(*fixed->program, ordered(*fixed, tensors));
    ASSERT_TRUE(a) << a.error().message;
    ASSERT_TRUE(b) << b.error().message;
    for (size_t i = 0; i < a->size(); ++i)
      EXPECT_TRUE((*a)[i].data == (*b)[i].data) << "output " << i;
    ASSERT_TRUE(expected) << expected.error().message;
    EXPECT_EQ(mismatchOf(*a, *expected), "");
  }
}

TEST(Symbolic, Perceptron) { checkModel(perceptron); }
TEST(Symbolic, SoftmaxByHand) { checkModel(softmaxByHand); }
TEST(Symbolic, Normalized) { checkModel(normalized); }
TEST(Symbolic, ColumnStatistics) { checkModel(columnStatistics); }
TEST(Symbolic, Sorts) { checkModel(sorts); }
TEST(Symbolic, TrainingStep) { checkModel(trainingStep); }
TEST(Symbolic, DoubledRows) { checkModel(doubled); }
TEST(Symbolic, Layers) { checkModel(layers, {3, 64, 300}); }
TEST(Symbolic, WideProduct) { checkModel(wideProduct, {3, 64, 260}); }
TEST(Symbolic, SlicedProduct) {
  checkModel(slicedProduct, {64, 65, 256, 257, 640, 641});
}
TEST(Symbolic, SlicedGradient) {
  checkModel(slicedGradient, {11, 16, 31, 32, 48, 64, 256, 257, 600});
}
TEST(Symbolic, Similarities) { checkModel(similarities, {5, 64, 65, 260}); }
TEST(Symbolic, ShortProducts) { checkModel(shortProducts, {3, 64, 1000}); }
TEST(Symbolic, BatchedProducts) {
  checkModel(batchedProducts, {1, 24, 70, 160});
}
TEST(Symbolic, SumOverRows) { checkModel(sumOverRows, {30, 5000, 40000}); }
TEST(Symbolic, Variance) { checkModel(variance, {3, 40, 600}); }

/// One launch, and no more bytes than inputs and outputs.
static void expectOneLaunch(Build build) {
  auto compiled = compileModel(build, Dim(64));
  ASSERT_TRUE(compiled) << compiled.error().message;
  Model model;
  build(model, Dim(64));
  std::vector<HostTensor> inputs = ordered(*compiled, drawInputs(model, 64));
  runtime::RunCounters counters;
  auto outputs = runProgram(*compiled->program, inputs, &counters);
  ASSERT_TRUE(outputs) << outputs.error().message;
  double least = 0;
  for (const auto *tensors : {&inputs, &*outputs})
    for (const HostTensor &tensor : *tensors)
      least += static_cast<double>(tensor.data.size());
  EXPECT_EQ(counters.launches, 1u);
  EXPECT_LE(double(counters.bytesRead + counters.bytesWritten), 1.05 * least);
}

static std::vector<NodeRef> softmaxAlone(Model &model, Dim rows) {
  return {*graph::softmax(model.leaf({rows, 40}), 1)};
}

static std::vector<NodeRef> handSoftmaxAlone(Model &model, Dim rows) {
  return {softmaxByHand(model, rows)[0]};
}

static std::vector<NodeRef> meanSquare(Model &model, Dim rows) {
  NodeRef x = model.leaf({rows, 40}), y = model.leaf({rows, 40});
  NodeRef difference = *graph::sub(x, y);
  return {*graph::mean(*graph::mul(difference, difference), Axes{0, 1}, false)};
}

TEST(OneLaunch, MatmulBiasRelu) { expectOneLaunch(perceptron); }
TEST(OneLaunch, Softmax) { expectOneLaunch(softmaxAlone); }
TEST(OneLaunch, SoftmaxByHand) { expectOneLaunch(handSoftmaxAlone); }
TEST(OneLaunch, LayerNorm) { expectOneLaunch(normalized); }
TEST(OneLaunch, MeanSquare) { expectOneLaunch(meanSquare); }
