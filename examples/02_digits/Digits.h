/// The digits data set, split into rows to train on and rows to test on.
#pragma once

#include <sinter/sinter.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Images and the digits they show.
struct Batch {
  sinter::Tensor images; ///< f32[n,64], pixels from 0 to 1
  sinter::Tensor labels; ///< i64[n]
};

/// Rows of images in host memory.
struct Digits {
  static constexpr int64_t pixels = 64;
  static constexpr int64_t classes = 10;

  std::vector<float> images;
  std::vector<int64_t> labels;

  int64_t size() const { return static_cast<int64_t>(labels.size()); }
  /// These rows as tensors. The batch axis is symbolic, so batches of every
  /// size run the same program.
  Batch batch(std::span<const int64_t> rows) const;
  Batch all() const;
};

struct Split {
  Digits train;
  Digits test; ///< every fifth row
};

Split loadDigits(const std::string &path);
