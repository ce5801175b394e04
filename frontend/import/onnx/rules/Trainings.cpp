/// ai.onnx.preview.training: gradients, and one step of an optimizer.
#include "frontend/import/onnx/rules/Rules.h"

#include "frontend/import/onnx/ModelRecorder.h"

#include <sinter/Transforms.h>

namespace sinter::onnx {

namespace {
/// The rate, the count of steps, and of each kind one tensor for each that is
/// optimized: values, gradients and what is kept of them.
class Update {
public:
  Update(Call &call, size_t kinds) : call(call) {
    if (call.numInputs() < 2 + kinds || (call.numInputs() - 2) % kinds != 0)
      call.invalid(std::to_string(call.numInputs()) + " inputs");
    count = (call.numInputs() - 2) / kinds;
  }
  size_t size() const { return count; }
  Tensor rate() const { return call.tensor(0); }
  Tensor step() const { return call.tensor(1).to(rate().dtype()); }
  Tensor of(size_t kind, size_t i) const {
    return call.tensor(2 + kind * count + i);
  }
  /// The gradient with that of the norm of the value.
  Tensor gradient(size_t i) const {
    return of(0, i) * call.real("norm_coefficient") + of(1, i);
  }
  void give(size_t kind, size_t i, const Tensor &value) const {
    call.give(kind * count + i, value);
  }

private:
  Call &call;
  size_t count = 0;
};
} // namespace

static void adagradRule(Call &call) {
  Update update(call, 3);
  Tensor rate =
      update.rate() / (update.step() * call.real("decay_factor") + 1.0);
  for (size_t i = 0; i < update.size(); ++i) {
    Tensor gradient = update.gradient(i);
    Tensor squares = update.of(2, i) + square(gradient);
    Tensor root = sqrt(squares) + call.real("epsilon");
    update.give(0, i, update.of(0, i) - rate * gradient / root);
    update.give(1, i, squares);
  }
}

static void adamRule(Call &call) {
  Update update(call, 4);
  double alpha = call.real("alpha"), beta = call.real("beta");
  Tensor step = update.step(), rate = update.rate();
  Tensor corrected =
      rate * sqrt(1.0 - pow(beta, step)) / (1.0 - pow(alpha, step));
  rate = where(step > 0.0, corrected, rate);
  for (size_t i = 0; i < update.size(); ++i) {
    Tensor gradient = update.gradient(i);
    Tensor mean = update.of(2, i) * alpha + gradient * (1 - alpha);
    Tensor squares = update.of(3, i) * beta + square(gradient) * (1 - beta);
    Tensor root = sqrt(squares) + call.real("epsilon");
    Tensor value = update.of(0, i) - rate * mean / root;
    update.give(0, i, value * (1 - call.real("norm_coefficient_post")));
    update.give(1, i, mean);
    update.give(2, i, squares);
  }
}

static void momentumRule(Call &call) {
  Update update(call, 3);
  std::string mode = call.text("mode");
  if (mode != "nesterov" && mode != "standard")
    call.invalid("mode '" + mode + "'");
  double alpha = call.real("alpha");
  Tensor rate = update.rate();
  Tensor beta = where(update.step() > 0.0,
                      full({}, call.real("beta"), {rate.dtype(), {}}),
                      full({}, 1.0, {rate.dtype(), {}}));
  for (size_t i = 0; i < update.size(); ++i) {
    Tensor gradient = update.gradient(i);
    Tensor moved = update.of(2, i) * alpha + beta * gradient;
    Tensor direction = mode == "nesterov" ? gradient + moved * alpha : moved;
    update.give(0, i, update.of(0, i) - rate * direction);
    update.give(1, i, moved);
  }
}

//===- Gradients ----------------------------------------------------------===//

/// The gradients of a value of this graph with respect to others, which the
/// inputs are. Those that are not asked for (`zs`) follow them.
static void gradientRule(Call &call) {
  std::vector<std::string> names = call.texts("xs");
  std::vector<Tensor> wanted;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i >= call.node().inputs.size() || call.node().inputs[i] != names[i])
      call.unsupported("gradients at other places than '" + names[i] + "'");
    wanted.push_back(call.tensor(i));
  }
  const Value *result = call.recorder().find(call.text("y"));
  if (!result || result->isNothing() || result->isList())
    call.invalid("'" + call.text("y") + "' is no tensor of the graph");
  Tensor y = result->tensor(call.device());
  std::vector<Tensor> gradients =
      grad(y, std::span<const Tensor>(wanted), ones_like(y));
  for (size_t i = 0; i < gradients.size(); ++i)
    call.give(i, gradients[i]);
}

static constexpr const char *domain = "ai.onnx.preview.training";

static constexpr Operator rows[] = {
    {"Adagrad", 1, 0,
     "decay_factor:float=0.0 epsilon:float=1e-6 norm_coefficient:float=0.0",
     adagradRule, domain},
    {"Adam", 1, 0,
     "alpha:float=0.9 beta:float=0.999 epsilon:float=1e-6 "
     "norm_coefficient:float=0.0 norm_coefficient_post:float=0.0",
     adamRule, domain},
    {"Gradient", 1, 0, "xs:strings! y:string! zs:strings", gradientRule,
     domain},
    {"Momentum", 1, 0,
     "alpha:float! beta:float! mode:string! norm_coefficient:float!",
     momentumRule, domain},
};

std::span<const Operator> trainingRows() { return rows; }

} // namespace sinter::onnx
