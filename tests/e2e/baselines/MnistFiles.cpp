/// MNIST as it is distributed: gzipped IDX files.
#include "tests/e2e/baselines/MnistFiles.h"

#include <stdexcept>
#include <zlib.h>

namespace baselines {

static std::vector<uint8_t> unpack(const std::string &path) {
  gzFile file = ::gzopen(path.c_str(), "rb");
  if (!file)
    throw std::runtime_error(path + ": cannot open");
  std::vector<uint8_t> bytes;
  uint8_t buffer[1 << 16];
  int count = 0;
  while ((count = ::gzread(file, buffer, sizeof(buffer))) > 0)
    bytes.insert(bytes.end(), buffer, buffer + count);
  ::gzclose(file);
  if (count < 0)
    throw std::runtime_error(path + ": damaged");
  return bytes;
}

/// The elements of an IDX file of bytes, behind its `rank` dims, of which all
/// but the first fill `width` bytes.
static std::vector<uint8_t> readIdx(const std::string &path, size_t rank,
                                    size_t width) {
  std::vector<uint8_t> bytes = unpack(path);
  size_t header = 4 + 4 * rank;
  if (bytes.size() < header || bytes[2] != 8 || bytes[3] != rank)
    throw std::runtime_error(path + ": no IDX file of bytes");
  size_t count = 0;
  for (size_t i = 4; i < 8; ++i)
    count = count << 8 | bytes[i];
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(header));
  if (bytes.size() != count * width)
    throw std::runtime_error(path + ": wrong size");
  return bytes;
}

Mnist::Mnist(const std::string &folder, const std::string &kind)
    : pixels(readIdx(folder + "/" + kind + "-images-idx3-ubyte.gz", 3,
                     side * side)),
      labels(readIdx(folder + "/" + kind + "-labels-idx1-ubyte.gz", 1, 1)) {
  if (pixels.size() != labels.size() * side * side)
    throw std::runtime_error(folder + ": images and labels do not match");
}

} // namespace baselines
