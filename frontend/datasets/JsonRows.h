/// A row of the text of a JSON object.
#pragma once

#include "sinter/runtime/Result.h"

#include <sinter/data/Row.h>

#include <string_view>

namespace sinter::data {

/// An `io` error names the place.
Result<Row> jsonRow(std::string_view text, RowPlace place);

} // namespace sinter::data
