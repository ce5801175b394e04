/// The digits data set: images to train on and images to test on, in batches.
#pragma once

#include <sinter/Basic.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

/// One image and the digit it shows.
struct Digit {
  static constexpr int64_t side = 8;
  static constexpr int64_t classes = 10;

  std::array<float, side * side> pixels; ///< from 0 to 1
  int64_t label;
};

struct Batch {
  sinter::Tensor images; ///< f32[n,1,8,8]
  sinter::Tensor labels; ///< i64[n]
};

/// Puts images side by side. A loader makes the batch axis symbolic, so
/// batches of every size run the same program.
struct DigitBatcher {
  Batch operator()(std::vector<Digit> digits) const;
};

using Digits = sinter::data::Subset<sinter::data::InMemory<Digit>>;
using DigitLoader = sinter::data::DataLoader<Digits, DigitBatcher>;

/// Every fifth image is for testing (`valid`).
sinter::data::Split<sinter::data::InMemory<Digit>>
loadDigits(const std::string &path);
