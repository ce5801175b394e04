/// NumPy's `.npz` files: zip archives of `.npy` files.
#pragma once

#include "runtime/params/Npy.h"
#include "runtime/params/Zip.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sinter::runtime {

/// An array and its name, without `.npy`.
using NamedArray = std::pair<std::string, HostArray>;

/// What all arrays of an archive may take unpacked, unless a caller says more.
inline constexpr uint64_t maxNpzBytes = uint64_t(1) << 34;

/// Reads all arrays in the order of the archive: stored or deflated, as
/// `numpy.savez` and `numpy.savez_compressed` write them. Errors as in
/// `ZipArchive` and `parseNpy`; they name the array.
Result<std::vector<NamedArray>> parseNpz(std::span<const std::byte> file,
                                         uint64_t limit = maxNpzBytes);
/// The same of a file on disk; errors name the path.
Result<std::vector<NamedArray>> readNpz(const std::string &path,
                                        uint64_t limit = maxNpzBytes);

/// Writes the tensors under their names. The file at `path` is replaced at once
/// or stays as it was.
Status writeNpz(const std::string &path, std::span<const NamedTensor> tensors,
                ZipMethod method = ZipMethod::stored);

} // namespace sinter::runtime
