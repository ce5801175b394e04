/// FeatureTable: what this processor and its system offer, one by one, without
/// the C++ library.
#pragma once

#include <string_view>

namespace sinter::runtime {

/// Whether code may use a feature here, by LLVM's name.
bool cpuHas(std::string_view name);

/// Visits all that it may use.
void eachCpuFeature(void (*visit)(void *context, std::string_view name),
                    void *context);

} // namespace sinter::runtime
