/// FileKind: what a file is that a reader was given and cannot read.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace sinter {

/// What these bytes, a whole file, look like: `a PyTorch checkpoint (a zip of
/// pickles)`; empty when they look like nothing that is known here.
std::string_view fileKind(std::span<const std::byte> bytes);

/// `WHAT; this is KIND`, or only what when the kind is not known.
std::string otherFile(std::string what, std::span<const std::byte> bytes);

} // namespace sinter
