/// LstmClassifier: what a recurrent net says of a sequence when it has ended.
#pragma once

#include <sinter/sinter.h>

namespace models {
namespace sn = sinter;
using sn::Tensor;

struct LstmClassifier {
  sn::nn::LSTM lstm;
  sn::nn::Linear head;
  LstmClassifier(int64_t in, int64_t hidden, int64_t layers, int64_t classes)
      : lstm(in, hidden, {.num_layers = layers, .batch_first = true}),
        head(hidden, classes) {}

  /// Scores [n, classes] of x [n, step, in].
  Tensor forward(const Tensor &x) const {
    return head(sn::select(lstm(x).output, 1, -1));
  }
  SINTER_MODULE(LstmClassifier, lstm, head)
};

} // namespace models
