/// Loads ELF images through memfd or a private file.
#include "runtime/device/cpu/CpuImage.h"

#include "runtime/support/FileDescriptor.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <elf.h>
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

/// What the dynamic loader does not check before it reads further.
Status checkHeader(std::span<const std::byte> bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof(header))
    return imageError("it is shorter than an ELF header");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN)
    return imageError("it is not a 64-bit ELF shared object");
  uint64_t tableBytes = uint64_t(header.e_phnum) * sizeof(Elf64_Phdr);
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 ||
      header.e_phoff > bytes.size() ||
      tableBytes > bytes.size() - header.e_phoff)
    return imageError("its program headers are not in the file");
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment,
                bytes.data() + header.e_phoff + i * sizeof(Elf64_Phdr),
                sizeof(segment));
    if (segment.p_type != PT_LOAD && segment.p_type != PT_DYNAMIC)
      continue;
    if (segment.p_offset > bytes.size() ||
        segment.p_filesz > bytes.size() - segment.p_offset)
      return imageError("a segment is not in the file");
  }
  return {};
}

} // namespace

Result<std::unique_ptr<Image>>
sinter::runtime::loadCpuImageFromFile(std::span<const std::byte> bytes) {
  SINTER_TRY(checkHeader(bytes));
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
  SINTER_TRY(checkHeader(bytes));
  FileDescriptor memory(memfd_create("sinter-image", MFD_CLOEXEC));
  if (!memory || !memory.writeAll(bytes))
    return loadCpuImageFromFile(bytes);
  if (auto image = open(uniquePath(memory.get())))
    return image;
  return loadCpuImageFromFile(bytes);
}
