/// Weight files of every format but an index: what is opened is read, too.
#include "tests/fuzz/WeightReads.h"

using namespace sinter;

SINTER_FUZZER(Weights) {
  auto mapped = fuzz::mappedBytes(fuzz::bytesOf(data, size));
  fuzz::readAll(runtime::weights::openTensors("weights", std::move(mapped)));
}
