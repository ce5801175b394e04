/// RefusedImage: libraries that are no images of kernels, as Refused.c makes
/// them.
#pragma once

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace sinter::runtime::test {

/// The bytes of one: `constructor`, `relocation`, ...
inline std::vector<std::byte> refusedImage(const std::string &kind) {
  std::string path = SINTER_REFUSED;
  const std::string known = "constructor";
  path.replace(path.rfind(known), known.size(), kind);
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  auto *data = reinterpret_cast<const std::byte *>(bytes.data());
  return {data, data + bytes.size()};
}

} // namespace sinter::runtime::test
