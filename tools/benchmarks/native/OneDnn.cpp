/// oneDNN: products with their epilogue, rows, column sums and convolutions,
/// with weights in the layout that the primitive asks for.
#include "tools/benchmarks/native/Worker.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <cstring>

using namespace bench;
using namespace dnnl;
using Dims = memory::dims;
using Type = memory::data_type;
using Tag = memory::format_tag;

namespace {
/// What all primitives run on.
struct Machine {
  engine cpu{engine::kind::cpu, 0};
  stream queue{cpu};
};

/// A primitive with its arguments; primitives may follow one another.
class Primitives : public Work {
public:
  void add(const primitive &step, std::unordered_map<int, memory> args) {
    steps.emplace_back(step, std::move(args));
  }
  void run() override {
    for (auto &[step, args] : steps)
      step.execute(machine().queue, args);
    machine().queue.wait();
  }
  std::vector<double> sample(size_t count) override;

  static Machine &machine() {
    static Machine instance;
    return instance;
  }
  memory result;

private:
  std::vector<std::pair<primitive, std::unordered_map<int, memory>>> steps;
};
} // namespace

static const engine &cpu() { return Primitives::machine().cpu; }

static void reorderTo(memory &from, memory &to) {
  reorder(from, to).execute(Primitives::machine().queue, from, to);
  Primitives::machine().queue.wait();
}

std::vector<double> Primitives::sample(size_t count) {
  if (!result)
    return {};
  size_t elements = result.get_desc().get_size();
  if (result.get_desc().data_type() == Type::s32)
    return sampleOf<int32_t>({static_cast<int32_t *>(result.get_data_handle()),
                              elements / sizeof(int32_t)},
                             count);
  memory::desc plain(result.get_desc().dims(), Type::f32,
                     result.get_desc().dims().size() == 4 ? Tag::nhwc
                                                          : Tag::ab);
  memory floats(plain, cpu());
  reorderTo(result, floats);
  return sampleOf<float>({static_cast<float *>(floats.get_data_handle()),
                          plain.get_size() / sizeof(float)},
                         count);
}

//===- Inputs -------------------------------------------------------------===//

static size_t countOf(const Dims &dims) {
  size_t count = 1;
  for (auto dim : dims)
    count *= size_t(dim);
  return count;
}

/// The workers' numbers, of a type and in a layout.
static memory input(const Dims &dims, Tag tag, const memory::desc &as,
                    uint32_t seed, float scale = 1) {
  memory floats({dims, Type::f32, tag}, cpu());
  fill({static_cast<float *>(floats.get_data_handle()), countOf(dims)}, seed,
       scale);
  if (floats.get_desc() == as)
    return floats;
  memory made(as, cpu());
  reorderTo(floats, made);
  return made;
}

/// Small enough that no processor's 16-bit sums of two products overflow.
static memory inputOfBytes(const Dims &dims, const memory::desc &as,
                           uint32_t seed) {
  memory bytes({dims, Type::s8, Tag::ab}, cpu());
  std::vector<int8_t> values = filledBytes(countOf(dims), seed, 50);
  std::memcpy(bytes.get_data_handle(), values.data(), values.size());
  memory made(as, cpu());
  reorderTo(bytes, made);
  return made;
}

using Made = std::unique_ptr<Primitives>;

//===- Products -----------------------------------------------------------===//

static matmul::primitive_desc matmulOf(const Case &c, Type type, Tag weights) {
  int64_t m = c.number("m"), n = c.number("n"), k = c.number("k");
  memory::desc x({m, k}, type, Tag::ab), w({k, n}, type, weights);
  memory::desc y({m, n}, type == Type::s8 ? Type::s32 : type, Tag::ab);
  primitive_attr attributes;
  if (c.number("relu", 0)) {
    post_ops ops;
    ops.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
    attributes.set_post_ops(ops);
  }
  if (!c.number("bias", 0))
    return {matmul::desc(x, w, y), attributes, cpu()};
  memory::desc bias({1, n}, type, Tag::ab);
  return {matmul::desc(x, w, bias, y), attributes, cpu()};
}

static Made product(const Case &c) {
  std::string dtype = c.text("dtype", "f32");
  Type type = dtype == "bf16"  ? Type::bf16
              : dtype == "f16" ? Type::f16
              : dtype == "i8"  ? Type::s8
                               : Type::f32;
  Tag plain = c.number("turned", 0) ? Tag::ba : Tag::ab;
  matmul::primitive_desc chosen =
      matmulOf(c, type, c.number("packed", 0) ? Tag::any : plain);
  int64_t m = c.number("m"), n = c.number("n"), k = c.number("k");
  auto made = std::make_unique<Primitives>();
  made->result = memory(chosen.dst_desc(), cpu());
  bool bytes = type == Type::s8;
  std::unordered_map<int, memory> args{
      {DNNL_ARG_SRC, bytes ? inputOfBytes({m, k}, chosen.src_desc(), 1)
                           : input({m, k}, Tag::ab, chosen.src_desc(), 1)},
      {DNNL_ARG_WEIGHTS,
       bytes ? inputOfBytes({k, n}, chosen.weights_desc(), 2)
             : input({k, n}, plain, chosen.weights_desc(), 2, 0.1f)},
      {DNNL_ARG_DST, made->result}};
  if (c.number("bias", 0))
    args.insert(
        {DNNL_ARG_BIAS, input({1, n}, Tag::ab, {{1, n}, type, Tag::ab}, 3)});
  made->add(matmul(chosen), std::move(args));
  return made;
}

//===- Rows ---------------------------------------------------------------===//

static Made softmax(const Case &c) {
  Dims dims{c.number("rows"), c.number("cols")};
  memory::desc desc(dims, Type::f32, Tag::ab);
  softmax_forward::primitive_desc chosen(
      {prop_kind::forward_inference, desc, 1}, cpu());
  auto made = std::make_unique<Primitives>();
  made->result = memory(desc, cpu());
  made->add(softmax_forward(chosen),
            {{DNNL_ARG_SRC, input(dims, Tag::ab, desc, 1, 4)},
             {DNNL_ARG_DST, made->result}});
  return made;
}

static Made layerNorm(const Case &c) {
  Dims dims{c.number("rows"), c.number("cols")}, row{dims[1]};
  memory::desc desc(dims, Type::f32, Tag::ab), rowDesc(row, Type::f32, Tag::a);
  layer_normalization_forward::primitive_desc chosen(
      {prop_kind::forward_inference, desc, 1e-5f,
       normalization_flags::use_scale | normalization_flags::use_shift},
      cpu());
  auto made = std::make_unique<Primitives>();
  made->result = memory(desc, cpu());
  made->add(layer_normalization_forward(chosen),
            {{DNNL_ARG_SRC, input(dims, Tag::ab, desc, 1, 4)},
             {DNNL_ARG_SCALE, input(row, Tag::a, rowDesc, 2)},
             {DNNL_ARG_SHIFT, input(row, Tag::a, rowDesc, 3)},
             {DNNL_ARG_DST, made->result}});
  return made;
}

static Made gelu(const Case &c) {
  Dims dims{c.number("rows"), c.number("cols")};
  memory::desc desc(dims, Type::f32, Tag::ab);
  algorithm form = c.text("form") == "tanh" ? algorithm::eltwise_gelu_tanh
                                            : algorithm::eltwise_gelu_erf;
  eltwise_forward::primitive_desc chosen(
      {prop_kind::forward_inference, form, desc, 0, 0}, cpu());
  auto made = std::make_unique<Primitives>();
  made->result = memory(desc, cpu());
  made->add(eltwise_forward(chosen),
            {{DNNL_ARG_SRC, input(dims, Tag::ab, desc, 1, 4)},
             {DNNL_ARG_DST, made->result}});
  return made;
}

static Made columnSum(const Case &c) {
  Dims dims{c.number("rows"), c.number("cols")};
  memory::desc desc(dims, Type::f32, Tag::ab);
  memory::desc sum({1, dims[1]}, Type::f32, Tag::ab);
  reduction::primitive_desc chosen(
      reduction::desc(algorithm::reduction_sum, desc, sum, 0, 0), cpu());
  auto made = std::make_unique<Primitives>();
  made->result = memory(sum, cpu());
  made->add(reduction(chosen), {{DNNL_ARG_SRC, input(dims, Tag::ab, desc, 1)},
                                {DNNL_ARG_DST, made->result}});
  return made;
}

//===- Convolutions -------------------------------------------------------===//

namespace {
/// The shapes of a convolution case.
struct Shapes {
  Dims x, w, y, stride, pad;
  bool grouped;

  explicit Shapes(const Case &c) {
    int64_t h = c.number("h"), width = c.number("w"), in = c.number("c");
    int64_t out = c.number("o"), kernel = c.number("kernel");
    int64_t step = c.number("stride", 1), edge = c.number("pad", 0);
    int64_t groups = c.number("groups", 1), batch = c.number("batch", 1);
    auto size = [&](int64_t dim) {
      return (dim + 2 * edge - kernel) / step + 1;
    };
    x = {batch, in, h, width};
    y = {batch, out, size(h), size(width)};
    grouped = groups > 1;
    w = {out, in / groups, kernel, kernel};
    if (grouped)
      w = {groups, out / groups, in / groups, kernel, kernel};
    stride = {step, step};
    pad = {edge, edge};
  }
  Tag weightsTag() const { return grouped ? Tag::goihw : Tag::oihw; }
  memory::desc anyWeights() const { return {w, Type::f32, Tag::any}; }
};
} // namespace

static convolution_forward::primitive_desc forwardOf(const Shapes &s,
                                                     prop_kind kind) {
  return {convolution_forward::desc(kind, algorithm::convolution_direct,
                                    {s.x, Type::f32, Tag::nhwc}, s.anyWeights(),
                                    {s.y, Type::f32, Tag::nhwc}, s.stride,
                                    s.pad, s.pad),
          cpu()};
}

static Made convolution(const Case &c) {
  Shapes s(c);
  auto chosen = forwardOf(s, prop_kind::forward_inference);
  auto made = std::make_unique<Primitives>();
  made->result = memory(chosen.dst_desc(), cpu());
  made->add(convolution_forward(chosen),
            {{DNNL_ARG_SRC, input(s.x, Tag::nhwc, chosen.src_desc(), 1)},
             {DNNL_ARG_WEIGHTS,
              input(s.w, s.weightsTag(), chosen.weights_desc(), 2, 0.1f)},
             {DNNL_ARG_DST, made->result}});
  return made;
}

static Made maxPool(const Case &c) {
  int64_t kernel = c.number("kernel"), step = c.number("stride", 1);
  int64_t edge = c.number("pad", 0);
  Dims x{1, c.number("c"), c.number("h"), c.number("w")}, y = x;
  for (size_t axis : {2, 3})
    y[axis] = (x[axis] + 2 * edge - kernel) / step + 1;
  memory::desc from(x, Type::f32, Tag::nhwc), to(y, Type::f32, Tag::nhwc);
  Dims edges{edge, edge};
  pooling_forward::primitive_desc chosen(
      {prop_kind::forward_inference, algorithm::pooling_max, from, to,
       Dims{step, step}, Dims{kernel, kernel}, edges, edges},
      cpu());
  auto made = std::make_unique<Primitives>();
  made->result = memory(to, cpu());
  made->add(pooling_forward(chosen),
            {{DNNL_ARG_SRC, input(x, Tag::nhwc, from, 1)},
             {DNNL_ARG_DST, made->result}});
  return made;
}

/// Forward, then both gradients for a cotangent that is given.
static Made convolutionStep(const Case &c) {
  Shapes s(c);
  memory::desc x(s.x, Type::f32, Tag::nhwc), y(s.y, Type::f32, Tag::nhwc);
  auto forward = forwardOf(s, prop_kind::forward_training);
  convolution_backward_data::primitive_desc toData(
      {algorithm::convolution_direct, x, s.anyWeights(), y, s.stride, s.pad,
       s.pad},
      cpu(), forward);
  convolution_backward_weights::primitive_desc toWeights(
      {algorithm::convolution_direct, x, s.anyWeights(), y, s.stride, s.pad,
       s.pad},
      cpu(), forward);
  memory source = input(s.x, Tag::nhwc, x, 1);
  memory cotangent = input(s.y, Tag::nhwc, y, 3);
  auto weights = [&](const memory::desc &as) {
    return input(s.w, s.weightsTag(), as, 2, 0.1f);
  };
  auto made = std::make_unique<Primitives>();
  made->result = memory(x, cpu());
  made->add(convolution_forward(forward),
            {{DNNL_ARG_SRC, source},
             {DNNL_ARG_WEIGHTS, weights(forward.weights_desc())},
             {DNNL_ARG_DST, memory(y, cpu())}});
  made->add(convolution_backward_data(toData),
            {{DNNL_ARG_DIFF_DST, cotangent},
             {DNNL_ARG_WEIGHTS, weights(toData.weights_desc())},
             {DNNL_ARG_DIFF_SRC, made->result}});
  made->add(
      convolution_backward_weights(toWeights),
      {{DNNL_ARG_SRC, source},
       {DNNL_ARG_DIFF_DST, cotangent},
       {DNNL_ARG_DIFF_WEIGHTS, memory(toWeights.diff_weights_desc(), cpu())}});
  return made;
}

//===- The side -----------------------------------------------------------===//

static std::unique_ptr<Work> make(const Case &c) {
  static const std::map<std::string, Made (*)(const Case &)> kinds{
      {"matmul", product},
      {"softmax", softmax},
      {"layer_norm", layerNorm},
      {"gelu", gelu},
      {"column_sum", columnSum},
      {"conv2d", convolution},
      {"conv2d_step", convolutionStep},
      {"max_pool", maxPool},
  };
  auto found = kinds.find(c.kind());
  if (found == kinds.end())
    throw Unsupported("no primitive for " + c.kind());
  try {
    return found->second(c);
  } catch (const dnnl::error &error) {
    if (error.status == dnnl_unimplemented)
      throw Unsupported("not on this processor");
    throw;
  }
}

static std::string facts() {
  const version_t *version = dnnl::version();
  return "version=" + std::to_string(version->major) + "." +
         std::to_string(version->minor) + "." + std::to_string(version->patch);
}

int main() { return serve({make, facts}); }
