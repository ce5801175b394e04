/// UploadPool: new buffers of a GPU, filled beside its work.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/cuda/Driver.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace sinter::runtime {

/// The host writes pinned memory, and a stream of copies alone takes it from
/// there. The stream of the work waits for the copy, and the copy for nothing
/// that was queued there lately: buffers have memory of their own, which comes
/// back with their last reference, and a copy into it waits for the work of
/// that moment alone. Thread-safe.
class UploadPool {
public:
  UploadPool(const cuda::Driver &driver, cuda::Context context,
             cuda::Stream work)
      : driver(driver), context(context), work(work) {}
  UploadPool(const UploadPool &) = delete;

  /// Room for `bytes` of a buffer of `device`, whose work is the pool's.
  Result<std::unique_ptr<Upload>> begin(Device &device, size_t bytes);

private:
  friend class CudaUpload;
  friend struct UploadedBuffer;

  /// Pinned memory. It may be written again after `taken`.
  struct Pinned {
    std::byte *memory = nullptr;
    size_t bytes = 0;
    cuda::DriverEvent taken = nullptr;
    bool isQueued = false; ///< `taken` was recorded
  };
  /// Memory of the device. It may be written again after `freed`.
  struct Block {
    BufferRef memory;
    cuda::DriverEvent freed = nullptr;
  };

  cuda::Code open();
  cuda::Code takePinned(size_t bytes, Pinned &pinned);
  Result<Block> takeBlock(Device &device, size_t bytes);
  void giveBack(Pinned pinned);
  void giveBack(Block block);
  void drop(Pinned &pinned);
  void drop(Block &block);
  Result<BufferRef> send(Device &device, Pinned &pinned, size_t bytes);

  const cuda::Driver &driver;
  const cuda::Context context;
  const cuda::Stream work;
  std::mutex mutex;
  cuda::Stream copies = nullptr; ///< made with the first upload
  std::vector<Pinned> pinned;    ///< that nobody writes; the oldest first
  std::vector<Block> blocks;     ///< that no buffer has; the oldest first
};

} // namespace sinter::runtime
