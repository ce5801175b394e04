/// Windows as ONNX says them.
#include "frontend/import/onnx/rules/Windows.h"

#include <algorithm>

namespace sinter::onnx {

std::vector<int64_t> listOf(Call &call, const char *name, size_t rank,
                            int64_t otherwise) {
  std::vector<int64_t> list = call.integers(name);
  if (list.empty())
    list.assign(rank, otherwise);
  if (list.size() != rank)
    call.invalid(std::string(name) + " has " + std::to_string(list.size()) +
                 " numbers for " + std::to_string(rank) + " axes");
  return list;
}

static void checkNumbers(Call &call, const Windows &windows) {
  for (size_t i = 0; i < windows.rank(); ++i) {
    for (int64_t each :
         {windows.sizes[i], windows.strides[i], windows.dilations[i]})
      if (each < 1 || each > mostFactor)
        call.invalid("a kernel, stride or dilation of " + std::to_string(each));
    if (windows.low[i] < 0 || windows.high[i] < 0)
      call.unsupported("paddings that take away");
    if (std::max(windows.low[i], windows.high[i]) > mostFactor)
      call.invalid("a padding that is too large");
  }
}

/// Paddings with which the space is divided by the strides, rounded up.
static void padToSame(Call &call, Windows &windows, const Tensor &x,
                      bool isUpper) {
  checkNumbers(call, windows);
  for (size_t i = 0; i < windows.rank(); ++i) {
    int64_t extent = fixed(x.dim(int64_t(i) + 2)), stride = windows.strides[i];
    int64_t count = (extent + stride - 1) / stride;
    int64_t total =
        std::max<int64_t>((count - 1) * stride + windows.reach(i) - extent, 0);
    windows.low[i] = isUpper ? total / 2 : total - total / 2;
    windows.high[i] = total - windows.low[i];
  }
}

Windows windowsOf(Call &call, const Tensor &x, std::vector<int64_t> sizes) {
  Windows windows;
  size_t rank = sizes.size();
  if (rank == 0 || x.rank() != int64_t(rank) + 2)
    call.invalid("a tensor of rank " + std::to_string(x.rank()) +
                 " with a kernel of " + std::to_string(rank) + " axes");
  windows.sizes = std::move(sizes);
  windows.strides = listOf(call, "strides", rank, 1);
  windows.dilations = listOf(call, "dilations", rank, 1);
  std::vector<int64_t> pads = listOf(call, "pads", 2 * rank, 0);
  windows.low.assign(pads.begin(), pads.begin() + int64_t(rank));
  windows.high.assign(pads.begin() + int64_t(rank), pads.end());
  std::string automatic = call.text("auto_pad");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER")
    padToSame(call, windows, x, automatic == "SAME_UPPER");
  else if (automatic == "VALID")
    windows.low = windows.high = std::vector<int64_t>(rank, 0);
  else if (automatic != "NOTSET" && !automatic.empty())
    call.invalid("auto_pad '" + automatic + "'");
  checkNumbers(call, windows);
  return windows;
}

Tensor withBias(const Tensor &y, const Tensor &bias) {
  return y + alongAxis(bias, 1, y.rank());
}

} // namespace sinter::onnx
