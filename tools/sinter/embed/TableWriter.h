/// TableWriter: the bytes of a plan, part by part.
#pragma once

#include "runtime/embedded/Plan.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::cli {

/// Begins with the plan's own struct, which `finish` fills in.
class TableWriter {
public:
  TableWriter() : bytes(sizeof(embedded::Plan)) {}

  template <typename T> embedded::List<T> add(const std::vector<T> &entries) {
    bytes.resize((bytes.size() + 7) / 8 * 8);
    embedded::List<T> list{uint32_t(bytes.size()), uint32_t(entries.size())};
    append(entries.data(), entries.size() * sizeof(T));
    return list;
  }

  /// Equal texts are one.
  embedded::Text add(std::string_view text) {
    auto [found, isNew] = texts.try_emplace(std::string(text));
    if (isNew) {
      found->second = uint32_t(bytes.size());
      append(found->first.c_str(), text.size() + 1);
    }
    return found->second;
  }

  std::vector<std::byte> finish(const embedded::Plan &plan) {
    std::memcpy(bytes.data(), &plan, sizeof plan);
    return std::move(bytes);
  }

private:
  void append(const void *from, size_t size) {
    auto *first = static_cast<const std::byte *>(from);
    bytes.insert(bytes.end(), first, first + size);
  }

  std::vector<std::byte> bytes;
  std::map<std::string, embedded::Text, std::less<>> texts;
};

} // namespace sinter::cli
