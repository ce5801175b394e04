/// Buffer: one reference-counted block of device memory.
#pragma once

#include <sinter/runtime/DType.h>
#include <sinter/runtime/DeviceId.h>
#include <sinter/runtime/Error.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace sinter::runtime {

class Device;

/// What a buffer was made for, as errors say it.
struct TensorOrigin {
  DType dtype = DType::f32;
  SiteId site = 0; ///< 0: no line of the user's
};

/// A block of memory, dense, freed to its device's allocator with the last
/// reference; from there it is 256-byte aligned. Its contents may be
/// overwritten in place only by an executor that was granted a donation, or by
/// a copy into it; `version` then grows.
class Buffer {
public:
  /// Ends a buffer with its last reference.
  using End = void (*)(Buffer *);
  /// `end`: where the memory is not the device's allocator's; null where it is.
  Buffer(Device &device, void *data, size_t bytes, End end = nullptr);
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  Device &device() const { return *owner; }
  /// No other buffer of the process has or had this number.
  uint64_t id() const { return number; }
  void *data() const { return address; }
  size_t bytes() const { return size; }
  /// Whether the memory is somebody else's: no donation is granted.
  bool isBorrowed() const { return end != nullptr; }
  uint64_t version() const { return writes.load(std::memory_order_acquire); }
  void bumpVersion() { writes.fetch_add(1, std::memory_order_acq_rel); }

  void retain() { refs.fetch_add(1, std::memory_order_relaxed); }
  void release(); ///< frees through the device, or `end`, at zero
  uint32_t useCount() const { return refs.load(std::memory_order_acquire); }

  /// The first caller's origin stays. Thread-safe, as is `origin`.
  void setOrigin(TensorOrigin origin) {
    uint64_t none = 0;
    uint64_t word = uint64_t(1) << 63 | uint64_t(origin.dtype) << 32 |
                    uint64_t(origin.site);
    made.compare_exchange_strong(none, word, std::memory_order_relaxed);
  }
  std::optional<TensorOrigin> origin() const {
    uint64_t word = made.load(std::memory_order_relaxed);
    if (word == 0)
      return std::nullopt;
    return TensorOrigin{DType(word >> 32 & 0xff), SiteId(word)};
  }

private:
  Device *owner;
  void *address;
  size_t size;
  const uint64_t number;
  const End end;
  std::atomic<uint64_t> writes{0};
  std::atomic<uint32_t> refs{1};
  std::atomic<uint64_t> made{0};
};

/// Owning pointer to a Buffer.
class BufferRef {
public:
  BufferRef() = default;
  /// Takes over one reference.
  static BufferRef adopt(Buffer *buffer) {
    BufferRef ref;
    ref.pointer = buffer;
    return ref;
  }
  BufferRef(const BufferRef &other) : pointer(other.pointer) {
    if (pointer)
      pointer->retain();
  }
  BufferRef(BufferRef &&other) noexcept
      : pointer(std::exchange(other.pointer, nullptr)) {}
  BufferRef &operator=(BufferRef other) noexcept {
    std::swap(pointer, other.pointer);
    return *this;
  }
  ~BufferRef() {
    if (pointer)
      pointer->release();
  }
  Buffer *get() const { return pointer; }
  Buffer *operator->() const { return pointer; }
  Buffer &operator*() const { return *pointer; }
  explicit operator bool() const { return pointer != nullptr; }
  bool operator==(const BufferRef &) const = default;

private:
  Buffer *pointer = nullptr;
};

} // namespace sinter::runtime
