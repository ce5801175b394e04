/// Folders of this test, and how near a tensor is to one of transformers.
#pragma once

#include <sinter/Basic.h>
#include <sinter/HuggingFace.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace sinter::hf_test {

inline std::string folderOf(const std::string &name) {
  return std::string(SINTER_HF_FOLDERS) + "/" + name;
}

/// Inputs and outputs that transformers had.
inline StateDict goldenOf(const std::string &name) {
  return read_state(folderOf(name) + "/golden.safetensors");
}

/// The largest difference, by the largest element of what was expected. Rows
/// [batch, position] where the mask is 0 are left out.
inline double differenceOf(const Tensor &got, const Tensor &wanted,
                           const Tensor &mask = {}) {
  if (got.numel() != wanted.numel())
    return INFINITY;
  std::vector<double> a = got.to_vector<double>();
  std::vector<double> b = wanted.to_vector<double>();
  std::vector<double> seen(a.size(), 1);
  if (mask.defined())
    seen = mask.to_vector<double>();
  size_t row = a.size() / seen.size();
  double most = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (seen[i / row] == 0)
      continue;
    double difference = std::abs(a[i] - b[i]);
    most = std::isnan(difference) ? INFINITY : std::max(most, difference);
    size = std::max(size, std::abs(b[i]));
  }
  return most / size;
}

/// The message of the Error that this throws, or nothing.
template <typename F> std::string problemOf(F &&function) {
  try {
    function();
  } catch (const Error &error) {
    return std::string(toString(error.kind())) + ": " + error.message();
  }
  return {};
}

} // namespace sinter::hf_test
