/// The digits data set: images to train on and images to test on, in batches.
#include "examples/02_digits/Digits.h"

#include <algorithm>

namespace sn = sinter;

Batch DigitBatcher::operator()(std::vector<Digit> digits) const {
  std::vector<float> pixels;
  std::vector<int64_t> labels;
  for (const Digit &digit : digits) {
    pixels.insert(pixels.end(), digit.pixels.begin(), digit.pixels.end());
    labels.push_back(digit.label);
  }
  auto count = static_cast<int64_t>(digits.size());
  return {sn::tensor(pixels, {count, 1, Digit::side, Digit::side}),
          sn::tensor(labels, {count})};
}

sn::data::Split<sn::data::InMemory<Digit>> loadDigits(const std::string &path) {
  sn::data::CsvDataset rows(path);
  std::vector<Digit> digits;
  for (int64_t i = 0; i < rows.size(); ++i) {
    std::span<const double> row = rows.get(i);
    Digit digit{.pixels = {}, .label = static_cast<int64_t>(row.back())};
    std::ranges::transform(
        row.first(digit.pixels.size()), digit.pixels.begin(),
        [](double pixel) { return static_cast<float>(pixel / 16); });
    digits.push_back(digit);
  }
  return sn::data::split_every(sn::data::InMemory(std::move(digits)), 5);
}
