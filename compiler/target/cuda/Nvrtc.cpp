/// Opens NVRTC (its C interface, nvrtc.h of CUDA 12 and 13) and calls it.
#include "compiler/target/cuda/Nvrtc.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <vector>

namespace sinter::compiler {
namespace {

using Code = int; ///< nvrtcResult
using Program = struct ProgramTag *;

constexpr Code success = 0, compilationFailed = 6;

struct Library {
  Code (*create)(Program *, const char *source, const char *name, int headers,
                 const char *const *texts, const char *const *names) = nullptr;
  Code (*destroy)(Program *) = nullptr;
  Code (*compile)(Program, int count, const char *const *options) = nullptr;
  Code (*ptxSize)(Program, size_t *) = nullptr;
  Code (*ptx)(Program, char *) = nullptr;
  Code (*logSize)(Program, size_t *) = nullptr;
  Code (*log)(Program, char *) = nullptr;
  const char *(*errorString)(Code) = nullptr;
  std::string headers; ///< the folder of the toolkit's; empty where unknown
};

std::vector<std::string> candidates() {
  std::vector<std::string> paths = {"libnvrtc.so.13", "libnvrtc.so.12",
                                    "libnvrtc.so"};
  std::vector<std::string> roots;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *root = std::getenv(variable))
      roots.push_back(root);
  roots.push_back("/usr/local/cuda");
  for (const std::string &root : roots)
    for (const char *folder : {"lib64", "lib"})
      paths.push_back(fmt::format("{}/{}/libnvrtc.so", root, folder));
  return paths;
}

/// The headers beside the library: f16 and bf16 are in one of them.
std::string headersOf(void *function) {
  Dl_info info;
  if (!dladdr(function, &info))
    return {};
  std::error_code none;
  std::filesystem::path at = std::filesystem::canonical(info.dli_fname, none);
  for (int up = 0; up < 4 && at.has_relative_path(); ++up) {
    at = at.parent_path();
    if (std::filesystem::exists(at / "include" / "cuda_fp16.h", none))
      return at / "include";
  }
  return {};
}

Result<Library> openLibrary() {
  void *handle = nullptr;
  for (const std::string &path : candidates())
    if (!handle)
      handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return makeError(ErrorKind::unsupported,
                     "CUDA C++ is compiled by libnvrtc.so, which is not found "
                     "(it is a part of the CUDA toolkit; CUDA_HOME says where "
                     "that is)");
  Library library;
  bool isWhole = true;
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        dlsym(handle, name));
    isWhole = isWhole && function;
  };
  find(library.create, "nvrtcCreateProgram");
  find(library.destroy, "nvrtcDestroyProgram");
  find(library.compile, "nvrtcCompileProgram");
  find(library.ptxSize, "nvrtcGetPTXSize");
  find(library.ptx, "nvrtcGetPTX");
  find(library.logSize, "nvrtcGetProgramLogSize");
  find(library.log, "nvrtcGetProgramLog");
  find(library.errorString, "nvrtcGetErrorString");
  if (!isWhole)
    return makeError(ErrorKind::unsupported, "libnvrtc.so lacks functions");
  library.headers = headersOf(reinterpret_cast<void *>(library.create));
  return library;
}

/// A program, destroyed at the end.
class Compilation {
public:
  explicit Compilation(const Library &library) : library(library) {}
  Compilation(const Compilation &) = delete;
  Compilation &operator=(const Compilation &) = delete;
  ~Compilation() {
    if (program)
      library.destroy(&program);
  }

  Result<std::string> run(const std::string &source, const std::string &name,
                          std::span<const std::string> options) {
    SINTER_TRY(check(library.create(&program, source.c_str(), name.c_str(), 0,
                                    nullptr, nullptr)));
    std::vector<const char *> all;
    for (const std::string &option : options)
      all.push_back(option.c_str());
    std::string include = "--include-path=" + library.headers;
    if (!library.headers.empty())
      all.push_back(include.c_str());
    Code code = library.compile(program, int(all.size()), all.data());
    if (code == compilationFailed) {
      SINTER_TRY_ASSIGN(std::string messages,
                        text(library.logSize, library.log));
      return makeError(ErrorKind::compile, messages);
    }
    SINTER_TRY(check(code));
    return text(library.ptxSize, library.ptx);
  }

private:
  Status check(Code code) const {
    if (code == success)
      return {};
    return makeError(ErrorKind::compile,
                     fmt::format("NVRTC: {}", library.errorString(code)));
  }

  /// A text whose size has its zero byte.
  Result<std::string> text(Code (*size)(Program, size_t *),
                           Code (*get)(Program, char *)) const {
    size_t bytes = 0;
    SINTER_TRY(check(size(program, &bytes)));
    std::string result(bytes, '\0');
    if (bytes > 0)
      SINTER_TRY(check(get(program, result.data())));
    result.resize(result.find('\0') == result.npos ? bytes : result.find('\0'));
    return result;
  }

  const Library &library;
  Program program = nullptr;
};

} // namespace

Result<std::string> compileCuda(const std::string &source,
                                const std::string &name,
                                std::span<const std::string> options) {
  static const auto &opened = *new Result<Library>(openLibrary());
  if (!opened)
    return ErrorInfo(opened.error());
  return Compilation(*opened).run(source, name, options);
}

} // namespace sinter::compiler
