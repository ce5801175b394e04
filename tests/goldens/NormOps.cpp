/// Golden cases of normalizations and gates, where they can as modules.
#include "tests/goldens/Modules.h"

namespace sinter::goldens {

using Rule = Values (*)(const Call &call);
using Table = std::map<std::string, Rule, std::less<>>;

/// The case's module with its parameters, applied to x.
template <typename Module>
static Values applied(Module &module, const Call &c) {
  Values values;
  fill(module, "", c, values);
  values["y"] = module(c["x"]);
  return values;
}

static Values batchNormTrain(const Call &c) {
  nn::BatchNorm norm(
      c["x"].dim(1).value,
      {.eps = c.attrs.number("eps"), .momentum = c.attrs.number("momentum")});
  Values values = applied(norm, c);
  values["new_running_mean"] = norm.running_mean.tensor();
  values["new_running_var"] = norm.running_var.tensor();
  return values;
}

static Values batchNormEval(const Call &c) {
  nn::BatchNorm norm(c["x"].dim(1).value, {.eps = c.attrs.number("eps")});
  norm.running_mean.set(c["mean"].detach());
  norm.running_var.set(c["var"].detach());
  norm.eval();
  return applied(norm, c);
}

static Values layerNorm(const Call &c) {
  nn::LayerNorm norm(
      dimsOf(c.attrs.list("normalized_shape")),
      {.eps = c.attrs.number("eps"), .elementwise_affine = c.has("weight")});
  return applied(norm, c);
}

static Values swiglu(const Call &c) {
  Dims hidden = c["w1"].shape();
  nn::SwiGLU gate(hidden[1].value, hidden[0].value);
  Values values;
  for (auto [name, layer] :
       {std::pair{"w1", &gate.w1}, {"w2", &gate.w2}, {"w3", &gate.w3}}) {
    layer->weight.set(c[name].detach());
    values[name] = layer->weight.tensor();
  }
  values["y"] = gate(c["x"]);
  return values;
}

static const Table &rules() {
  static const Table table = {
      {"batch_norm_train", batchNormTrain},
      {"batch_norm_eval", batchNormEval},
      {"layer_norm", layerNorm},
      {"rms_norm",
       [](const Call &c) {
         nn::RMSNorm norm(c["x"].dim(-1).value, {.eps = c.attrs.number("eps")});
         return applied(norm, c);
       }},
      {"group_norm",
       [](const Call &c) {
         nn::GroupNorm norm(c.attrs.integer("num_groups"), c["x"].dim(1).value,
                            {.eps = c.attrs.number("eps")});
         return applied(norm, c);
       }},
      {"instance_norm",
       [](const Call &c) {
         nn::InstanceNorm norm(c["x"].dim(1).value,
                               {.eps = c.attrs.number("eps"), .affine = true});
         return applied(norm, c);
       }},
      {"prelu",
       [](const Call &c) {
         nn::PReLU gate(c["weight"].dim(0).value);
         return applied(gate, c);
       }},
      {"swiglu", swiglu},
      {"glu",
       [](const Call &c) -> Values {
         return {{"y", glu(c["x"], c.attrs.integer("dim"))}};
       }},
      {"softmin",
       [](const Call &c) -> Values {
         return {{"y", softmin(c["x"], c.attrs.integer("dim"))}};
       }},
      {"normalize",
       [](const Call &c) -> Values {
         return {
             {"y", normalize(c["x"], c.attrs.number("p"),
                             c.attrs.integer("dim"), c.attrs.number("eps"))}};
       }},
      {"local_response_norm",
       [](const Call &c) -> Values {
         return {{"y", local_response_norm(c["x"], c.attrs.integer("size"),
                                           {c.attrs.number("alpha"),
                                            c.attrs.number("beta"),
                                            c.attrs.number("k")})}};
       }},
      {"rotary_embedding",
       [](const Call &c) -> Values {
         return {{"y", rotary_embedding(c["x"], c["cos"], c["sin"])}};
       }},
  };
  return table;
}

std::optional<Values> recordNorm(const Case &golden, const Values &inputs) {
  if (golden.category != "norm")
    return std::nullopt;
  return recordFrom(rules(), golden, inputs);
}

} // namespace sinter::goldens
