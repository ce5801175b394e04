/// What the copies of all devices check.
#include "runtime/device/Device.h"

#include <fmt/format.h>

using namespace sinter;
using namespace sinter::runtime;

Status sinter::runtime::checkCopy(const char *what, const Device &device,
                                  const Buffer &buffer, size_t offset,
                                  size_t bytes) {
  SINTER_TRY(device.checkProcess());
  if (&buffer.device() != &device)
    return makeError(ErrorKind::invalid_argument,
                     fmt::format("{}: the buffer lives on {}, not on {}", what,
                                 toString(buffer.device().id()),
                                 toString(device.id())));
  if (offset > buffer.bytes() || bytes > buffer.bytes() - offset)
    return makeError(ErrorKind::invalid_argument,
                     fmt::format("{}: bytes {} to {} of a buffer of {}", what,
                                 offset, offset + bytes, buffer.bytes()));
  return {};
}

Status Device::checkProcess() const {
  if (openedIn == forkNumber() || sharesHostMemory())
    return {};
  return makeError(
      ErrorKind::device,
      fmt::format("{} was opened before this process was forked: a child can "
                  "use cpu, and devices that it opens first",
                  toString(id())));
}

namespace {

/// Through the buffer's own memory, where the host has that, or bytes beside
/// it.
class PlainUpload final : public Upload {
public:
  PlainUpload(Device &device, BufferRef buffer)
      : device(device), buffer(std::move(buffer)) {
    if (!device.sharesHostMemory())
      beside.resize(this->buffer->bytes());
  }
  std::span<std::byte> room() const override {
    if (!device.sharesHostMemory())
      return {const_cast<std::byte *>(beside.data()), beside.size()};
    return {static_cast<std::byte *>(buffer->data()), buffer->bytes()};
  }
  Result<BufferRef> send() override {
    if (device.sharesHostMemory())
      buffer->bumpVersion();
    else
      SINTER_TRY(device.copyIn(*buffer, 0, beside));
    return std::move(buffer);
  }

private:
  Device &device;
  BufferRef buffer;
  std::vector<std::byte> beside;
};

} // namespace

Result<std::unique_ptr<Upload>> Device::upload(size_t bytes) {
  SINTER_TRY(checkProcess());
  SINTER_TRY_ASSIGN(BufferRef buffer, allocate(bytes));
  return std::unique_ptr<Upload>(
      std::make_unique<PlainUpload>(*this, std::move(buffer)));
}

Status Device::copyAcross(Buffer &to, const Buffer &from, size_t bytes) {
  SINTER_TRY(checkCopy("copy", *this, to, 0, bytes));
  SINTER_TRY(checkCopy("copy", from.device(), from, 0, bytes));
  if (from.device().sharesHostMemory())
    return copyIn(to, 0, {static_cast<const std::byte *>(from.data()), bytes});
  std::vector<std::byte> host(bytes);
  SINTER_TRY(from.device().copyOut(host, from, 0));
  return copyIn(to, 0, host);
}

Status Device::followStream(void *) {
  return makeError(ErrorKind::unsupported,
                   toString(id()) + ": it has no streams of others");
}

Status Device::leadStream(void *stream) { return followStream(stream); }

Result<std::optional<uint64_t>> Device::stopTimer(uint64_t) {
  SINTER_TRY(synchronize());
  return std::optional<uint64_t>();
}

Result<std::unique_ptr<WorkGraph>> Device::makeGraph(std::span<const GraphNode>,
                                                     const WatchedWord &) {
  return makeError(ErrorKind::unsupported,
                   toString(id()) + ": it has no graphs of work");
}
