/// The digits data set, split into rows to train on and rows to test on.
#include "examples/02_digits/Digits.h"

#include <sinter/data/Csv.h>

#include <numeric>

namespace sn = sinter;

Batch Digits::batch(std::span<const int64_t> rows) const {
  std::vector<float> pixelRows;
  std::vector<int64_t> digits;
  pixelRows.reserve(rows.size() * pixels);
  for (int64_t row : rows) {
    auto image = images.begin() + row * pixels;
    pixelRows.insert(pixelRows.end(), image, image + pixels);
    digits.push_back(labels[row]);
  }
  auto count = static_cast<int64_t>(rows.size());
  Batch batch{sn::tensor(pixelRows, {count, pixels}), sn::tensor(digits)};
  batch.images.dynamic(0);
  batch.labels.dynamic(0);
  return batch;
}

Batch Digits::all() const {
  std::vector<int64_t> rows(size());
  std::iota(rows.begin(), rows.end(), int64_t{0});
  return batch(rows);
}

Split loadDigits(const std::string &path) {
  sn::data::Table table = sn::data::read_csv(path);
  Split split;
  for (int64_t i = 0; i < table.rows; ++i) {
    Digits &part = i % 5 == 4 ? split.test : split.train;
    std::span<const double> row = table.row(i);
    for (double pixel : row.first(Digits::pixels))
      part.images.push_back(static_cast<float>(pixel / 16));
    part.labels.push_back(static_cast<int64_t>(row.back()));
  }
  return split;
}
