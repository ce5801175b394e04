/// Loads ELF images through memfd or a private file.
#include "runtime/device/cpu/CpuImage.h"

#include "runtime/device/cpu/CheckImage.h"
#include "runtime/files/FileDescriptor.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace sinter;
using namespace sinter::runtime;

namespace {

class CpuImage final : public Image {
public:
  explicit CpuImage(void *handle) : handle(handle) {}
  ~CpuImage() override { dlclose(handle); }
  KernelHandle find(const std::string &symbol) const override {
    return dlsym(handle, symbol.c_str());
  }

private:
  void *handle;
};

ErrorInfo imageError(const std::string &what) {
  return makeError(ErrorKind::device, "cpu: cannot load an image: " + what);
}

/// A path to an open descriptor that no other image of this process has. The
/// dynamic loader takes equal names for the same library, and descriptor
/// numbers are used again; so a counter is spelled into the path, one "/./" or
/// "///" for each bit, which name the same folder.
std::string uniquePath(int descriptor) {
  static std::atomic<uint32_t> counter{0};
  uint32_t number = counter.fetch_add(1, std::memory_order_relaxed);
  std::string path = "/proc/self/fd";
  for (unsigned bit = 0; bit < 32; ++bit)
    path += number >> bit & 1 ? "/./" : "///";
  return path + std::to_string(descriptor);
}

Result<std::unique_ptr<Image>> open(const std::string &path) {
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return imageError(dlerror());
  return std::unique_ptr<Image>(std::make_unique<CpuImage>(handle));
}

} // namespace

Result<std::unique_ptr<Image>>
sinter::runtime::loadCpuImageFromFile(std::span<const std::byte> bytes) {
  SINTER_TRY(checkCpuImage(bytes));
  const char *folders[] = {std::getenv("XDG_RUNTIME_DIR"),
                           std::getenv("TMPDIR"), "/tmp"};
  for (const char *folder : folders) {
    if (!folder || !*folder)
      continue;
    std::string path = std::string(folder) + "/sinter-image-XXXXXX";
    FileDescriptor file(mkostemp(path.data(), O_CLOEXEC));
    if (!file)
      continue;
    if (!file.writeAll(bytes)) {
      ErrorInfo error = imageError(std::strerror(errno));
      unlink(path.c_str());
      return error;
    }
    auto image = open(path);
    unlink(path.c_str());
    return image;
  }
  return imageError("no folder takes a temporary file");
}

Result<std::unique_ptr<Image>>
sinter::runtime::loadCpuImage(std::span<const std::byte> bytes) {
  SINTER_TRY(checkCpuImage(bytes));
  FileDescriptor memory(memfd_create("sinter-image", MFD_CLOEXEC));
  if (!memory || !memory.writeAll(bytes))
    return loadCpuImageFromFile(bytes);
  if (auto image = open(uniquePath(memory.get())))
    return image;
  return loadCpuImageFromFile(bytes);
}
