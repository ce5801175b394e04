/// Works of a whole model: its forward pass, and its training steps.
#pragma once

#include "tools/benchmarks/native/Models.h"
#include "tools/benchmarks/native/Step.h"

#include <sinter/Basic.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

/// The seed of a parameter's first value: FNV-1a of its path.
uint32_t seedOf(std::string_view path);

/// How large its first values are: 1 by the root of the number of inputs; those
/// of convolutions are as large as what they give.
double scaleOf(std::string_view path, const sinter::Param &param);

/// The model as all sides begin with it, in the case's dtype and on the default
/// device; statistics keep their own first values.
template <typename Model> Model prepared(Model model, const Case &c) {
  model.visit([&](std::string_view path, sinter::Param &param) {
    if (!param.requires_grad())
      return;
    param.set(firstValue(path, param, seedOf(path), scaleOf(path, param)));
    // One after the other: there is never more than one in both dtypes.
    param = param.cast(dtypeOf(c));
  });
  model = std::move(model).cast(dtypeOf(c));
  return model.fork(toString(sinter::default_device()));
}

/// Evaluates `forward(model)` again and again, as in use.
template <typename Model, typename Forward>
std::unique_ptr<Work> forwardOf(Model model, Forward forward) {
  auto kept = std::make_shared<Model>(std::move(model));
  kept->eval();
  return std::make_unique<Calls>([=] {
    sinter::no_grad guard;
    return std::vector<sinter::Tensor>{forward(*kept)};
  });
}

/// Steps of AdamW, or of gradient descent with momentum, whose first three
/// losses are compared.
enum class Trainer : uint8_t { adamw, sgd };

template <typename Model, typename Loss>
std::unique_ptr<Work> trainingOf(Model model, Trainer trainer, Loss loss) {
  typename Step<Model>::Optimizer optimizer;
  if (trainer == Trainer::adamw)
    optimizer = std::make_unique<sinter::optim::AdamW>(
        sinter::optim::AdamWOptions{.lr = 1e-4});
  else
    optimizer = std::make_unique<sinter::optim::Sgd>(
        sinter::optim::SgdOptions{.lr = 0.01, .momentum = 0.9});
  return std::make_unique<Step<Model>>(std::move(model), std::move(loss),
                                       std::move(optimizer), 3);
}

/// Whether the case trains; an error unless it says one of both.
bool trains(const Case &c);

} // namespace bench
