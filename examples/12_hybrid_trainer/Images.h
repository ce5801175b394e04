/// Images of digits, in batches, and the network that tells them apart.
#pragma once

#include <sinter/Basic.h>
#include <sinter/train/Hybrid.h>

#include <cstdint>
#include <string>
#include <vector>

struct Image {
  std::vector<float> pixels; ///< from 0 to 1
  int64_t label = 0;
};

struct Batch {
  sinter::Tensor images; ///< f32[n,pixels]
  sinter::Tensor labels; ///< i64[n]
};

struct ImageBatcher {
  Batch operator()(std::vector<Image> images) const;
};

using Images = sinter::data::InMemory<Image>;
using ImageLoader = sinter::data::DataLoader<Images, ImageBatcher>;

struct ImageSets {
  std::vector<Image> train, test;
};

/// The 8x8 digits of lesson 2: every fifth is for testing.
ImageSets loadDigits(const std::string &csv);
/// MNIST, of the folder with its four files.
ImageSets loadMnist(const std::string &folder);

struct Mlp {
  Mlp(int64_t pixels, int64_t hidden) : fc1(pixels, hidden), fc2(hidden, 10) {}

  sinter::nn::Linear fc1, fc2;

  sinter::Tensor forward(const sinter::Tensor &images) const {
    return fc2(sinter::relu(fc1(images)));
  }
  SINTER_MODULE(Mlp, fc1, fc2)
};

/// What is trained: any architecture and loss would do.
inline sinter::Tensor lossOf(const Mlp &mlp, const Batch &batch) {
  return sinter::cross_entropy(mlp(batch.images), batch.labels);
}

/// Prints what the wrapper costs beside the bare loop, in `pairs` of steps
/// that take turns.
void printOverhead(const std::vector<Image> &images, int64_t batchSize,
                   int64_t hidden, int64_t pairs);
