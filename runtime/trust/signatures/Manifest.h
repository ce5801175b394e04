/// Manifest: what a signature says of a model file.
#pragma once

#include "runtime/trust/TrustHook.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::trust {

/// Bytes as small hexadecimal digits.
std::string hexOf(std::span<const unsigned char> bytes);
/// The bytes of just so many such digits; an error of kind `io` otherwise,
/// which begins with `what`.
Result<std::vector<unsigned char>> bytesOfHex(std::string_view hex, size_t size,
                                              const std::string &what);

/// SHA-256 as hexadecimal digits.
std::string sha256Of(std::span<const std::byte> bytes);

/// A line for each section of the file but its signature, and for each file
/// that it names, with sizes and SHA-256: the same file gives the same text. An
/// error of kind `io` where a file that it names cannot be read.
Result<std::string> manifestOf(const runtime::TrustedFile &file);

/// What differs first, for people: `weights section 0 is not what was signed`.
std::string difference(std::string_view signedText, std::string_view foundText);

} // namespace sinter::trust
