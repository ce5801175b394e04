/// The page of `sinter report`: one file that needs nothing else.
#pragma once

#include <string>
#include <string_view>

namespace sinter::cli {

/// The page with a document of JSON in it, whatever its strings hold.
std::string pageOf(std::string_view json);

} // namespace sinter::cli
