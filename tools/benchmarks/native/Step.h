/// Calls and Step: works of our side, over what records them.
#pragma once

#include "tools/benchmarks/native/Worker.h"

#include <sinter/sinter.h>

#include <algorithm>
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
/// The same in the case's `dtype`.
sinter::Tensor
inputFor(const Case &c, const sinter::Dims &shape, uint32_t seed,
         float scale = 1,
         std::source_location where = std::source_location::current());
/// Whole numbers in [0, limit) of the same generator.
sinter::Tensor
labelsOf(const sinter::Dims &shape, uint32_t seed, int64_t limit,
         std::source_location where = std::source_location::current());

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

/// A model that gives a loss, trained by Adam on the same batch again and
/// again: forward pass, backward pass and update are one program.
template <typename Model> class Step : public Work {
public:
  using Loss = std::function<sinter::Tensor(const Model &)>;
  Step(Model made, Loss loss) : model(std::move(made)), loss(std::move(loss)) {
    uint32_t seed = 100;
    model.visit([&](std::string_view path, sinter::Param &param) {
      setFirst(path, param, seed++);
    });
  }

  void run() override {
    sinter::Tensor value = loss(model);
    sinter::Gradients gradients = value.backward();
    adam.step(model, std::move(gradients));
    value.eval();
    if (losses.empty())
      losses.push_back(value.item<float>());
  }
  void wait() override { sinter::synchronize(); }
  /// The loss of the first step, from the same parameters everywhere.
  std::vector<double> sample(size_t) override {
    return sampleOf<float>(losses, 1);
  }

private:
  /// Uniform in +-1/sqrt(inputs); norms begin as the identity.
  static void setFirst(std::string_view path, sinter::Param &param,
                       uint32_t seed) {
    size_t count = param.numel();
    bool isWeight = path.find("weight") != path.npos;
    std::vector<float> values(count, isWeight ? 1.f : 0);
    if (param.rank() > 1) {
      double inputs = double(count) / double(param.shape()[0].value);
      fill(values, seed, float(1 / std::sqrt(inputs)));
    }
    param.set(sinter::tensor(values, param.shape()));
  }

  Model model;
  Loss loss;
  sinter::optim::Adam adam;
  std::vector<float> losses;
};

} // namespace bench
