/// Weight files of every format but an index: what is opened is read, too.
#include "runtime/params/weights/Readers.h"
#include "tests/fuzz/Fuzzer.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace sinter;
using namespace sinter::runtime;
using sinter::fuzz::require;

/// Reads what does not repeat a few bytes a million times.
static void readTensor(const WeightFile &file, const WeightTensor &tensor) {
  constexpr size_t most = size_t(1) << 20;
  size_t bytes = byteWidth(tensor.dtype);
  for (int64_t dim : tensor.dims) {
    require(dim >= 0);
    bytes *= static_cast<size_t>(dim);
  }
  require(file.find(tensor.name) == &tensor);
  require(tensor.strides.empty() ||
          tensor.strides.size() == tensor.dims.size());
  require(tensor.tiedTo.empty() || file.find(tensor.tiedTo) < &tensor);
  std::span<const std::byte> view = file.view(tensor);
  require(view.empty() || view.size() == bytes);
  bool isWhole = file.check(tensor).ok();
  if (bytes > most)
    return;
  auto dense = file.read(tensor);
  require(dense ? dense->size() == bytes : !dense.error().message.empty());
  // Numbers that cannot be read have no view, but for wrong checksums.
  require(dense || view.empty() || !isWhole);
}

SINTER_FUZZER(Weights) {
  int descriptor = ::memfd_create("weights", MFD_CLOEXEC);
  require(descriptor >= 0);
  require(::write(descriptor, data, size) == static_cast<ssize_t>(size));
  auto mapped = MappedFile::map(descriptor, "weights");
  ::close(descriptor);
  require(mapped.ok());
  auto file = weights::openTensors("weights", std::move(*mapped));
  if (!file)
    return require(file.error().message.starts_with("weights: "));
  for (const WeightTensor &tensor : (*file)->tensors())
    readTensor(**file, tensor);
}
