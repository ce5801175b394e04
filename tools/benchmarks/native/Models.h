/// Whole models: forward passes and training steps of tools/benchmarks/models,
/// with the sizes that the case names.
#pragma once

#include "tools/benchmarks/native/Worker.h"

#include <memory>

namespace bench {

/// A case says what it is to `do`: `forward` or `train`, and the `dtype`.
std::unique_ptr<Work> makeGpt2(const Case &c);
/// ... or `decode`: a token at a time, with a cache of `places`.
std::unique_ptr<Work> makeLlama(const Case &c);
std::unique_ptr<Work> makeBert(const Case &c);
std::unique_ptr<Work> makeMoe(const Case &c);
std::unique_ptr<Work> makeResNet(const Case &c);
std::unique_ptr<Work> makeVit(const Case &c);
std::unique_ptr<Work> makeUNet(const Case &c);
std::unique_ptr<Work> makeMobileNet(const Case &c);
std::unique_ptr<Work> makeDcgan(const Case &c);
std::unique_ptr<Work> makeLstm(const Case &c);
std::unique_ptr<Work> makeWaveNet(const Case &c);

} // namespace bench
