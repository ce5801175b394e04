/// CopyBudget: bounds what is copied out of a flatbuffer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinter::runtime {

/// A flatbuffer may name one table, list or string any number of times, so that
/// a short file would become gigabytes once it is copied. What a writer makes
/// shares nothing, and its copy takes at most three times the file's bytes, but
/// for short files.
class CopyBudget {
public:
  explicit CopyBudget(size_t fileBytes)
      : left(3 * uint64_t(fileBytes) + least) {}

  /// Takes memory for a copy; false when too much was taken.
  bool take(uint64_t bytes) {
    bool fits = bytes <= left;
    left = fits ? left - bytes : 0;
    return fits;
  }

  /// As many tables as fit into a file without sharing: each has an offset of
  /// its own and is reached by one.
  static uint32_t tablesIn(size_t fileBytes) {
    uint64_t most = fileBytes / 8 + 1;
    return most < UINT32_MAX ? uint32_t(most) : UINT32_MAX;
  }

private:
  static constexpr uint64_t least = uint64_t(16) << 20;
  uint64_t left;
};

} // namespace sinter::runtime
