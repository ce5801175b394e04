/// JsonCell: cells of JSON text, and JSON text of cells.
#pragma once

#include "sinter/runtime/Result.h"

#include <sinter/data/Row.h>

#include <string>
#include <string_view>

namespace sinter::data {

/// One JSON value with nothing but blanks around it (RFC 8259). Whole numbers
/// beyond 64 bits are numbers. Members that come twice, and nesting deeper than
/// 64, are `io` errors, which give the byte and lack the file's name.
Result<Cell> parseJson(std::string_view text);

/// The value in one line. Cells of bytes, and numbers that are none or
/// infinite, have no JSON: an `unsupported` error.
Result<std::string> writeJson(const Cell &cell);

} // namespace sinter::data
