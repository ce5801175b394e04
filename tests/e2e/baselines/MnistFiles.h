/// MNIST as it is distributed: gzipped IDX files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace baselines {

/// One image and the digit it shows.
struct MnistImage {
  const uint8_t *pixels; ///< 28x28, owned by the set
  int64_t label;
};

/// Images and labels of the files `KIND-images-idx3-ubyte.gz` and
/// `KIND-labels-idx1-ubyte.gz`. Throws std::runtime_error.
class Mnist {
public:
  static constexpr int64_t side = 28;

  Mnist(const std::string &folder, const std::string &kind);
  int64_t size() const { return static_cast<int64_t>(labels.size()); }
  MnistImage get(int64_t index) const {
    return {&pixels[index * side * side], labels[index]};
  }

private:
  std::vector<uint8_t> pixels, labels;
};

} // namespace baselines
