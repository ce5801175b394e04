/// ChunkedTable: an append-only array that is read without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace sinter {

/// Entries never move and never go away. `append` needs outside locking;
/// `find` and `operator[]` need none, in any thread that got the index from
/// the table or from another thread that synchronized with it.
template <typename T> class ChunkedTable {
public:
  static constexpr size_t chunkSize = 4096;
  static constexpr size_t maxChunks = 8192;

  ChunkedTable() = default;
  ChunkedTable(const ChunkedTable &) = delete;
  ChunkedTable &operator=(const ChunkedTable &) = delete;
  ~ChunkedTable() {
    for (std::atomic<T *> &chunk : chunks)
      delete[] chunk.load(std::memory_order_relaxed);
  }

  size_t size() const { return count.load(std::memory_order_acquire); }

  uint32_t append(const T &value) {
    size_t index = count.load(std::memory_order_relaxed);
    assert(index < chunkSize * maxChunks && "table is full");
    std::atomic<T *> &chunk = chunks[index / chunkSize];
    if (!chunk.load(std::memory_order_relaxed))
      chunk.store(new T[chunkSize], std::memory_order_release);
    chunk.load(std::memory_order_relaxed)[index % chunkSize] = value;
    count.store(index + 1, std::memory_order_release);
    return static_cast<uint32_t>(index);
  }

  /// The entry, or null when there is none.
  const T *find(size_t index) const {
    return index < size() ? &(*this)[index] : nullptr;
  }
  const T &operator[](size_t index) const {
    return chunks[index / chunkSize].load(
        std::memory_order_acquire)[index % chunkSize];
  }

private:
  std::array<std::atomic<T *>, maxChunks> chunks{};
  std::atomic<size_t> count{0};
};

} // namespace sinter
