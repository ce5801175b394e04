/// Golden cases of windows: convolutions, pooling, and models of them.
#include "tests/goldens/Attrs.h"
#include "tests/goldens/Ops.h"

namespace sinter::goldens {

namespace {

/// A case's inputs by name, and its attributes.
struct Call {
  const Values &inputs;
  Attrs attrs;

  bool has(std::string_view name) const { return inputs.contains(name); }
  const Tensor &operator[](std::string_view name) const {
    return inputs.find(name)->second;
  }
  Axes axes(std::string_view key, const Axes &otherwise) const {
    return attrs.has(key) ? Axes(attrs.list(key)) : otherwise;
  }
  /// Space axes of an image [n, c, space...].
  int64_t spaces() const { return (*this)["x"].rank() - 2; }
  /// The same by the weight: an image may be one alone, [c, space...].
  int64_t spacesOfWeight() const { return (*this)["weight"].rank() - 2; }
};

using Rule = Values (*)(const Call &call);
using Table = std::map<std::string, Rule, std::less<>>;

} // namespace

/// Which of three functions speaks of an image with this many axes.
template <typename Function>
static Function ofRank(int64_t spaces, Function one, Function two,
                       Function three) {
  return spaces == 1 ? one : spaces == 2 ? two : three;
}

static Values convOf(const Call &call) {
  ConvOptions options;
  options.stride = call.axes("stride", 1);
  options.dilation = call.axes("dilation", 1);
  options.groups = call.attrs.integer("groups", 1);
  options.same = call.attrs.text("padding") == "same";
  if (!options.same)
    options.padding = call.axes("padding", 0);
  using Plain = Tensor (*)(const Arg &, const Arg &, const ConvOptions &);
  using Biased =
      Tensor (*)(const Arg &, const Arg &, const Arg &, const ConvOptions &);
  if (call.has("bias"))
    return {{"y", ofRank<Biased>(call.spacesOfWeight(), conv1d, conv2d, conv3d)(
                      call["x"], call["weight"], call["bias"], options)}};
  return {{"y", ofRank<Plain>(call.spacesOfWeight(), conv1d, conv2d,
                              conv3d)(call["x"], call["weight"], options)}};
}

static Values convTransposeOf(const Call &call) {
  ConvTransposeOptions options;
  options.stride = call.axes("stride", 1);
  options.padding = call.axes("padding", 0);
  options.output_padding = call.axes("output_padding", 0);
  options.dilation = call.axes("dilation", 1);
  options.groups = call.attrs.integer("groups", 1);
  using Plain =
      Tensor (*)(const Arg &, const Arg &, const ConvTransposeOptions &);
  using Biased = Tensor (*)(const Arg &, const Arg &, const Arg &,
                            const ConvTransposeOptions &);
  if (call.has("bias"))
    return {{"y", ofRank<Biased>(call.spacesOfWeight(), conv_transpose1d,
                                 conv_transpose2d, conv_transpose3d)(
                      call["x"], call["weight"], call["bias"], options)}};
  return {{"y", ofRank<Plain>(call.spacesOfWeight(), conv_transpose1d,
                              conv_transpose2d, conv_transpose3d)(
                    call["x"], call["weight"], options)}};
}

static Values maxPoolOf(const Call &call) {
  PoolOptions options;
  options.stride = call.axes("stride", {});
  options.padding = call.axes("padding", 0);
  options.dilation = call.axes("dilation", 1);
  options.ceil_mode = call.attrs.flag("ceil_mode");
  auto [y, indices] =
      max_pool_with_indices(call["x"], call.axes("kernel_size", 1), options);
  return {{"y", y}, {"indices", indices}};
}

static Values avgPoolOf(const Call &call) {
  AvgPoolOptions options;
  options.stride = call.axes("stride", {});
  options.padding = call.axes("padding", 0);
  options.ceil_mode = call.attrs.flag("ceil_mode");
  options.count_include_pad = call.attrs.flag("count_include_pad");
  options.divisor = call.attrs.number("divisor_override", 0);
  using Pool = Tensor (*)(const Arg &, const Axes &, const AvgPoolOptions &);
  return {{"y", ofRank<Pool>(call.spaces(), avg_pool1d, avg_pool2d, avg_pool3d)(
                    call["x"], call.axes("kernel_size", 1), options)}};
}

static Values adaptiveOf(const Call &call) {
  Axes size = call.attrs.list("output_size");
  return {{"y", call.attrs.text("which") == "max"
                    ? adaptive_max_pool(call["x"], size)
                    : adaptive_avg_pool(call["x"], size)}};
}

static Values maxUnpoolOf(const Call &call) {
  Dims size = call["y"].shape();
  size.erase(size.begin(), size.begin() + 2);
  for (Dim &dim : size)
    dim = dim * Dim(call.attrs.integer("kernel"));
  return {{"y", max_unpool(call["y"], call["indices"], size)}};
}

static ConvOptions foldOptions(const Call &call) {
  ConvOptions options;
  options.stride = call.axes("stride", 1);
  options.padding = call.axes("padding", 0);
  options.dilation = call.axes("dilation", 1);
  return options;
}

//===- Models -------------------------------------------------------------===//

static Values lenet(const Call &call) {
  Tensor x = conv2d(call["x"], call["p.c1.weight"], call["p.c1.bias"]);
  x = max_pool2d(tanh(x), 2);
  x = conv2d(x, call["p.c2.weight"], call["p.c2.bias"], {.padding = 1});
  x = avg_pool2d(relu(x), 2);
  x = matmul(reshape(x, {x.dim(0), -1}),
             transpose(call["p.f.weight"], {1, 0})) +
      call["p.f.bias"];
  return {{"loss", cross_entropy(x, call["target"])}};
}

static Tensor batchNorm(const Call &call, const Tensor &x,
                        const std::string &name) {
  auto column = [&](const char *field) {
    return reshape(call[name + field], {-1, 1, 1});
  };
  Axes others{0, 2, 3};
  Tensor centered = x - mean(x, others, true);
  Tensor scale = rsqrt(mean(square(centered), others, true) + 1e-5);
  return centered * scale * column(".weight") + column(".bias");
}

static Values residualBlock(const Call &call) {
  Axes stride = call.attrs.integer("stride");
  const Tensor &x = call["x"];
  Tensor y =
      conv2d(x, call["p.conv1.weight"], {.stride = stride, .padding = 1});
  y = relu(batchNorm(call, y, "p.bn1"));
  y = conv2d(y, call["p.conv2.weight"], {.padding = 1});
  y = batchNorm(call, y, "p.bn2");
  return {
      {"y", relu(y + conv2d(x, call["p.down.weight"], {.stride = stride}))}};
}

/// sum(log(1 + exp(conv2d(x, w)))), its gradient, and that of its product
/// with v.
static Values hessianProduct(const Call &call) {
  Tensor x = call["x"].detach();
  x.require_grad();
  Tensor y = conv2d(x, call["w"], {.padding = 1});
  Tensor gradient = grad(sum(log(exp(y) + 1)), {x})[0];
  Tensor hvp = grad(sum(gradient * call["v"]), {x})[0];
  return {{"gradient", gradient}, {"hvp", hvp}};
}

static const Table &rules() {
  static const Table table = {
      {"conv1d", convOf},
      {"conv2d", convOf},
      {"conv3d", convOf},
      {"conv2d_resnet_sized", convOf},
      {"half_conv2d",
       [](const Call &c) -> Values {
         return {{"y", conv2d(c["x"], c["weight"], {.padding = 1})}};
       }},
      {"conv_transpose1d", convTransposeOf},
      {"conv_transpose2d", convTransposeOf},
      {"conv_transpose3d", convTransposeOf},
      {"max_pool1d", maxPoolOf},
      {"max_pool2d", maxPoolOf},
      {"max_pool3d", maxPoolOf},
      {"avg_pool1d", avgPoolOf},
      {"avg_pool2d", avgPoolOf},
      {"avg_pool3d", avgPoolOf},
      {"adaptive_pool1d", adaptiveOf},
      {"adaptive_pool2d", adaptiveOf},
      {"adaptive_pool3d", adaptiveOf},
      {"max_unpool2d", maxUnpoolOf},
      {"lp_pool2d",
       [](const Call &c) -> Values {
         return {
             {"y", lp_pool2d(c["x"], c.attrs.number("p"), c.axes("kernel", 1),
                             {.stride = c.axes("stride", {})})}};
       }},
      {"unfold_im2col",
       [](const Call &c) -> Values {
         return {
             {"y", unfold(c["x"], c.axes("kernel_size", 1), foldOptions(c))}};
       }},
      {"fold_col2im",
       [](const Call &c) -> Values {
         return {{"y", fold(c["x"], dimsOf(c.attrs.list("output_size")),
                            c.axes("kernel_size", 1), foldOptions(c))}};
       }},
      {"window_unfold",
       [](const Call &c) -> Values {
         return {{"y",
                  window(c["x"], c.attrs.integer("dim"),
                         c.attrs.integer("size"), c.attrs.integer("step"), 1)}};
       }},
      {"lenet_like", lenet},
      {"resnet_block", residualBlock},
      {"hvp_conv2d_softplus", hessianProduct},
  };
  return table;
}

std::optional<Values> recordWindowed(const Case &golden, const Values &inputs) {
  auto rule = rules().find(golden.op);
  if (rule == rules().end())
    return std::nullopt;
  return rule->second({inputs, Attrs(golden.attrs)});
}

} // namespace sinter::goldens
