/// FieldMutator: alters fields of a model file's tables by the schema and
/// repairs the digests, so that most results are well formed and wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sinter::runtime::test {

/// What may be altered.
enum class MutatedParts : uint8_t {
  all,
  exceptKernels, ///< kernels keep what they say of their code
};

/// Alters a few fields of a random program section, of the model or debug
/// section, constants, weights or the section table: numbers, lengths of lists,
/// letters, and which table, list or string is named. The same file and seed
/// give the same result. Native code stays as it is.
std::vector<std::byte> mutateFields(std::span<const std::byte> file,
                                    uint64_t seed,
                                    MutatedParts parts = MutatedParts::all);

} // namespace sinter::runtime::test
