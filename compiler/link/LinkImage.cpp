/// Links the objects of a program into one loadable image with lld.
#include "compiler/link/LinkImage.h"
#include "compiler/guard/Guarded.h"
#include "compiler/link/RunLinker.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace sinter::compiler {
namespace {

// A private folder that is removed with all it holds.
class ScratchFolder {
public:
  ScratchFolder() {
    failure = llvm::sys::fs::createUniqueDirectory("sinter-link", path);
  }
  ~ScratchFolder() {
    if (failure)
      return;
    // What cannot be removed stays in the system's folder for such files.
    [[maybe_unused]] std::error_code left =
        llvm::sys::fs::remove_directories(path);
  }
  std::string file(const llvm::Twine &name) const {
    llvm::SmallString<128> result(path);
    llvm::sys::path::append(result, name);
    return std::string(result);
  }
  std::error_code failure;

private:
  llvm::SmallString<128> path;
};

} // namespace

// Undefined symbols by name: the image must stand alone.
static Status checkSelfContained(const std::string &object) {
  llvm::MemoryBufferRef bytes(object, "object");
  auto file = llvm::object::ObjectFile::createObjectFile(bytes);
  if (!file) {
    std::string text = llvm::toString(file.takeError());
    return linkError("bad object: " + text);
  }
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    auto name = symbol.getName();
    bool undefined = flags && (*flags & llvm::object::SymbolRef::SF_Undefined);
    std::string text = name ? name->str() : "?";
    llvm::consumeError(flags.takeError());
    llvm::consumeError(name.takeError());
    if (undefined && !text.empty() && text != "_GLOBAL_OFFSET_TABLE_")
      return linkError("undefined symbol " + text);
  }
  return {};
}

static Status writeFile(const std::string &path, const std::string &bytes) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (error)
    return linkError(path + ": " + error.message());
  stream << bytes;
  stream.close();
  if (stream.has_error()) {
    std::string text = stream.error().message();
    stream.clear_error();
    return linkError(path + ": " + text);
  }
  return {};
}

static Result<std::vector<std::byte>> readFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return linkError(path + ": " + buffer.getError().message());
  auto *first =
      reinterpret_cast<const std::byte *>((*buffer)->getBufferStart());
  return std::vector<std::byte>(first, first + (*buffer)->getBufferSize());
}

static Result<std::vector<std::byte>>
linkIn(const ScratchFolder &folder, std::span<const std::string> objects,
       bool joined) {
  for (const std::string &object : objects)
    SINTER_TRY(checkSelfContained(object));
  if (folder.failure)
    return linkError("no temporary folder: " + folder.failure.message());
  std::vector<std::string> paths;
  for (size_t number = 0; number < objects.size(); ++number) {
    paths.push_back(folder.file(std::to_string(number) + ".o"));
    SINTER_TRY(writeFile(paths.back(), objects[number]));
  }
  std::string image = folder.file("image.so");
  std::vector<std::string> arguments = {"ld.lld",
                                        "-shared",
                                        "--build-id=none",
                                        "--no-undefined",
                                        "-soname=kernels",
                                        "--threads=1",
                                        "--hash-style=gnu",
                                        "-z",
                                        "noexecstack",
                                        "-s",
                                        "-o",
                                        image};
  if (joined)
    arguments.emplace_back("--no-rosegment");
  arguments.insert(arguments.end(), paths.begin(), paths.end());
  SINTER_TRY(runLinker(std::move(arguments)));
  return readFile(image);
}

Result<std::vector<std::byte>> linkImage(std::span<const std::string> objects,
                                         bool joined) {
  // The folder goes however the rest ends.
  ScratchFolder folder;
  return guarded([&] { return linkIn(folder, objects, joined); });
}

} // namespace sinter::compiler
