/// IDX files, plain and packed: what is read has the bytes that its shape says.
#include "tests/fuzz/Fuzzer.h"

#include <sinter/Error.h>
#include <sinter/data/Idx.h>

using namespace sinter;
using fuzz::require;

SINTER_FUZZER(Idx) {
  data::IdxArray array;
  try {
    array = data::parse_idx(fuzz::bytesOf(data, size));
  } catch (const Error &error) {
    require(error.kind() == ErrorKind::io);
    return;
  }
  size_t bytes = byteWidth(array.dtype);
  for (int64_t dim : array.shape)
    bytes *= size_t(dim);
  require(array.bytes.size() == bytes);
}
