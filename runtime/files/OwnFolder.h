/// OwnFolder: where the runtime library is.
#pragma once

#include <string>

namespace sinter::runtime {

/// The folder of the library, or program, that holds this function: others that
/// belong to it lie beside it.
std::string ownFolder();

} // namespace sinter::runtime
