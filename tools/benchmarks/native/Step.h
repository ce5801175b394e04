/// Calls and Step: works of our side, over what records them.
#pragma once

#include "tools/benchmarks/native/Worker.h"

#include <sinter/Basic.h>

#include <cmath>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

/// The workers' numbers as a leaf. Each line makes its own, so that no axis
/// becomes symbolic.
sinter::Tensor
inputOf(const sinter::Dims &shape, uint32_t seed, float scale = 1,
        std::source_location where = std::source_location::current());
/// What the case's `dtype` says: bf16, f16, or else f32.
sinter::DType dtypeOf(const Case &c);
/// The same in that dtype.
sinter::Tensor
inputFor(const Case &c, const sinter::Dims &shape, uint32_t seed,
         float scale = 1,
         std::source_location where = std::source_location::current());
/// Whole numbers in [0, limit) of the same generator.
sinter::Tensor
labelsOf(const sinter::Dims &shape, uint32_t seed, int64_t limit,
         std::source_location where = std::source_location::current());

/// What a parameter begins with: a matrix and more is uniform in +-scale, other
/// weights are ones, but quarters where they end a residual block, and biases
/// zeros.
sinter::Tensor firstValue(std::string_view path, const sinter::Param &param,
                          uint32_t seed, double scale);

/// A function that records results, evaluated together; the first is compared.
class Calls : public Work {
public:
  using Record = std::function<std::vector<sinter::Tensor>()>;
  explicit Calls(Record record) : record(std::move(record)) {}

  void run() override {
    std::vector<sinter::Tensor> results = record();
    if (results.size() == 1)
      results[0].eval();
    else
      sinter::eval(results);
    if (!hasRun)
      first = results[0];
    hasRun = true;
  }
  void wait() override { sinter::synchronize(); }
  const Record &recorded() const { return record; }
  std::vector<double> sample(size_t count) override {
    sinter::Tensor wide = std::exchange(first, {}).to(sinter::DType::f32);
    std::vector<float> values = wide.to_vector<float>();
    return sampleOf<float>(values, count);
  }

private:
  Record record;
  sinter::Tensor first; ///< the first result, until somebody looked at it
  bool hasRun = false;
};

/// The same first values on all sides: seeds by the parameters' order, uniform
/// in +-1/sqrt(inputs); norms begin as the identity.
template <typename Model> Model withFirstValues(Model model) {
  uint32_t seed = 100;
  model.visit([&](std::string_view path, sinter::Param &param) {
    double inputs = double(param.numel()) /
                    double(param.rank() ? param.shape()[0].value : 1);
    param.set(firstValue(path, param, seed++, 1 / std::sqrt(inputs)));
  });
  return model;
}

/// A model that gives a loss, trained on the same batch again and again:
/// forward pass, backward pass and update are one program.
template <typename Model> class Step : public Work {
public:
  using Loss = std::function<sinter::Tensor(const Model &)>;
  using Optimizer = std::unique_ptr<sinter::optim::Optimizer>;
  /// Compares the losses of the first `compared` steps.
  Step(Model made, Loss loss,
       Optimizer optimizer = std::make_unique<sinter::optim::Adam>(),
       size_t compared = 1)
      : model(std::move(made)), loss(std::move(loss)),
        optimizer(std::move(optimizer)), compared(compared) {}

  void run() override {
    sinter::Tensor value = loss(model);
    sinter::Gradients gradients = value.backward();
    optimizer->step(model, std::move(gradients));
    value.eval();
    if (losses.size() < compared)
      losses.push_back(value.item<float>());
  }
  void wait() override { sinter::synchronize(); }
  std::vector<double> sample(size_t count) override {
    return sampleOf<float>(losses, count);
  }

private:
  Model model;
  Loss loss;
  Optimizer optimizer;
  size_t compared;
  std::vector<float> losses;
};

} // namespace bench
