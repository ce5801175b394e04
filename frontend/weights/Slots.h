/// Slots: the tensors below a module, as files see them.
#pragma once

#include <sinter/Fields.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::detail {

/// What the metadata of our files calls a parameter's record id, before its
/// path.
inline constexpr std::string_view recordKey = "sinter.record.";

struct Slot {
  std::string_view path;
  DType dtype;
  std::vector<int64_t> dims;
  DeviceId device;
  Param *param = nullptr; ///< one of the two
  Tensor *tensor = nullptr;

  /// Whether the file's tensor may be of another type than this.
  bool isMapped() const { return param && param->mapper().has_load(); }
};

/// What is saved, and what is read: of constants what a file happens to have.
/// Files held them once.
enum class Constants : uint8_t { no, yes };

/// In the order of the fields; they live as long as these.
std::vector<Slot> slotsOf(const Fields &fields, Constants constants);

std::vector<int64_t> extentsOf(const Dims &dims);

/// As printed: `f32[4,8]`.
std::string typeText(std::string_view type, std::span<const int64_t> dims);
std::string typeText(DType dtype, std::span<const int64_t> dims);

} // namespace sinter::detail
