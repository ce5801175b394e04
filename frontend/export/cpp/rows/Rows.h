/// The tables of ops that are written other than as calls, by family.
#pragma once

#include "frontend/export/cpp/OpCode.h"

#include <span>

namespace sinter::cpp {

std::span<const CodeRow> plainRows();
std::span<const CodeRow> imageRows();

} // namespace sinter::cpp
