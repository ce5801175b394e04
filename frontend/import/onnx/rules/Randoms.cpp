/// Random numbers: of the calling thread's generator, or of a seed that the
/// file names.
#include "frontend/import/onnx/rules/Rules.h"

#include <sinter/Random.h>

#include <bit>

namespace sinter::onnx {

namespace {
/// The generator of one node.
class Source {
public:
  explicit Source(Call &call) {
    if (!call.given("seed"))
      return;
    // Dropout's is an integer.
    bool isInteger = call.node().op == "Dropout";
    seeded.emplace(isInteger
                       ? uint64_t(call.integer("seed"))
                       : std::bit_cast<uint32_t>(float(call.real("seed"))));
  }
  Generator &get() { return seeded ? *seeded : default_generator(); }

private:
  std::optional<Generator> seeded;
};
} // namespace

/// Shapes of the file, which may be negative.
static Dims shapeAttribute(Call &call) {
  std::vector<int64_t> shape = call.integers("shape");
  return {shape.begin(), shape.end()};
}

static DType dtypeLike(Call &call) {
  return call.given("dtype") ? call.dtypeAttribute("dtype")
                             : call.value(0).dtype();
}

static void checkFloat(Call &call, DType dtype) {
  if (!isFloat(dtype))
    call.invalid("random numbers of " + std::string(name(dtype)));
}

static void giveUniform(Call &call, const Dims &shape, DType dtype) {
  checkFloat(call, dtype);
  Source source(call);
  call.give(
      uniform(shape, source.get(), call.real("low"), call.real("high"), dtype));
}
static void giveNormal(Call &call, const Dims &shape, DType dtype) {
  checkFloat(call, dtype);
  Source source(call);
  call.give(normal(shape, source.get(), call.real("mean"), call.real("scale"),
                   dtype));
}

static void uniformRule(Call &call) {
  giveUniform(call, shapeAttribute(call), call.dtypeAttribute("dtype"));
}
static void uniformLikeRule(Call &call) {
  giveUniform(call, call.value(0).shape(), dtypeLike(call));
}
static void normalRule(Call &call) {
  giveNormal(call, shapeAttribute(call), call.dtypeAttribute("dtype"));
}
static void normalLikeRule(Call &call) {
  giveNormal(call, call.value(0).shape(), dtypeLike(call));
}

static void bernoulliRule(Call &call) {
  Source source(call);
  call.give(bernoulli(call.tensor(0), source.get()).to(dtypeLike(call)));
}

/// The operand holds logarithms of weights.
static void multinomialRule(Call &call) {
  Source source(call);
  Tensor weights = softmax(call.tensor(0), -1);
  Tensor drawn =
      multinomial(weights, call.integer("sample_size"), true, source.get());
  call.give(drawn.to(call.dtypeAttribute("dtype")));
}

//===- Dropout ------------------------------------------------------------===//

static bool trains(Call &call) {
  if (call.opset() < 7)
    return call.given("is_test") && !call.flag("is_test");
  return call.opset() >= 12 && call.has(2) &&
         call.integer(2, "training_mode") != 0;
}

static double ratioOf(Call &call) {
  if (call.opset() < 12)
    return call.real("ratio");
  return call.has(1) ? call.real(1, "ratio") : 0.5;
}

/// While a model predicts nothing is dropped.
static void dropoutRule(Call &call) {
  Tensor x = call.tensor(0);
  double ratio = trains(call) ? ratioOf(call) : 0;
  if (!(ratio >= 0 && ratio < 1))
    call.invalid("a ratio of " + std::to_string(ratio));
  Tensor mask;
  if (ratio == 0) {
    mask = full(x.shape(), true, {DType::boolean, x.device()});
    call.give(x);
  } else {
    Source source(call);
    mask = bernoulli(x.shape(), 1 - ratio, source.get()).to(DType::boolean);
    call.give(where(mask, x / (1 - ratio), zeros_like(x)));
  }
  if (call.wants(1))
    call.give(1, call.opset() >= 10 ? mask : mask.to(x.dtype()));
}

static constexpr Operator rows[] = {
    {"Dropout", 1, 6, "consumed_inputs:ints is_test:int=0 ratio:float=0.5",
     dropoutRule},
    {"Dropout", 7, 11, "ratio:float=0.5", dropoutRule},
    {"Dropout", 12, 0, "seed:int", dropoutRule},
    {"RandomUniform", 1, 0,
     "dtype:int=1 high:float=1.0 low:float=0.0 seed:float shape:ints!",
     uniformRule},
    {"RandomUniformLike", 1, 0,
     "dtype:int high:float=1.0 low:float=0.0 seed:float", uniformLikeRule},
    {"RandomNormal", 1, 0,
     "dtype:int=1 mean:float=0.0 scale:float=1.0 seed:float shape:ints!",
     normalRule},
    {"RandomNormalLike", 1, 0,
     "dtype:int mean:float=0.0 scale:float=1.0 seed:float", normalLikeRule},
    {"Bernoulli", 15, 0, "dtype:int seed:float", bernoulliRule},
    {"Multinomial", 7, 0, "dtype:int=6 sample_size:int=1 seed:float",
     multinomialRule},
};

std::span<const Operator> randomRows() { return rows; }

} // namespace sinter::onnx
