/// Golden cases that arrange elements.
#include "tests/goldens/Attrs.h"
#include "tests/goldens/Ops.h"

namespace sinter::goldens {

namespace {
using Rule = Values (*)(const OpCall &c);
using Table = std::map<std::string, Rule, std::less<>>;

/// The lists of a case's attribute `start_stop_step`.
struct Steps {
  explicit Steps(const OpCall &c, const Tensor &x)
      : starts(x.rank(), 0), steps(x.rank(), 1), limits(x.shape()) {
    const Json *parts = c.attrs.find("start_stop_step");
    for (size_t i = 0; i < parts->elements.size(); ++i) {
      const std::vector<Json> &part = parts->elements[i].elements;
      starts[i] = static_cast<int64_t>(part[0].number);
      limits[i] = Dim(static_cast<int64_t>(part[1].number));
      steps[i] = static_cast<int64_t>(part[2].number);
    }
  }
  std::vector<int64_t> starts, steps;
  Dims limits;
};
} // namespace

static std::vector<Tensor> inputsOf(const OpCall &c) {
  std::vector<Tensor> list;
  for (const auto &[name, tensor] : c.inputs)
    list.push_back(tensor);
  return list;
}

/// Pairs of numbers from the last axis on.
static Values padOf(const OpCall &c) {
  std::string mode = c.attrs.text("mode");
  std::vector<int64_t> amounts = c.attrs.list("pad_last_dim_first");
  std::vector<Padding> paddings;
  for (size_t i = 0; i + 1 < amounts.size(); i += 2)
    paddings.push_back({-1 - int64_t(i / 2), amounts[i], amounts[i + 1]});
  PadMode how = mode == "reflect"     ? PadMode::reflect
                : mode == "replicate" ? PadMode::replicate
                : mode == "circular"  ? PadMode::circular
                                      : PadMode::constant;
  return one(pad(c["x"], paddings, how, c.attrs.number("value")));
}

static PatchOptions patches(const OpCall &c) {
  return {c.attrs.list("dilation"), c.attrs.list("padding"),
          c.attrs.list("stride")};
}

static Table viewOps() {
  return {
      {"repeat_tile",
       [](const OpCall &c) {
         return one(repeat(c["x"], c.attrs.list("repeats")));
       }},
      {"repeat_interleave",
       [](const OpCall &c) {
         return one(repeat_interleave(c["x"], c.attrs.integer("repeats"),
                                      c.attrs.integer("dim")));
       }},
      {"stack",
       [](const OpCall &c) {
         return one(stack(std::span<const Tensor>(inputsOf(c)),
                          c.attrs.integer("dim")));
       }},
      {"split",
       [](const OpCall &c) {
         return several(
             split(c["x"], c.attrs.list("sizes"), c.attrs.integer("dim")));
       }},
      {"chunk",
       [](const OpCall &c) {
         return several(
             chunk(c["x"], c.attrs.integer("chunks"), c.attrs.integer("dim")));
       }},
      {"slice_assign",
       [](const OpCall &c) {
         Steps s(c, c["x"]);
         return one(slice_assign(c["x"], c["v"], s.starts, s.limits, s.steps));
       }},
      {"roll",
       [](const OpCall &c) {
         return one(roll(c["x"], c.attrs.list("shift"), c.attrs.list("dim")));
       }},
      {"tril",
       [](const OpCall &c) {
         return one(tril(c["x"], c.attrs.integer("diagonal")));
       }},
      {"triu",
       [](const OpCall &c) {
         return one(triu(c["x"], c.attrs.integer("diagonal")));
       }},
      {"diagonal",
       [](const OpCall &c) {
         return one(diagonal(c["x"], c.attrs.integer("offset"),
                             c.attrs.integer("dim1"), c.attrs.integer("dim2")));
       }},
      {"diag_embed",
       [](const OpCall &c) {
         return one(diag_embed(c["x"], c.attrs.integer("offset")));
       }},
      {"meshgrid",
       [](const OpCall &c) {
         return several(
             meshgrid(inputsOf(c), c.attrs.text("indexing") == "xy"));
       }},
      {"arange_linspace_eye",
       [](const OpCall &c) {
         int64_t n = c.attrs.integer("n");
         std::vector<int64_t> range = c.attrs.list("arange"),
                              size = c.attrs.list("eye");
         double a = c.attrs.number("a"), b = c.attrs.number("b");
         return Values{
             {"arange", arange(range[0], range[1], range[2])},
             {"linspace", linspace(a, b, n)},
             {"eye", eye(size[0], size[1])},
             {"full", full({n}, a)},
         };
       }},
  };
}

static Table windowOps() {
  return {
      {"pad", padOf},
      {"pixel_shuffle",
       [](const OpCall &c) {
         return one(pixel_shuffle(c["x"], c.attrs.integer("factor")));
       }},
      {"pixel_unshuffle",
       [](const OpCall &c) {
         return one(pixel_unshuffle(c["x"], c.attrs.integer("factor")));
       }},
      {"unfold_im2col",
       [](const OpCall &c) {
         return one(im2col(c["x"], c.attrs.list("kernel_size"), patches(c)));
       }},
      {"fold_col2im",
       [](const OpCall &c) {
         return one(col2im(c["x"], c.attrs.list("output_size"),
                           c.attrs.list("kernel_size"), patches(c)));
       }},
      {"window_unfold",
       [](const OpCall &c) {
         return one(unfold(c["x"], c.attrs.integer("dim"),
                           c.attrs.integer("size"), c.attrs.integer("step")));
       }},
  };
}

static Table edgeOps() {
  return {
      {"edge_scalar_0d",
       [](const OpCall &c) {
         return several({c["a"] + c["b"], sum(c["a"]),
                         reshape(exp(c["a"]), {1, 1}),
                         stack({c["a"], c["b"]})});
       }},
      {"edge_size1_dims",
       [](const OpCall &c) {
         const Tensor &x = c["x"];
         return several({sum(x, 1), softmax(x, 1), var(x, 1, 0), argmax(x, 1)});
       }},
      {"edge_elementwise_empty",
       [](const OpCall &c) {
         return several({c["a"] + c["b"], concat({c["a"], c["a"]}, 0),
                         reshape(c["a"], {3, 0})});
       }},
      {"edge_same_tensor_twice",
       [](const OpCall &c) {
         return one(c["x"] * c["x"] + matmul(c["x"], c["x"]));
       }},
      {"edge_detach_blocks",
       [](const OpCall &c) { return one(c["x"] * c["x"].detach()); }},
      {"edge_expand_grad_accumulates",
       [](const OpCall &c) {
         Tensor weights = reshape(arange(15, {DType::f32, {}}), {5, 3});
         return one(expand(c["x"], {5, 3}) * weights);
       }},
  };
}

static const Table &rules() {
  static const Table table = [] {
    Table all = viewOps();
    all.merge(windowOps());
    all.merge(edgeOps());
    return all;
  }();
  return table;
}

std::optional<Values> recordShapes(const Case &golden, const Values &inputs) {
  // A program's `pad` has attributes of its own.
  auto rule = rules().find(golden.op);
  if (rule == rules().end() || golden.category == "program")
    return std::nullopt;
  return rule->second({inputs, Attrs(golden.attrs)});
}

} // namespace sinter::goldens
