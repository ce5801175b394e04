/// The error value that every layer of the runtime passes upward.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sinter {

/// What kind of failure happened; decides who has to act.
enum class ErrorKind : uint8_t {
  invalid_argument, ///< the caller's mistake: shapes, dtypes, axes, values
  unsupported,      ///< a legal request that this build or target cannot do
  compile,          ///< the compiler could not produce a program
  device,           ///< a device is missing, lost or returned a failure
  out_of_memory,    ///< a memory budget or the machine is exhausted
  io,               ///< a file could not be read, written or trusted
  cancelled,        ///< the work was stopped by a CancelToken
  internal,         ///< a broken invariant of Sinter itself
};

/// The kind's name as printed, e.g. `invalid_argument`.
std::string_view toString(ErrorKind kind);

/// Index into the process-wide table of source lines; 0 means unknown.
using SiteId = uint32_t;

/// One failure. `message` names the op first, in lower case, without a full
/// stop, and shows the shapes: `matmul: inner dimensions differ: f32[4,8] x
/// f32[16,2]`.
struct ErrorInfo {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
  std::string op;                  ///< mnemonic, empty when no op is involved
  std::vector<std::string> shapes; ///< operand types as printed, in order
  SiteId site = 0;                 ///< the user's line, 0 when unknown
  /// The node of the program's graph whose kernel failed, for who knows lines.
  uint32_t node = UINT32_MAX;
};

} // namespace sinter
