/// PackModel: a model's description as the flatbuffer of its section.
#pragma once

#include "runtime/program/ModelInfo.h"

#include <cstddef>
#include <vector>

namespace sinter::runtime {

std::vector<std::byte> packModel(const ModelInfo &info);

} // namespace sinter::runtime
