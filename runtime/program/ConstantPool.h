/// ConstantPool: the constants of a loaded file, checked when first used.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/program/CheckedSection.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/ProgramData.h"
#include "runtime/support/Fork.h"
#include "sinter/runtime/Result.h"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

namespace sinter::runtime {

/// What one program uses of the constants section. `make` reads none of it but
/// a section of a single block, which readModel has checked.
class ConstantPool {
public:
  ConstantPool() = default;
  ConstantPool(const ConstantPool &) = delete;
  ConstantPool &operator=(const ConstantPool &) = delete;

  /// Called once, before the program is shared. The file's bytes must outlive
  /// this.
  void open(const ModelFile &file, const ProgramData &program, Device &device);

  /// Makes every constant that the program reads usable: checks the digests of
  /// the blocks that hold them, and copies them to a device that cannot read
  /// the file. Once this succeeded it costs one load. An error of kind `io`
  /// names section and block; the next call tries again. Thread-safe.
  Status prepare();
  /// Address in the device's memory, after `prepare`.
  void *address(uint32_t index) const { return addresses[index]; }

private:
  Status place(uint32_t index, std::span<const std::byte> bytes);

  Device *device = nullptr;
  CheckedSection section;
  std::vector<ConstantData> constants;
  std::vector<uint32_t> used;
  std::vector<void *> addresses;
  std::vector<BufferRef> copies;
  ForkMutex mutex;
  std::atomic<bool> ready{false};
};

} // namespace sinter::runtime
