/// PyTorch's functions that arrange elements, and those that make tensors.
#include "tests/goldens/torch/TorchCall.h"

namespace sinter::goldens {

static Tensors expandTo(const OpCall &c) {
  return {expand(c["x"], dimsOf(c.attrs.list("shape")))};
}
static Tensors reshapeTo(const OpCall &c) {
  return {reshape(c["x"], dimsOf(c.attrs.list("shape")))};
}
static Tensors reshapeAs(const OpCall &c) {
  return {reshape(c["x"], c["other"].shape())};
}
static Tensors meshgridOf(const OpCall &c) {
  return meshgrid(tensorList(c, "xs"), c.attrs.text("indexing") == "xy");
}
static Tensors splitOf(const OpCall &c) {
  int64_t axis = c.attrs.integer("dim");
  if (c.attrs.find("sizes")->is(runtime::json::Kind::array))
    return split(c["x"], c.attrs.list("sizes"), axis);
  return split(c["x"], c.attrs.integer("sizes"), axis);
}
static Tensors narrowOf(const OpCall &c) {
  if (!c.attrs.has("start"))
    refuse("narrow: the start is a tensor");
  return {narrow(c["x"], c.attrs.integer("dim"), c.attrs.integer("start"),
                 c.attrs.integer("length"))};
}
/// As many counts as axes: those that are missing are 1.
static Tensors tileOf(const OpCall &c) {
  std::vector<int64_t> counts = c.attrs.list("dims");
  size_t rank = c["x"].rank();
  if (counts.size() < rank)
    counts.insert(counts.begin(), rank - counts.size(), 1);
  return {repeat(c["x"], counts)};
}
static Tensors transposeOf(const OpCall &c) {
  return {swapaxes(c["x"], c.attrs.integer("dim0"), c.attrs.integer("dim1"))};
}
static Tensors squeezeOf(const OpCall &c) {
  if (!c.attrs.has("dim"))
    return {squeeze(c["x"])};
  return {squeeze(c["x"], c.attrs.integer("dim"))};
}
static Tensors flattenOf(const OpCall &c) {
  return {flatten(c["x"], c.attrs.integer("start_dim"),
                  c.attrs.integer("end_dim", -1))};
}

static TorchTable views() {
  return {
      {"broadcast_to", {"x shape", expandTo}},
      {"expand", {"x shape", expandTo}},
      {"expand_as",
       {"x other",
        [](const OpCall &c) -> Tensors {
          return {expand(c["x"], c["other"].shape())};
        }}},
      {"reshape", {"x shape", reshapeTo}},
      {"view", {"x shape", reshapeTo}},
      {"reshape_as", {"x other", reshapeAs}},
      {"view_as", {"x other", reshapeAs}},
      {"ravel", {"x", flattenOf}},
      {"flatten", {"x start_dim end_dim", flattenOf}},
      {"unflatten",
       {"x dim sizes",
        [](const OpCall &c) -> Tensors {
          return {unflatten(c["x"], c.attrs.integer("dim"),
                            dimsOf(c.attrs.list("sizes")))};
        }}},
      {"squeeze", {"x@ dim", squeezeOf}},
      {"unsqueeze",
       {"x dim",
        [](const OpCall &c) -> Tensors {
          return {unsqueeze(c["x"], c.attrs.integer("dim"))};
        }}},
      {"permute",
       {"x dims",
        [](const OpCall &c) -> Tensors {
          return {permute(c["x"], c.attrs.list("dims"))};
        }}},
      {"transpose", {"x@ dim0 dim1", transposeOf}},
      {"t",
       {"x",
        [](const OpCall &c) -> Tensors {
          return {c["x"].rank() < 2 ? c["x"] : swapaxes(c["x"], 0, 1)};
        }}},
      {"movedim",
       {"x source destination",
        [](const OpCall &c) -> Tensors {
          return {movedim(c["x"], c.attrs.list("source"),
                          c.attrs.list("destination"))};
        }}},
      {"flip",
       {"x dims",
        [](const OpCall &c) -> Tensors {
          return {flip(c["x"], c.attrs.list("dims"))};
        }}},
      {"fliplr",
       {"x", [](const OpCall &c) -> Tensors { return {flip(c["x"], 1)}; }}},
      {"flipud",
       {"x", [](const OpCall &c) -> Tensors { return {flip(c["x"], 0)}; }}},
      {"roll",
       {"x shifts dims",
        [](const OpCall &c) -> Tensors {
          return {roll(c["x"], c.attrs.list("shifts"), c.attrs.list("dims"))};
        }}},
      {"diag_embed", {"x offset"}},
      {"diagonal",
       {"x offset dim1 dim2",
        [](const OpCall &c) -> Tensors {
          return {diagonal(c["x"], c.attrs.integer("offset"),
                           c.attrs.integer("dim1"),
                           c.attrs.integer("dim2", 1))};
        }}},
      {"tril", {"x diagonal"}},
      {"triu", {"x diagonal"}},
      {"nn.functional.pixel_shuffle",
       {"x upscale_factor",
        [](const OpCall &c) -> Tensors {
          return {pixel_shuffle(c["x"], c.attrs.integer("upscale_factor"))};
        }}},
      {"nn.functional.pixel_unshuffle",
       {"x downscale_factor",
        [](const OpCall &c) -> Tensors {
          return {pixel_unshuffle(c["x"], c.attrs.integer("downscale_factor"))};
        }}},
  };
}

static TorchTable parts() {
  return {
      {"cat",
       {"xs dim",
        [](const OpCall &c) -> Tensors {
          Tensors xs = tensorList(c, "xs");
          return {concat(xs, c.attrs.integer("dim"))};
        }}},
      {"stack",
       {"xs dim",
        [](const OpCall &c) -> Tensors {
          Tensors xs = tensorList(c, "xs");
          return {stack(xs, c.attrs.integer("dim"))};
        }}},
      {"chunk",
       {"x chunks dim",
        [](const OpCall &c) -> Tensors {
          return chunk(c["x"], c.attrs.integer("chunks"),
                       c.attrs.integer("dim"));
        }}},
      {"split", {"x sizes dim", splitOf}},
      {"split.list_args", {"x sizes dim", splitOf}},
      {"split_with_sizes", {"x sizes dim", splitOf}},
      {"unbind",
       {"x dim",
        [](const OpCall &c) -> Tensors {
          return unbind(c["x"], c.attrs.integer("dim"));
        }}},
      {"narrow", {"x dim start length", narrowOf}},
      {"narrow_copy", {"x dim start length", narrowOf}},
      {"select",
       {"x dim index",
        [](const OpCall &c) -> Tensors {
          return {
              select(c["x"], c.attrs.integer("dim"), c.attrs.integer("index"))};
        }}},
      {"slice",
       {"x dim start end step",
        [](const OpCall &c) -> Tensors {
          int64_t axis = c.attrs.integer("dim");
          Dims limits = c["x"].shape();
          std::vector<int64_t> starts(limits.size(), 0),
              steps(starts.size(), 1);
          starts[axis] = c.attrs.integer("start");
          steps[axis] = c.attrs.integer("step", 1);
          if (c.attrs.has("end"))
            limits[axis] = c.attrs.integer("end");
          return {slice(c["x"], starts, limits, steps)};
        }}},
      {"repeat",
       {"x counts",
        [](const OpCall &c) -> Tensors {
          return {repeat(c["x"], c.attrs.list("counts"))};
        }}},
      {"tile", {"x dims", tileOf}},
      {"repeat_interleave",
       {"x repeats dim",
        [](const OpCall &c) -> Tensors {
          int64_t count = c.attrs.integer("repeats");
          if (!c.attrs.has("dim"))
            return {repeat_interleave(flatten(c["x"]), count, 0)};
          return {repeat_interleave(c["x"], count, c.attrs.integer("dim"))};
        }}},
      {"unfold",
       {"x dimension size step",
        [](const OpCall &c) -> Tensors {
          int64_t size = c.attrs.integer("size");
          if (c["x"].rank() == 0)
            return {reshape(c["x"], {size})};
          return {unfold(c["x"], c.attrs.integer("dimension"), size,
                         c.attrs.integer("step"))};
        }}},
      {"meshgrid.variadic_tensors", {"xs* indexing", meshgridOf}},
      {"meshgrid.list_of_tensors", {"xs indexing", meshgridOf}},
      {"constant_pad_nd", {"x pad_last_dim_first value", nullptr, "pad"}},
      {"nn.functional.pad.constant",
       {"x pad_last_dim_first mode value", nullptr, "pad"}},
      {"nn.functional.pad.reflect",
       {"x pad_last_dim_first mode", nullptr, "pad"}},
      {"nn.functional.pad.replicate",
       {"x pad_last_dim_first mode", nullptr, "pad"}},
      {"nn.functional.pad.circular",
       {"x pad_last_dim_first mode", nullptr, "pad"}},
  };
}

//===- Making tensors -----------------------------------------------------===//

static Options optionsOf(const OpCall &c) {
  return {c.attrs.dtype("dtype"), {}};
}

/// A tensor of the dtype that the call names, or as it is.
static Tensor typed(const OpCall &c, const Tensor &x) {
  return x.to(c.attrs.dtype("dtype").value_or(x.dtype()));
}
template <DType dtype> static Tensors converted(const OpCall &c) {
  return {c["x"].to(dtype)};
}

/// Of a number that a byte does not hold PyTorch has what C++ leaves undefined.
static Tensors byteOf(const OpCall &c) {
  const Tensor &x = c["x"];
  if (isFloat(x.dtype()) && any((x <= -1) + (x >= 256)).item<bool>())
    refuse("byte: a number that no byte is near");
  return {x.to(DType::u8)};
}

static Tensors arangeOf(const OpCall &c) {
  int64_t start = c.attrs.integer("start"), end = c.attrs.integer("end");
  if (!c.attrs.has("end"))
    std::swap(start, end);
  return {arange(start, end, c.attrs.integer("step", 1), optionsOf(c))};
}
static Tensors eyeOf(const OpCall &c) {
  int64_t rows = c.attrs.integer("n");
  return {eye(rows, c.attrs.integer("m", rows), optionsOf(c))};
}
static Tensors fullOf(const OpCall &c) {
  return {full(dimsOf(c.attrs.list("size")), c.attrs.number("value"),
               {c.attrs.dtype("dtype").value_or(DType::f32), {}})};
}

static TorchTable creation() {
  return {
      {"arange", {"start end step dtype device", arangeOf}},
      {"linspace",
       {"start end steps dtype device",
        [](const OpCall &c) -> Tensors {
          return {linspace(c.attrs.number("start"), c.attrs.number("end"),
                           c.attrs.integer("steps"), optionsOf(c))};
        }}},
      {"eye", {"n m dtype device requires_grad", eyeOf}},
      {"zeros",
       {"size dtype device",
        [](const OpCall &c) -> Tensors {
          return {zeros(dimsOf(c.attrs.list("size")), optionsOf(c))};
        }}},
      {"ones",
       {"size dtype device",
        [](const OpCall &c) -> Tensors {
          return {ones(dimsOf(c.attrs.list("size")), optionsOf(c))};
        }}},
      {"new_zeros",
       {"x size dtype device",
        [](const OpCall &c) -> Tensors {
          return {zeros(dimsOf(c.attrs.list("size")), optionsOf(c))};
        }}},
      {"new_ones",
       {"x size dtype device",
        [](const OpCall &c) -> Tensors {
          return {ones(dimsOf(c.attrs.list("size")), optionsOf(c))};
        }}},
      {"new_full", {"x size value dtype device", fullOf}},
      {"zeros_like",
       {"x dtype device",
        [](const OpCall &c) -> Tensors {
          return {typed(c, zeros_like(c["x"]))};
        }}},
      {"ones_like",
       {"x dtype device",
        [](const OpCall &c) -> Tensors {
          return {typed(c, ones_like(c["x"]))};
        }}},
      {"full_like",
       {"x value dtype device",
        [](const OpCall &c) -> Tensors {
          return {typed(c, full_like(c["x"], c.attrs.number("value")))};
        }}},
      {"fill",
       {"x value",
        [](const OpCall &c) -> Tensors {
          return {full_like(c["x"], c.attrs.number("value"))};
        }}},
      {"zero_",
       {"x", [](const OpCall &c) -> Tensors { return {zeros_like(c["x"])}; }}},
  };
}

static TorchTable conversions() {
  return {
      {"double", {"x", converted<DType::f64>}},
      {"float", {"x", converted<DType::f32>}},
      {"half", {"x", converted<DType::f16>}},
      {"bfloat16", {"x", converted<DType::bf16>}},
      {"bool", {"x", converted<DType::boolean>}},
      {"byte", {"x", byteOf}},
      {"char", {"x", converted<DType::i8>}},
      {"short", {"x", converted<DType::i16>}},
      {"int", {"x", converted<DType::i32>}},
      {"long", {"x", converted<DType::i64>}},
  };
}

TorchTable torchShapes() {
  TorchTable all = views();
  all.merge(parts());
  all.merge(creation());
  all.merge(conversions());
  return all;
}

} // namespace sinter::goldens
