/// What recording costs, as a user records, and what a known graph's flush and
/// a loaded program's replay cost on the host. Times are those of the recording
/// thread's CPU.
#include "runtime/program/CompilerHook.h"
#include "runtime/program/Program.h"

#include <sinter/sinter.h>

#include <benchmark/benchmark.h>

#include <ctime>
#include <unordered_set>

namespace sn = sinter;
using benchmark::State;

/// Seconds of CPU time of this thread; other load on the machine is not in it.
static double threadSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

static sn::Tensor values(const sn::Dims &shape, float value = 0.5f) {
  size_t count = 1;
  for (sn::Dim dim : shape)
    count *= dim.value;
  return sn::tensor(std::vector<float>(count, value), shape);
}

//===- Single ops ---------------------------------------------------------===//

/// Recording one op, and releasing its node.
template <typename Record> static void recordOp(State &state, Record record) {
  for (auto _ : state) {
    sn::Tensor y = record();
    benchmark::DoNotOptimize(y);
  }
}

static void mul(State &state) {
  sn::Tensor x = values({64, 128}), w = values({64, 128});
  recordOp(state, [&] { return x * w; });
}
static void add(State &state) {
  sn::Tensor x = values({64, 128}), w = values({64, 128});
  recordOp(state, [&] { return x + w; });
}
/// Two ops: the broadcast of the bias, and the sum.
static void addBias(State &state) {
  sn::Tensor x = values({64, 128}), b = values({128});
  recordOp(state, [&] { return x + b; });
}
static void relu(State &state) {
  sn::Tensor x = values({64, 128});
  recordOp(state, [&] { return sn::relu(x); });
}
static void matmul(State &state) {
  sn::Tensor x = values({64, 128}), w = values({128, 32});
  recordOp(state, [&] { return sn::matmul(x, w); });
}
static void sum(State &state) {
  sn::Tensor x = values({64, 128});
  recordOp(state, [&] { return sn::sum(x); });
}
static void sumAxis(State &state) {
  sn::Tensor x = values({64, 128});
  recordOp(state, [&] { return sn::sum(x, 1); });
}
/// Two ops: the constant that the expression showed so far, and the product.
static void mulNumber(State &state) {
  sn::Tensor x = values({64, 128});
  recordOp(state, [&] { return x * 0.5f; });
}
/// Three: a dynamic scalar, its broadcast, and the product.
static void mulDynamicNumber(State &state) {
  sn::Tensor x = values({64, 128});
  recordOp(state, [&] { return x * 3.7f; });
}
static void reshape(State &state) {
  sn::Tensor x = values({64, 128});
  sn::Dims shape{128, 64};
  recordOp(state, [&] { return sn::reshape(x, shape); });
}
static void transpose(State &state) {
  sn::Tensor x = values({64, 128});
  recordOp(state, [&] { return sn::transpose(x, {1, 0}); });
}

BENCHMARK(mul);
BENCHMARK(add);
BENCHMARK(addBias);
BENCHMARK(relu);
BENCHMARK(matmul);
BENCHMARK(sum);
BENCHMARK(sumAxis);
BENCHMARK(mulNumber);
BENCHMARK(mulDynamicNumber);
BENCHMARK(reshape);
BENCHMARK(transpose);

//===- A training step ----------------------------------------------------===//

namespace {
struct Mlp {
  sn::nn::Linear fc1{64, 128}, fc2{128, 10};
  sn::Tensor forward(const sn::Tensor &x) const {
    return fc2(sn::relu(fc1(x)));
  }
  SINTER_MODULE(Mlp, fc1, fc2)
};
} // namespace

/// Pending ops that the nodes were computed from, themselves included.
static size_t countOps(std::vector<const sn::graph::Node *> stack) {
  std::unordered_set<const sn::graph::Node *> seen;
  while (!stack.empty()) {
    const sn::graph::Node *node = stack.back();
    stack.pop_back();
    if (node->isLeaf() || node->isReady() || !seen.insert(node).second)
      continue;
    for (const sn::graph::NodeRef &operand : node->operands())
      stack.push_back(operand.get());
  }
  return seen.size();
}

/// Forward pass, backward pass and update of an MLP; per op of the step. The
/// flush in between is not counted.
static void mlpStep(State &state) {
  Mlp model;
  sn::optim::Adam adam;
  sn::Tensor images = values({32, 64});
  sn::Tensor labels = sn::tensor(std::vector<int64_t>(32, 3));
  size_t ops = 0, recorded = 0;
  for (auto _ : state) {
    double start = threadSeconds();
    sn::Tensor loss = sn::cross_entropy(model.forward(images), labels);
    sn::Gradients gradients = loss.backward();
    adam.step(model, std::move(gradients));
    state.SetIterationTime(threadSeconds() - start);
    if (!ops) {
      std::vector<const sn::graph::Node *> roots{loss.node().get()};
      model.visit([&](std::string_view, const sn::Param &param) {
        roots.push_back(param.cell()->pending().get());
      });
      ops = countOps(roots);
    }
    recorded += ops;
    loss.eval();
  }
  state.counters["ops"] = double(ops);
  state.SetItemsProcessed(int64_t(recorded));
}
BENCHMARK(mlpStep)->UseManualTime();

//===- A flush ------------------------------------------------------------===//

/// A chain of 1,000 ops on few elements, evaluated again and again: finding
/// and binding its program, and running it, which is little here.
static void flushKnown(State &state) {
  sn::Tensor x = values({8}), w = values({8}), b = values({8});
  for (auto _ : state) {
    sn::Tensor y = x;
    for (int i = 0; i < 250; ++i)
      y = sn::maximum(y * w + b, x) - w;
    double start = threadSeconds();
    y.eval();
    state.SetIterationTime(threadSeconds() - start);
  }
}
BENCHMARK(flushKnown)->UseManualTime();

//===- A replay -----------------------------------------------------------===//

namespace rt = sn::runtime;

/// Two layers and the sums of their rows.
static constexpr std::string_view layers = R"(
  func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>)
      -> (tensor<64x64xf32>, tensor<64xf32>) {
    %a = sinter.matmul %x, %w
        : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %b = sinter.relu %a : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %c = sinter.matmul %b, %w
        : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %d = sinter.softmax %c {axis = 1 : i64}
        : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %e = sinter.sum %d {axes = array<i64: 0>, keepdims = false}
        : (tensor<64x64xf32>) -> tensor<64xf32>
    return %d, %e : tensor<64x64xf32>, tensor<64xf32>
  })";

static sn::Result<std::shared_ptr<const rt::Program>>
compiled(std::string_view text, rt::Device &device) {
  SINTER_TRY_ASSIGN(const rt::CompilerHook *hook, rt::compilerHook());
  rt::CompileRequest request;
  request.target = device.target();
  SINTER_TRY_ASSIGN(auto file, hook->compileText(text, request));
  return rt::Program::load(file, device);
}

/// A program with other inputs in each run, whose results are new memory; the
/// device has nothing to do when it begins.
static void replay(State &state) {
  rt::Device &device = **rt::getDevice(sn::default_device());
  auto program = compiled(layers, device);
  if (!program)
    return state.SkipWithError(program.error().message.c_str());
  constexpr size_t numInputs = 9, bytes = sizeof(float) * 64 * 64;
  std::vector<rt::Binding> tensors(numInputs);
  for (rt::Binding &each : tensors)
    each = {.buffer = *device.allocate(bytes), .dims = {64, 64}};
  size_t next = 0;
  rt::RunCounters counters;
  for (auto _ : state) {
    rt::Binding inputs[] = {tensors[next++ % numInputs], tensors[0]};
    double start = threadSeconds();
    auto outputs = rt::run(**program, inputs, &counters);
    state.SetIterationTime(threadSeconds() - start);
    if (!outputs || !device.synchronize())
      return state.SkipWithError("the run failed");
  }
  state.counters["launches"] = double(counters.launches);
  state.counters["replays"] = double(counters.replays);
}
BENCHMARK(replay)->UseManualTime();

BENCHMARK_MAIN();
