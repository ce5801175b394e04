/// PyTorch's functions that read and write by position.
#include "tests/goldens/torch/TorchCall.h"

namespace sinter::goldens {

/// With `reduce` it folds, which has a name of its own here.
static Tensors scatterOf(const OpCall &c) {
  Tensor updates = operand(c, "src");
  if (updates.rank() == 0)
    updates = expand(updates, c["index"].shape());
  return {scatter(c["x"], c["index"], updates, c.attrs.integer("dim"))};
}

static Tensors scatterReduceOf(const OpCall &c) {
  static const std::map<std::string, ScatterReduce> ways = {
      {"sum", ScatterReduce::sum},   {"prod", ScatterReduce::prod},
      {"mean", ScatterReduce::mean}, {"amax", ScatterReduce::amax},
      {"amin", ScatterReduce::amin},
  };
  auto way = ways.find(c.attrs.text("reduce"));
  if (way == ways.end())
    refuse("no such fold: " + c.attrs.text("reduce"));
  return {scatter_reduce(c["x"], c.attrs.integer("dim"), c["index"], c["src"],
                         way->second, c.attrs.flag("include_self", true))};
}

/// Without an axis the positions count in all elements.
static Tensors takeAlong(const OpCall &c) {
  if (!c.attrs.has("dim"))
    return {gather(flatten(c["x"]), flatten(c["index"]), 0)};
  int64_t axis = c.attrs.integer("dim");
  Dims shape = c["index"].shape();
  shape[axis] = c["x"].dim(axis);
  return {gather(expand(c["x"], shape), c["index"], axis)};
}

static Tensors indexPutOf(const OpCall &c) {
  return {index_put(c["x"], tensorList(c, "indices"), c["values"],
                    c.attrs.flag("accumulate"))};
}

static Tensors embeddingOf(const OpCall &c) {
  if (!c.attrs.has("padding_idx"))
    return {embedding(c["weight"], c["index"])};
  int64_t padding = c.attrs.integer("padding_idx");
  if (padding < 0)
    padding += c["weight"].dim(0).value;
  return {embedding(c["weight"], c["index"], padding)};
}

/// bucketize is searchsorted with its tensors the other way round.
static Tensors searchOf(const OpCall &c) {
  Tensor found = searchsorted(c["seq"], c["v"], c.attrs.flag("right"));
  return {c.attrs.flag("out_int32") ? found.to(DType::i32) : found};
}

TorchTable torchIndexing() {
  std::string_view reducing = "x@ dim index@ src@ reduce include_self";
  return {
      {"gather",
       {"x@ dim index@",
        [](const OpCall &c) -> Tensors {
          return {gather(c["x"], c["index"], c.attrs.integer("dim"))};
        }}},
      {"take_along_dim", {"x index dim", takeAlong}},
      {"scatter", {"x@ dim index@ src@", scatterOf}},
      {"scatter_add",
       {"x@ dim index@ src@",
        [](const OpCall &c) -> Tensors {
          return {scatter_add(c["x"], c["index"], c["src"],
                              c.attrs.integer("dim"))};
        }}},
      {"scatter_reduce.sum", {reducing, scatterReduceOf}},
      {"scatter_reduce.prod", {reducing, scatterReduceOf}},
      {"scatter_reduce.mean", {reducing, scatterReduceOf}},
      {"scatter_reduce.amax", {reducing, scatterReduceOf}},
      {"scatter_reduce.amin", {reducing, scatterReduceOf}},
      {"index_add",
       {"x@ dim index src@ alpha",
        [](const OpCall &c) -> Tensors {
          return {index_add(c["x"], c.attrs.integer("dim"), c["index"],
                            c["src"], c.attrs.number("alpha", 1))};
        }}},
      {"index_select",
       {"x@ dim index",
        [](const OpCall &c) -> Tensors {
          return {index_select(c["x"], c["index"], c.attrs.integer("dim"))};
        }}},
      {"index_put", {"x indices values accumulate", indexPutOf}},
      {"masked_select",
       {"x mask",
        [](const OpCall &c) -> Tensors {
          return {masked_select(c["x"], c["mask"])};
        }}},
      {"take",
       {"x index",
        [](const OpCall &c) -> Tensors { return {take(c["x"], c["index"])}; }}},
      {"searchsorted", {"seq v out_int32 right", searchOf}},
      {"bucketize", {"v seq out_int32 right", searchOf}},
      {"nn.functional.embedding", {"weight index padding_idx", embeddingOf}},
  };
}

} // namespace sinter::goldens
