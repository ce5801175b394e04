/// FileMutator: alters the metadata of a model file and repairs its digests,
/// so that the change reaches the verifier behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sinter::runtime::test {

/// The same file and seed give the same result. Native code stays as it is.
std::vector<std::byte> mutateModel(std::span<const std::byte> file,
                                   uint64_t seed);

} // namespace sinter::runtime::test
