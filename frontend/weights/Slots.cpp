/// Fields as files see them.
#include "frontend/weights/Slots.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sinter::detail {

std::vector<int64_t> extentsOf(const Dims &dims) {
  std::vector<int64_t> values;
  for (Dim dim : dims)
    values.push_back(dim.value);
  return values;
}

std::vector<Slot> slotsOf(const Fields &fields, Constants constants) {
  std::vector<Slot> slots;
  slots.reserve(fields.params.size() + fields.tensors.size());
  for (const auto &[path, param] : fields.params)
    slots.push_back({path, param->dtype(), extentsOf(param->shape()),
                     param->device(), param, nullptr});
  if (constants == Constants::no)
    return slots;
  for (const auto &[path, tensor] : fields.tensors)
    slots.push_back({path, tensor->dtype(), extentsOf(tensor->shape()),
                     tensor->device(), nullptr, tensor});
  return slots;
}

std::string typeText(std::string_view type, std::span<const int64_t> dims) {
  return fmt::format("{}[{}]", type, fmt::join(dims, ","));
}

std::string typeText(DType dtype, std::span<const int64_t> dims) {
  return typeText(name(dtype), dims);
}

} // namespace sinter::detail
