/// Readers of files that are open already; `path` stands in errors.
#pragma once

#include "runtime/files/MappedFile.h"
#include "sinter/runtime/Result.h"

#include <sinter/data/JsonLines.h>
#include <sinter/data/TextFolder.h>

#include <memory>
#include <string>

namespace sinter::data {

Result<std::shared_ptr<const JsonLines::File>>
openJsonLines(runtime::MappedFile mapped, const std::string &path);

std::shared_ptr<const TextLines::File> openLines(runtime::MappedFile mapped);

} // namespace sinter::data
