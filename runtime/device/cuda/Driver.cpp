/// Opens the driver's library and looks its functions up.
#include "runtime/device/cuda/Driver.h"

#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <optional>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::cuda;

namespace {

constexpr const char *libraryName = "libcuda.so.1";

ErrorInfo missing(const std::string &what) {
  return makeError(ErrorKind::device, what);
}

Result<Driver> openLibrary() {
  void *library = dlopen(libraryName, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return missing(fmt::format("{} not found", libraryName));
  Driver driver;
#define SINTER_CUDA(field, name, arguments)                                    \
  driver.field =                                                               \
      reinterpret_cast<decltype(driver.field)>(dlsym(library, name));          \
  if (!driver.field)                                                           \
    return missing(                                                            \
        fmt::format("{} is too old: it lacks {}", libraryName, name));
  SINTER_CUDA_FUNCTIONS
#undef SINTER_CUDA
#define SINTER_CUDA(field, name, arguments)                                    \
  driver.field = reinterpret_cast<decltype(driver.field)>(dlsym(library, name));
  SINTER_CUDA_NEWER_FUNCTIONS
#undef SINTER_CUDA
  if (Code code = driver.init(0); code != success)
    return driver.error("cuInit", code);
  return driver;
}

} // namespace

Result<const Driver *> Driver::open() {
  static const auto &opened = *new Result<Driver>(openLibrary());
  if (!opened)
    return ErrorInfo(opened.error());
  return &*opened;
}

/// Whether a kernel did what it must not, some time before (CUDA Driver API,
/// CUresult).
static bool isFault(Code code) {
  constexpr Code illegalAddress = 700;
  constexpr Code firstOfOthers = 714, lastOfOthers = 719;
  return code == illegalAddress ||
         (code >= firstOfOthers && code <= lastOfOthers);
}

ErrorInfo Driver::error(std::string_view what, Code code) const {
  const char *name = nullptr, *text = nullptr;
  errorName(code, &name);
  errorString(code, &text);
  bool tells = isFault(code) && !std::getenv("SINTER_PROFILE");
  return makeError(code == outOfMemory ? ErrorKind::out_of_memory
                                       : ErrorKind::device,
                   fmt::format("{}: {} ({}){}", what, name ? name : "error",
                               text ? text : std::to_string(code),
                               tells ? "; SINTER_PROFILE=1 tells which kernel "
                                       "and line did it"
                                     : ""));
}
