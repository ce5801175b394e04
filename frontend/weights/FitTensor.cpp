/// Shapes, orders of axes and dtypes of a file against those of a module.
#include "frontend/weights/FitTensor.h"

#include "frontend/Raise.h"
#include "runtime/params/IntegerCasts.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace sinter::detail {

std::string typeText(const WeightInfo &tensor) {
  return typeText(tensor.quantized ? std::string_view(tensor.type)
                                   : name(tensor.dtype),
                  tensor.dims);
}

/// [kernel..., in, out] as [out, in, kernel...].
static std::vector<int64_t> flaxAxes(const WeightInfo &tensor) {
  std::string_view last = tensor.name;
  last.remove_prefix(last.find_last_of("./") + 1); // npos + 1 is 0
  auto rank = int64_t(tensor.dims.size());
  if (last != "kernel" || rank < 2)
    return {};
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  axes[0] = rank - 1;
  axes[1] = rank - 2;
  std::iota(axes.begin() + 2, axes.end(), 0);
  return axes;
}

static std::vector<int64_t> axesOf(const Slot &slot, const WeightInfo &tensor,
                                   const LoadStateOptions &options,
                                   const char *call,
                                   std::source_location where) {
  if (!options.axes)
    return options.layout == WeightLayout::flax ? flaxAxes(tensor)
                                                : std::vector<int64_t>();
  std::vector<int64_t> axes = options.axes(std::string(slot.path), tensor);
  std::vector<int64_t> sorted = axes, all(tensor.dims.size());
  std::ranges::sort(sorted);
  std::iota(all.begin(), all.end(), 0);
  if (!axes.empty() && sorted != all)
    raise(makeError(ErrorKind::invalid_argument,
                    fmt::format("{}: axes [{}] are no order of those of {}, "
                                "which '{}' is",
                                call, fmt::join(axes, ","), typeText(tensor),
                                printableName(tensor.name)),
                    call),
          where);
  return sorted == axes ? std::vector<int64_t>() : axes;
}

static bool isCastable(DType from, DType to, const LoadStateOptions &options) {
  return (isFloat(from) && isFloat(to)) ||
         (options.integers && runtime::isPlainInteger(from) &&
          runtime::isPlainInteger(to));
}

Fit fitTensor(const Slot &slot, const WeightInfo &tensor,
              const LoadStateOptions &options, const char *call,
              std::source_location where) {
  Fit fit;
  fit.form.dtype = tensor.dtype;
  if (slot.isMapped())
    return fit;
  fit.form.axes = axesOf(slot, tensor, options, call, where);
  bool isSame = tensor.dtype == slot.dtype && !tensor.quantized;
  if (orderedDims(tensor.dims, fit.form.axes) != slot.dims)
    fit.why = "shapes differ";
  else if (!isSame && !isCastable(tensor.dtype, slot.dtype, options))
    fit.why = "dtypes differ";
  else if (!isSame && !options.convert)
    fit.why = "dtypes differ, and none is converted";
  fit.form.dtype = slot.dtype;
  fit.isConverted = !isSame;
  return fit;
}

} // namespace sinter::detail
