/// Random numbers: of Sinter's generators, so of other values than PyTorch's.
#include "frontend/import/torch/rules/Rules.h"

#include "frontend/ElementwiseFunctions.h"

#include <sinter/Random.h>

#include <cmath>
#include <numbers>

namespace sinter::torch {

static void ignorePlace(Call &call) {
  call.ignore({"dtype", "layout", "device", "pin_memory", "memory_format",
               "generator"});
}

/// Of a size, or in the shape of a tensor.
static Dims shapeOf(Call &call) {
  ignorePlace(call);
  return call.has("self") ? call.tensor("self").shape() : call.dims("size");
}

/// Narrow floats are drawn as f32.
static DType drawnAs(DType dtype) {
  return dtype == DType::f64 ? dtype : DType::f32;
}

static Tensor uniformIn(const Dims &shape, DType dtype, double low,
                        double high) {
  return uniform(shape, default_generator(), low, high, drawnAs(dtype))
      .to(dtype);
}
static Tensor normalIn(const Dims &shape, DType dtype) {
  return normal(shape, default_generator(), 0, 1, drawnAs(dtype)).to(dtype);
}

static void randRule(Call &call) {
  call.give(uniformIn(shapeOf(call), call.outputDType(), 0, 1));
}
static void randnRule(Call &call) {
  call.give(normalIn(shapeOf(call), call.outputDType()));
}

static void randintRule(Call &call) {
  Dims shape = shapeOf(call);
  call.give(randint(call.integer("low", 0), call.integer("high"), shape)
                .to(call.outputDType()));
}

static void randpermRule(Call &call) {
  ignorePlace(call);
  call.give(randperm(call.integer("n")).to(call.outputDType()));
}

//===- Distributions ------------------------------------------------------===//

static void uniformRule(Call &call) {
  Tensor x = call.tensor("self");
  call.ignore({"generator"});
  call.give(uniformIn(x.shape(), x.dtype(), call.real("from", 0),
                      call.real("to", 1)));
}

/// `normal_` of a tensor.
static void normalOfShapeRule(Call &call) {
  Tensor x = call.tensor("self");
  call.ignore({"generator"});
  call.give(normalIn(x.shape(), x.dtype()) * call.real("std", 1) +
            call.real("mean", 0));
}

static void normalRule(Call &call) {
  ignorePlace(call);
  const Value &mean = call.value("mean"), &deviation = call.value("std");
  DType dtype = call.outputDType();
  Tensor middle = asTensor(call, mean, dtype);
  Tensor wide = deviation.isNone() ? ones({}, {dtype, call.device()})
                                   : asTensor(call, deviation, dtype);
  Dims shape = call.has("size") ? call.dims("size") : (middle + wide).shape();
  call.give(normalIn(shape, dtype) * wide + middle);
}

static void exponentialRule(Call &call) {
  Tensor x = call.tensor("self");
  call.ignore({"generator"});
  double rate = call.real("lambd", 1);
  Tensor drawn = uniformIn(x.shape(), x.dtype(), 0, 1);
  call.give(log1p(-drawn) * (-1 / rate));
}

static void cauchyRule(Call &call) {
  Tensor x = call.tensor("self");
  call.ignore({"generator"});
  Tensor drawn = uniformIn(x.shape(), x.dtype(), 0, 1) - 0.5;
  call.give(tan(drawn * std::numbers::pi) * call.real("sigma", 1) +
            call.real("median", 0));
}
/// How many draws it takes until one succeeds.
static void geometricRule(Call &call) {
  Tensor x = call.tensor("self");
  call.ignore({"generator"});
  double p = call.real("p");
  if (!(p > 0 && p < 1))
    call.invalid("a probability of " + std::to_string(p));
  Tensor drawn = uniformIn(x.shape(), DType::f32, 0, 1);
  call.give(ceil(log1p(-drawn) * (1 / std::log1p(-p))).to(x.dtype()));
}
static void logNormalRule(Call &call) {
  Tensor x = call.tensor("self");
  call.ignore({"generator"});
  call.give(exp(normalIn(x.shape(), x.dtype()) * call.real("std", 2) +
                call.real("mean", 1)));
}

static void bernoulliRule(Call &call) {
  Tensor x = call.tensor("self");
  call.ignore({"generator"});
  DType dtype = call.outputDType();
  const Value &p = call.value("p");
  if (p.isNone())
    call.give(bernoulli(x).to(dtype));
  else if (p.isTensor())
    call.give(bernoulli(expand(p.stored->read().to(DType::f32), x.shape()))
                  .to(dtype));
  else
    call.give(bernoulli(x.shape(), numberOf(call, p).asReal()).to(dtype));
}

static void multinomialRule(Call &call) {
  call.ignore({"generator"});
  call.give(multinomial(call.tensor("self"), call.integer("num_samples"),
                        call.flag("replacement")));
}

//===- Of training --------------------------------------------------------===//

/// A slope of its own for each element below 0; the mean of the limits where
/// nothing is trained.
static void randomSlopeRule(Call &call) {
  Tensor x = call.tensor("self");
  call.ignore({"generator", "noise"});
  double lower = call.real("lower", 1.0 / 8),
         upper = call.real("upper", 1.0 / 3);
  bool trains = call.flag("training");
  Tensor slope = trains
                     ? uniformIn(x.shape(), x.dtype(), lower, upper)
                     : full({}, (lower + upper) / 2, {x.dtype(), x.device()});
  Tensor factor = where(x > 0, ones_like(x), expand(slope, x.shape()));
  call.give(x * factor);
  if (call.numOutputs() > 1)
    call.give(factor);
}

/// Whole channels, or elements of the self-normalizing kind, are left out.
static void channelDropoutRule(Call &call) {
  Tensor x = call.tensor("input");
  double p = call.real("p");
  if (!call.flag("train") || p == 0) {
    call.give(x);
    return;
  }
  if (x.rank() < 2)
    call.invalid("a tensor of rank " + std::to_string(x.rank()));
  Dims shape(size_t(x.rank()), Dim(1));
  shape[0] = x.dim(0);
  shape[1] = x.dim(1);
  call.give(p >= 1 ? x * 0.0
                   : x *
                         bernoulli(shape, 1 - p, default_generator(),
                                   drawnAs(x.dtype()))
                             .to(x.dtype()) /
                         (1 - p));
}
static void alphaDropoutRule(Call &call) {
  Tensor x = call.tensor("input");
  double p = call.real("p");
  if (call.flag("train") && p != 0)
    call.unsupported("alpha dropout in training");
  call.give(x);
}

static constexpr Operator rows[] = {
    {"aten.rand.default", randRule},
    {"aten.rand_like.default", randRule},
    {"aten.randn.default", randnRule},
    {"aten.randn_like.default", randnRule},
    {"aten.randint.default", randintRule},
    {"aten.randint.low", randintRule},
    {"aten.randint_like.default", randintRule},
    {"aten.randint_like.low_dtype", randintRule},
    {"aten.randperm.default", randpermRule},
    {"aten.uniform.default", uniformRule},
    {"aten.normal.default", normalOfShapeRule},
    {"aten.normal_functional.default", normalOfShapeRule},
    {"aten.normal.Tensor_float", normalRule},
    {"aten.normal.float_Tensor", normalRule},
    {"aten.normal.Tensor_Tensor", normalRule},
    {"aten.normal.float_float", normalRule},
    {"aten.exponential.default", exponentialRule},
    {"aten.cauchy.default", cauchyRule},
    {"aten.geometric.default", geometricRule},
    {"aten.log_normal.default", logNormalRule},
    {"aten.bernoulli.default", bernoulliRule},
    {"aten.bernoulli.p", bernoulliRule},
    {"aten.bernoulli.float", bernoulliRule},
    {"aten.bernoulli.Tensor", bernoulliRule},
    {"aten.multinomial.default", multinomialRule},
    {"aten.rrelu.default", randomSlopeRule},
    {"aten.rrelu_with_noise.default", randomSlopeRule},
    {"aten.rrelu_with_noise_functional.default", randomSlopeRule},
    {"aten.feature_dropout.default", channelDropoutRule},
    {"aten.alpha_dropout.default", alphaDropoutRule},
    {"aten.feature_alpha_dropout.default", alphaDropoutRule},
};

std::span<const Operator> randomRows() { return rows; }

} // namespace sinter::torch
