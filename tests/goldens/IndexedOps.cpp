/// Golden cases of indexing and linear algebra.
#include "tests/goldens/Attrs.h"
#include "tests/goldens/Ops.h"

namespace sinter::goldens {

namespace {
using Rule = std::optional<Values> (*)(const OpCall &c);
using Table = std::map<std::string, Rule, std::less<>>;
using Result = std::optional<Values>;
} // namespace

static Values gatherOf(const OpCall &c) {
  return one(gather(c["x"], c["index"], c.attrs.integer("dim")));
}

static Result scatterReduceOf(const OpCall &c) {
  std::string name = c.attrs.text("reduce");
  ScatterReduce reduce = name == "prod"   ? ScatterReduce::prod
                         : name == "mean" ? ScatterReduce::mean
                         : name == "amax" ? ScatterReduce::amax
                         : name == "amin" ? ScatterReduce::amin
                                          : ScatterReduce::sum;
  return one(scatter_reduce(c["x"], c.attrs.integer("dim"), c["index"],
                            c["src"], reduce, c.attrs.flag("include_self")));
}

static Table indexOps() {
  return {
      {"gather", [](const OpCall &c) -> Result { return gatherOf(c); }},
      {"take_along_dim", [](const OpCall &c) -> Result { return gatherOf(c); }},
      {"scatter_add",
       [](const OpCall &c) -> Result {
         return one(
             scatter_add(c["x"], c["index"], c["src"], c.attrs.integer("dim")));
       }},
      {"scatter",
       [](const OpCall &c) -> Result {
         return one(
             scatter(c["x"], c["index"], c["src"], c.attrs.integer("dim")));
       }},
      {"scatter_reduce", scatterReduceOf},
      {"index_add",
       [](const OpCall &c) -> Result {
         return one(index_add(c["x"], c.attrs.integer("dim"), c["index"],
                              c["src"], c.attrs.number("alpha", 1)));
       }},
      {"advanced_index",
       [](const OpCall &c) -> Result {
         return one(index(c["x"], {c["i"], c["j"]}));
       }},
      {"index_put_accumulate",
       [](const OpCall &c) -> Result {
         return one(index_put(c["x"], {c["i"], c["j"]}, c["v"],
                              /*accumulate=*/true));
       }},
      {"masked_fill",
       [](const OpCall &c) -> Result {
         return one(masked_fill(c["x"], c["mask"], c.attrs.number("value")));
       }},
      {"masked_select",
       [](const OpCall &c) -> Result {
         return one(masked_select(c["x"], c["mask"]));
       }},
      {"one_hot",
       [](const OpCall &c) -> Result {
         return one(one_hot(c["x"], c.attrs.integer("num_classes")));
       }},
  };
}

static Result einsumOf(const OpCall &c) {
  std::vector<Tensor> operands;
  for (const auto &[name, tensor] : c.inputs)
    operands.push_back(tensor);
  return one(
      einsum(c.attrs.text("equation"), std::span<const Tensor>(operands)));
}

static Result matmulOf(const OpCall &c) {
  auto turned = [&](const char *name, const char *flag) {
    return c.attrs.flag(flag) ? swapaxes(c[name], -1, -2) : c[name];
  };
  return one(matmul(turned("a", "transpose_a"), turned("b", "transpose_b")));
}

static Result tensordotOf(const OpCall &c) {
  auto axes = [&](size_t i) {
    std::vector<int64_t> list;
    for (const Json &axis : c.attrs.find("dims")->elements[i].elements)
      list.push_back(static_cast<int64_t>(axis.number));
    return list;
  };
  return one(tensordot(c["a"], c["b"], axes(0), axes(1)));
}

static Table linearOps() {
  return {
      {"matmul_transposed", matmulOf},
      {"linear",
       [](const OpCall &c) -> Result {
         if (c.inputs.contains("bias"))
           return one(linear(c["x"], c["weight"], c["bias"]));
         return one(linear(c["x"], c["weight"]));
       }},
      {"bilinear",
       [](const OpCall &c) -> Result {
         return one(bilinear(c["input1"], c["input2"], c["weight"]) +
                    c["bias"]);
       }},
      {"addmm",
       [](const OpCall &c) -> Result {
         return one(addmm(c["c"], c["a"], c["b"], c.attrs.number("beta", 1),
                          c.attrs.number("alpha", 1)));
       }},
      {"baddbmm",
       [](const OpCall &c) -> Result {
         return one(addmm(c["c"], c["a"], c["b"], c.attrs.number("beta", 1),
                          c.attrs.number("alpha", 1)));
       }},
      {"outer_dot",
       [](const OpCall &c) -> Result {
         return Values{{"outer", outer(c["a"], c["b"])},
                       {"dot", dot(c["a"], c["b"])}};
       }},
      {"einsum", einsumOf},
      {"tensordot", tensordotOf},
      {"kron",
       [](const OpCall &c) -> Result { return one(kron(c["a"], c["b"])); }},
      {"cross",
       [](const OpCall &c) -> Result { return one(cross(c["a"], c["b"])); }},
      {"cdist",
       [](const OpCall &c) -> Result {
         return one(cdist(c["a"], c["b"], c.attrs.number("p", 2)));
       }},
      {"trace_of_square",
       [](const OpCall &c) -> Result {
         return one(sum(diagonal(matmul(c["x"], c["x"]), 0, -2, -1), -1));
       }},
      {"matrix_power",
       [](const OpCall &c) -> Result {
         return one(matrix_power(c["x"], c.attrs.integer("n")));
       }},
  };
}

std::optional<Values> recordIndexed(const Case &golden, const Values &inputs) {
  static const Table rules = [] {
    Table all = indexOps();
    all.merge(linearOps());
    return all;
  }();
  auto rule = rules.find(golden.op);
  if (rule == rules.end() || golden.category == "program")
    return std::nullopt;
  return rule->second({inputs, Attrs(golden.attrs)});
}

} // namespace sinter::goldens
