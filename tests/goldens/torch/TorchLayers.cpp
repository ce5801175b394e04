/// PyTorch's functions of layers: normalizations, gates, windows.
#include "tests/goldens/torch/TorchCall.h"

namespace sinter::goldens {

static Affine affineOf(const OpCall &c) {
  return {given(c, "weight"), given(c, "bias"), c.attrs.number("eps", 1e-5)};
}

/// In the dtype that the call names.
template <Tensor (*function)(const Arg &, int64_t)>
static Tensors alongAxis(const OpCall &c) {
  DType dtype = c.attrs.dtype("dtype").value_or(c["x"].dtype());
  return {function(c["x"].to(dtype), c.attrs.integer("dim"))};
}

static Tensors batchNorm(const OpCall &c) {
  if (c["x"].rank() < 2)
    refuse("batch_norm: there is no axis of channels");
  if (c.attrs.flag("training"))
    return {batch_norm(c["x"], affineOf(c)).y};
  return {batch_norm(c["x"], c["mean"], c["var"], affineOf(c))};
}

static TorchTable norms() {
  return {
      {"softmax", {"x dim dtype", alongAxis<softmax>}},
      {"softmax.with_dtype", {"x dim dtype", alongAxis<softmax>}},
      {"log_softmax", {"x dim dtype", alongAxis<log_softmax>}},
      {"log_softmax.dtype", {"x dim dtype", alongAxis<log_softmax>}},
      {"nn.functional.softmin", {"x dim dtype", alongAxis<softmin>}},
      {"nn.functional.softmin.with_dtype", {"x dim dtype", alongAxis<softmin>}},
      {"nn.functional.glu", {"x dim", alongAxis<glu>}},
      {"nn.functional.batch_norm",
       {"x mean var weight bias training momentum eps", batchNorm}},
      {"nn.functional.layer_norm",
       {"x shape weight bias eps",
        [](const OpCall &c) -> Tensors {
          return {
              layer_norm(c["x"], dimsOf(c.attrs.list("shape")), affineOf(c))};
        }}},
      {"nn.functional.group_norm",
       {"x groups weight bias eps",
        [](const OpCall &c) -> Tensors {
          return {group_norm(c["x"], c.attrs.integer("groups"), affineOf(c))};
        }}},
      {"nn.functional.instance_norm",
       {"x",
        [](const OpCall &c) -> Tensors {
          return {instance_norm(c["x"], affineOf(c))};
        }}},
      {"nn.functional.local_response_norm",
       {"x size alpha beta k",
        [](const OpCall &c) -> Tensors {
          return {local_response_norm(c["x"], c.attrs.integer("size"),
                                      {c.attrs.number("alpha", 1e-4),
                                       c.attrs.number("beta", 0.75),
                                       c.attrs.number("k", 1)})};
        }}},
      {"nn.functional.prelu",
       {"x weight",
        [](const OpCall &c) -> Tensors {
          return {prelu(c["x"], c["weight"])};
        }}},
  };
}

//===- Windows ------------------------------------------------------------===//

static Axes axesOr(const OpCall &c, std::string_view name, const Axes &other) {
  std::vector<int64_t> list = c.attrs.list(name);
  return list.empty() ? other : Axes(list);
}

/// An image may be one alone, without an axis of a batch.
template <size_t spaces> static Tensors avgPool(const OpCall &c) {
  using Pool = Tensor (*)(const Arg &, const Axes &, const AvgPoolOptions &);
  static constexpr Pool pools[] = {avg_pool1d, avg_pool2d, avg_pool3d};
  return {pools[spaces - 1](
      c["x"], c.attrs.list("kernel_size"),
      {.stride = axesOr(c, "stride", {}),
       .padding = axesOr(c, "padding", 0),
       .ceil_mode = c.attrs.flag("ceil_mode"),
       .count_include_pad = c.attrs.flag("count_include_pad", true),
       .divisor = c.attrs.number("divisor_override")})};
}

/// One number for all axes is one for each.
template <int64_t spaces> static Tensors maxPool(const OpCall &c) {
  std::vector<int64_t> kernel = c.attrs.list("kernel_size");
  kernel.resize(spaces, kernel.front());
  auto [y, indices] =
      max_pool_with_indices(c["x"], kernel,
                            {.stride = axesOr(c, "stride", {}),
                             .padding = axesOr(c, "padding", 0),
                             .dilation = axesOr(c, "dilation", 1),
                             .ceil_mode = c.attrs.flag("ceil_mode")});
  return {y, indices};
}

/// One number stands for every axis, `None` for the size that is there.
template <int64_t spaces> static Axes adaptiveSize(const OpCall &c) {
  const Json &size = *c.attrs.find("output_size");
  if (!size.is(runtime::json::Kind::array))
    return std::vector<int64_t>(spaces, c.attrs.integer("output_size"));
  std::vector<int64_t> list;
  for (size_t i = 0; i < size.elements.size(); ++i)
    list.push_back(size.elements[i].is(runtime::json::Kind::null)
                       ? c["x"].dim(int64_t(i) - spaces).value
                       : int64_t(size.elements[i].number));
  return list;
}
template <int64_t spaces> static Tensors adaptiveAvg(const OpCall &c) {
  return {adaptive_avg_pool(c["x"], adaptiveSize<spaces>(c))};
}
template <int64_t spaces> static Tensors adaptiveMax(const OpCall &c) {
  if (c.attrs.flag("return_indices"))
    refuse("adaptive_max_pool: with indices");
  return {adaptive_max_pool(c["x"], adaptiveSize<spaces>(c))};
}

/// Of the size that is given the last axes are space.
template <size_t spaces> static Tensors maxUnpool(const OpCall &c) {
  if (!c.attrs.has("output_size"))
    refuse("max_unpool: without a size");
  Dims size = dimsOf(c.attrs.list("output_size"));
  if (size.size() > spaces)
    size.erase(size.begin(), size.end() - spaces);
  return {max_unpool(c["x"], c["indices"], size)};
}

static TorchTable pools() {
  std::string_view maximum =
      "x kernel_size stride padding dilation ceil_mode return_indices";
  std::string_view average = "x kernel_size stride padding ceil_mode "
                             "count_include_pad divisor_override";
  std::string_view unpool = "x indices kernel_size stride padding output_size";
  std::string_view adaptive = "x output_size return_indices";
  return {
      {"nn.functional.max_pool1d", {maximum, maxPool<1>}},
      {"nn.functional.max_pool2d", {maximum, maxPool<2>}},
      {"nn.functional.max_pool3d", {maximum, maxPool<3>}},
      {"nn.functional.avg_pool1d", {average, avgPool<1>}},
      {"nn.functional.avg_pool2d", {average, avgPool<2>}},
      {"nn.functional.avg_pool3d", {average, avgPool<3>}},
      {"nn.functional.adaptive_avg_pool1d", {"x output_size", adaptiveAvg<1>}},
      {"nn.functional.adaptive_avg_pool2d", {"x output_size", adaptiveAvg<2>}},
      {"nn.functional.adaptive_avg_pool3d", {"x output_size", adaptiveAvg<3>}},
      {"nn.functional.adaptive_max_pool1d", {adaptive, adaptiveMax<1>}},
      {"nn.functional.adaptive_max_pool2d", {adaptive, adaptiveMax<2>}},
      {"nn.functional.adaptive_max_pool3d", {adaptive, adaptiveMax<3>}},
      {"nn.functional.max_unpool1d", {unpool, maxUnpool<1>}},
      {"nn.functional.max_unpool2d", {unpool, maxUnpool<2>}},
      {"nn.functional.max_unpool3d", {unpool, maxUnpool<3>}},
      {"nn.functional.max_unpool1d.grad", {unpool, maxUnpool<1>}},
      {"nn.functional.max_unpool2d.grad", {unpool, maxUnpool<2>}},
      {"nn.functional.max_unpool3d.grad", {unpool, maxUnpool<3>}},
  };
}

static TorchTable convolutions() {
  std::string_view conv = "x weight bias stride padding dilation groups";
  std::string_view transposed =
      "x weight bias stride padding output_padding groups dilation";
  return {
      {"nn.functional.conv1d", {conv}},
      {"nn.functional.conv2d", {conv}},
      {"nn.functional.conv_transpose1d", {transposed}},
      {"nn.functional.conv_transpose2d", {transposed}},
      {"nn.functional.conv_transpose3d", {transposed}},
      {"nn.functional.unfold",
       {"x kernel_size dilation padding stride",
        [](const OpCall &c) -> Tensors {
          return {im2col(c["x"], axesOr(c, "kernel_size", 1),
                         {axesOr(c, "dilation", 1), axesOr(c, "padding", 0),
                          axesOr(c, "stride", 1)})};
        }}},
  };
}

TorchTable torchLayers() {
  TorchTable all = norms();
  all.merge(convolutions());
  all.merge(pools());
  return all;
}

} // namespace sinter::goldens
