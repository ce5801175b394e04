/// Flags: every SINTER_ environment variable, in one table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sinter {

/// The values of the variables. Fields and documentation stand in Flags.def.
struct Flags {
  using text = std::string;
  using number = int64_t;
  using toggle = bool;
#define SINTER_FLAG(type, field, variable, fallback, summary)                  \
  type field = fallback;
#include "runtime/support/Flags.def"
};

/// One row of the table, for `--help` and docs.
struct FlagInfo {
  std::string_view variable;
  std::string_view type;
  std::string_view fallback;
  std::string_view summary;
};

/// The process's flags, read from the environment at the first call. A value
/// that does not parse is warned about and the default taken.
const Flags &flags();
/// Reads the environment again. For tests; not thread-safe.
void reloadFlags();
std::span<const FlagInfo> flagTable();

} // namespace sinter
