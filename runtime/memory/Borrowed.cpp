/// Tells the owner of the memory when a buffer over it ends.
#include "runtime/memory/Borrowed.h"

#include <utility>

using namespace sinter::runtime;

namespace {

struct Borrowed final : Buffer {
  Borrowed(Device &device, void *data, size_t bytes,
           std::function<void()> released)
      : Buffer(device, data, bytes, &Borrowed::finish),
        released(std::move(released)) {}
  static void finish(Buffer *buffer) {
    auto *own = static_cast<Borrowed *>(buffer);
    std::function<void()> released = std::move(own->released);
    delete own;
    if (released)
      released();
  }
  std::function<void()> released;
};

} // namespace

BufferRef sinter::runtime::borrowBuffer(Device &device, void *data,
                                        size_t bytes,
                                        std::function<void()> released) {
  return BufferRef::adopt(
      new Borrowed(device, data, bytes, std::move(released)));
}
