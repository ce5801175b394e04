/// MachineCode: what a device runs of PTX, made by ptxas of the CUDA toolkit
/// where that is found.
///
/// The driver compiles PTX as well, but one module after the other, and takes
/// longer for each. Made code is kept in the disk cache. (nvJitLink takes
/// modules for parts of a larger program: it ignores setmaxnreg and has wgmma
/// wait.)
#pragma once

#include "runtime/files/DiskCache.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace sinter::runtime {

/// The path of ptxas: in PATH, in `bin` under CUDA_HOME and CUDA_PATH, or in
/// /usr/local/cuda/bin. Empty where there is none. Looked for once.
const std::string &assemblerPath();

/// The machine code of modules for one device. Thread-safe.
class MachineCode {
public:
  /// `capability` is the device's: 90 is 9.0.
  explicit MachineCode(int capability,
                       DiskCache disk = DiskCache::fromEnvironment());

  /// A cubin of a PTX module, kept or made. Nothing where there is no ptxas, or
  /// it cannot make it of this text, or makes what the driver refuses.
  std::optional<std::vector<std::byte>> find(std::string_view ptx) const;
  /// The driver, an older one, takes the text and not the code: that is not
  /// made again.
  void refuse(std::string_view ptx) const;

private:
  Key keyOf(std::string_view ptx) const;
  void keep(const Key &key, std::span<const std::byte> code) const;

  int capability;
  DiskCache disk;
  bool keeps;
};

/// The architecture to assemble a module for on such a device: `sm_90a` on one
/// of 9.0 where the module is of that, else `sm_90`.
std::string architectureFor(std::string_view ptx, int capability);

} // namespace sinter::runtime
