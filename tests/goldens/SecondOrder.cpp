/// Golden cases of second derivatives: a gradient, and its product's.
#include "tests/goldens/Call.h"

namespace sinter::goldens {

using Function = Tensor (*)(const Call &call, const Tensor &x);
using Table = std::map<std::string, Function, std::less<>>;

static const Table &functions() {
  static const Table table = {
      {"hvp_sum_x_cubed",
       [](const Call &, const Tensor &x) { return sum(x * x * x); }},
      {"hvp_sum_tanh_of_matmul_squared",
       [](const Call &c, const Tensor &x) {
         return sum(square(tanh(matmul(x, c["w"]))));
       }},
      {"hvp_logsumexp",
       [](const Call &, const Tensor &x) { return sum(logsumexp(x, -1)); }},
      {"hvp_exp_mul_sin",
       [](const Call &, const Tensor &x) { return sum(exp(x) * sin(x)); }},
      {"hvp_mlp_gelu",
       [](const Call &c, const Tensor &x) {
         return mean(square(matmul(gelu(matmul(x, c["w1"])), c["w2"])));
       }},
      {"hvp_layer_norm_sq",
       [](const Call &, const Tensor &x) {
         Tensor y = layer_norm(x, {x.dim(-1)}, Affine());
         return sum(y * y * y);
       }},
      {"hvp_cross_entropy",
       [](const Call &, const Tensor &x) {
         return cross_entropy(x, tensor({0, 2, 1}));
       }},
  };
  return table;
}

std::optional<Values> recordSecondOrder(const Case &golden,
                                        const Values &inputs) {
  auto function = functions().find(golden.op);
  if (function == functions().end())
    return std::nullopt;
  Call call{inputs, Attrs(golden.attrs)};
  Tensor x = call["x"].detach();
  x.require_grad();
  Tensor gradient = grad(function->second(call, x), {x})[0];
  Tensor product = grad(sum(gradient * call["v"]), {x})[0];
  return Values{{"gradient", gradient}, {"hvp", product}};
}

} // namespace sinter::goldens
