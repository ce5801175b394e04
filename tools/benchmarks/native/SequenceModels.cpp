/// A recurrent net and a stack of dilated convolutions.
#include "tools/benchmarks/models/Lstm.h"
#include "tools/benchmarks/models/WaveNet.h"
#include "tools/benchmarks/native/ModelWork.h"

using namespace bench;
using namespace models;

using Made = std::unique_ptr<Work>;

Made bench::makeLstm(const Case &c) {
  int64_t batch = c.number("batch"), size = c.number("size");
  int64_t classes = c.number("classes");
  LstmClassifier model =
      prepared(LstmClassifier(size, size, c.number("layers"), classes), c);
  Tensor x = inputFor(c, {batch, c.number("t"), size}, 1);
  if (!trains(c))
    return forwardOf(std::move(model),
                     [=](const LstmClassifier &m) { return m(x); });
  Tensor kinds = labelsOf({batch}, 2, classes);
  return trainingOf(
      std::move(model), Trainer::adamw,
      [=](const LstmClassifier &m) { return sn::cross_entropy(m(x), kinds); });
}

Made bench::makeWaveNet(const Case &c) {
  int64_t batch = c.number("batch"), t = c.number("t");
  int64_t classes = c.number("classes");
  WaveNet model =
      prepared(WaveNet(c.number("channels"), c.number("skips"), classes,
                       c.number("doublings"), c.number("cycles")),
               c);
  Tensor samples = inputFor(c, {batch, 1, t}, 1);
  if (!trains(c))
    return forwardOf(std::move(model),
                     [=](const WaveNet &m) { return m(samples); });
  Tensor next = labelsOf({batch, t}, 2, classes);
  return trainingOf(std::move(model), Trainer::adamw, [=](const WaveNet &m) {
    return sn::cross_entropy(m(samples), next, sn::CrossEntropyOptions{});
  });
}
