/// Convolutions.
#include "frontend/import/onnx/rules/Recorded.h"
#include "frontend/import/onnx/rules/Windows.h"

#include <algorithm>

namespace sinter::onnx {

/// The sizes of a weight's kernel, which an attribute may repeat.
static std::vector<int64_t> kernelOf(Call &call, const Tensor &weight) {
  if (weight.rank() < 3)
    call.invalid("the weight has rank " + std::to_string(weight.rank()));
  std::vector<int64_t> dims = numbersOf(weight);
  std::vector<int64_t> sizes(dims.begin() + 2, dims.end());
  std::vector<int64_t> named = call.integers("kernel_shape");
  if (!named.empty() && named != sizes)
    call.invalid("kernel_shape is not the weight's");
  return sizes;
}

/// The channels are part of what kernels know.
static Tensor withChannels(Call &call, const Tensor &x) {
  if (x.rank() < 3)
    call.invalid("the tensor has rank " + std::to_string(x.rank()));
  fixed(x.dim(1));
  return x;
}

static Tensor convolved(Call &call, const Tensor &x, const Tensor &weight,
                        const Windows &windows) {
  return recorded(graph::OpId::conv,
                  graph::conv(nodeOf(x), nodeOf(weight), windows.sizes,
                              windows.strides, windows.low, windows.high,
                              windows.dilations, call.integer("group"),
                              Layout::channels_first));
}

Tensor plainConv(Call &call) {
  call.sameDTypes();
  Tensor x = withChannels(call, call.tensor(0)), weight = call.tensor(1);
  Windows windows = windowsOf(call, x, kernelOf(call, weight));
  Tensor y = convolved(call, x, weight, windows);
  return call.has(2) ? withBias(y, call.tensor(2)) : y;
}

static void convRule(Call &call) { call.give(plainConv(call)); }

//===- Transposed ---------------------------------------------------------===//

/// The space of the result; sets paddings that the attributes leave open.
static std::vector<int64_t> transposedSpace(Call &call, const Tensor &x,
                                            Windows &windows) {
  size_t rank = windows.rank();
  std::vector<int64_t> more = listOf(call, "output_padding", rank, 0);
  std::vector<int64_t> named = call.integers("output_shape"), space(rank);
  // Some files name the whole shape.
  if (named.size() == rank + 2)
    named.erase(named.begin(), named.begin() + 2);
  if (!named.empty() && named.size() != rank)
    call.invalid("output_shape has another rank");
  std::string automatic = call.text("auto_pad");
  bool isSame = automatic.starts_with("SAME");
  for (size_t i = 0; i < rank; ++i) {
    int64_t extent = fixed(x.dim(int64_t(i) + 2));
    int64_t all =
        (extent - 1) * windows.strides[i] + windows.reach(i) + more[i];
    if (!named.empty() || isSame) {
      space[i] = named.empty() ? extent * windows.strides[i] : named[i];
      // Less than none where windows leave gaps: places that no window reaches
      // stand at both ends then. Rounded down, the odd one is at the end that
      // is named, as in ONNX's own cases.
      int64_t total = all - space[i], half = total >> 1;
      windows.low[i] = automatic == "SAME_UPPER" ? half : total - half;
      windows.high[i] = total - windows.low[i];
    } else {
      space[i] = all - windows.low[i] - windows.high[i];
    }
    if (space[i] < 1)
      call.invalid("a result without elements");
  }
  return space;
}

/// All that the windows reach, from which what is padded is cut; output_padding
/// adds places that hold the bias alone.
static void convTransposeRule(Call &call) {
  call.sameDTypes();
  Tensor x = withChannels(call, call.tensor(0)), weight = call.tensor(1);
  Windows windows = windowsOf(call, x, kernelOf(call, weight));
  std::vector<int64_t> space = transposedSpace(call, x, windows);
  int64_t groups = call.integer("group");
  std::vector<int64_t> none(windows.rank(), 0);
  Dims whole;
  for (size_t i = 0; i < windows.rank(); ++i)
    whole.emplace_back((fixed(x.dim(int64_t(i) + 2)) - 1) * windows.strides[i] +
                       windows.reach(i));
  Tensor y = recorded(
      graph::OpId::conv_transpose,
      graph::conv_transpose(nodeOf(x), nodeOf(weight), windows.sizes,
                            windows.strides, none, none, windows.dilations,
                            groups, whole, Layout::channels_first));
  std::vector<Padding> cut;
  for (size_t i = 0; i < windows.rank(); ++i) {
    int64_t after = space[i] - (whole[i].value - windows.low[i]);
    if (windows.low[i] != 0 || after != 0)
      cut.push_back({int64_t(i) + 2, -windows.low[i], after});
  }
  if (!cut.empty())
    y = pad(y, cut);
  call.give(call.has(2) ? withBias(y, call.tensor(2)) : y);
}

//===- Of integers --------------------------------------------------------===//

static Tensor integerConv(Call &call, const Tensor &x, const Tensor &weight,
                          DType wide) {
  Windows windows = windowsOf(call, x, kernelOf(call, weight));
  return convolved(call, x.to(wide), weight.to(wide), windows);
}

/// The float in which sums of an output's products are exact: of bytes, f32
/// has 2^24 / 2^16 of them, f64 any number.
static DType exactFloat(const Tensor &weight) {
  int64_t products = 1;
  for (int64_t i = 1; i < weight.rank(); ++i)
    products *= fixed(weight.dim(i));
  return products > 256 ? DType::f64 : DType::f32;
}

static void convIntegerRule(Call &call) {
  Tensor x = lessZero(call, call.tensor(0), 2), weight = call.tensor(1);
  weight = lessZero(call, weight, 3, weight.rank() - 1);
  Tensor sum = integerConv(call, x, weight, exactFloat(weight));
  call.give(sum.to(DType::i32));
}

static void qlinearConvRule(Call &call) {
  Tensor x = lessZero(call, call.tensor(0), 2), weight = call.tensor(3);
  weight = lessZero(call, weight, 5, weight.rank() - 1);
  Tensor sum = integerConv(call, x, weight, DType::f32);
  if (call.has(8))
    sum = withBias(sum, call.tensor(8).to(DType::f32));
  Tensor scaleW = call.tensor(4);
  if (scaleW.rank() == 1 && scaleW.dim(0).value != 1)
    scaleW = alongAxis(scaleW, 1, sum.rank());
  Tensor y = sum * (call.tensor(1) * scaleW / call.tensor(6));
  call.give(requantized(y, call.tensor(7)));
}

static constexpr const char *attributes =
    "auto_pad:string=NOTSET dilations:ints group:int=1 kernel_shape:ints "
    "pads:ints strides:ints";

static constexpr Operator rows[] = {
    {"Conv", 1, 0, attributes, convRule},
    {"ConvTranspose", 1, 0,
     "auto_pad:string=NOTSET dilations:ints group:int=1 kernel_shape:ints "
     "output_padding:ints output_shape:ints pads:ints strides:ints",
     convTransposeRule},
    {"ConvInteger", 10, 0, attributes, convIntegerRule},
    {"QLinearConv", 10, 0, attributes, qlinearConvRule},
};

std::span<const Operator> convolutionRows() { return rows; }

} // namespace sinter::onnx
