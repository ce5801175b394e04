/// Log: what Sinter tells the person who runs the program.
#pragma once

#include <sinter/runtime/Log.h>

namespace sinter {

/// Installs what messages go to: warnings (`LogLevel::warning`, each distinct
/// text once; `stats().warnings` counts all), and what took over a second, such
/// as a compilation (`LogLevel::info`: what it was, its seconds, the line that
/// asked for it). An empty callback brings the default back, which prints one
/// line on the standard error: warnings always, the rest where that is a
/// terminal, or as SINTER_LOG says (info, warning, off).
///
/// The callback is called on the thread where a message arises, which may be a
/// thread of Sinter's, and by several at once. It may record tensors and call
/// `set_log`; asking for a value there is an Error. What it throws is dropped,
/// and what arises on its thread while it runs is printed as by default.
inline void set_log(LogCallback callback) { setLog(std::move(callback)); }

} // namespace sinter
