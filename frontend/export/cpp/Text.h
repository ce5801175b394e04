/// Text: literals and lines of C++.
#pragma once

#include <sinter/runtime/DType.h>
#include <sinter/runtime/Number.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sinter::cpp {

/// A literal that is read back as the same number of the dtype. Throws an Error
/// where a real number is none of an integer's.
std::string literal(DType dtype, Number number);
/// The same of a number's bits in memory.
std::string literalOfBits(DType dtype, uint64_t bits);
std::string real(double number);
/// `"text"`.
std::string quoted(std::string_view text);
/// `sn::DType::f32`.
std::string dtypeName(DType dtype);
/// `{1, 2}`; one number, where all are the same and `isShort` holds.
std::string list(std::span<const int64_t> numbers, bool isShort = false);

/// A statement or declaration on lines of at most 80 columns where it has
/// places to break; each begins with `indent` spaces, and ends.
std::string lines(std::string_view text, size_t indent);
/// A name for a comment: on one line.
std::string comment(std::string_view text, size_t indent);

} // namespace sinter::cpp
