/// Runs ptxas over temporary files.
#include "runtime/device/cuda/MachineCode.h"

#include "runtime/files/FileDescriptor.h"
#include "runtime/files/MappedFile.h"
#include "sinter/runtime/Log.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

using namespace sinter;
using namespace sinter::runtime;
namespace fs = std::filesystem;

namespace {

std::string findAssembler() {
  std::vector<std::string> folders;
  const char *path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    folders.emplace_back(rest.substr(0, rest.find(':')));
    rest.remove_prefix(std::min(rest.size(), folders.back().size() + 1));
  }
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *root = std::getenv(variable))
      folders.push_back(std::string(root) + "/bin");
  folders.push_back("/usr/local/cuda/bin");
  for (const std::string &folder : folders) {
    std::string program = folder + "/ptxas";
    if (folder.starts_with('/') && access(program.c_str(), X_OK) == 0)
      return program;
  }
  return {};
}

/// A folder of this user's that goes away again.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::error_code problem;
    path = (fs::temp_directory_path(problem) / "sinter-XXXXXX").string();
    if (problem || !mkdtemp(path.data()))
      path.clear();
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path.empty())
      fs::remove_all(path, ignored);
  }

  std::string path; ///< empty where none can be made
};

/// Whether it ends with 0; nobody sees what it says.
bool runs(std::vector<std::string> words) {
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (int stream : {0, 1, 2})
    posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_RDWR, 0);
  pid_t child = 0;
  int failed = posix_spawn(&child, arguments[0], &files, nullptr,
                           arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed)
    return false;
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Nothing where it fails: the driver, which gets the text then, says why.
std::optional<std::vector<std::byte>>
assemble(std::string_view ptx, const std::string &architecture) {
  TemporaryFolder folder;
  if (folder.path.empty())
    return std::nullopt;
  std::string input = folder.path + "/ptx", output = folder.path + "/cubin";
  {
    FileDescriptor file(
        open(input.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file || !file.writeAll(std::as_bytes(std::span(ptx))))
      return std::nullopt;
  }
  if (!runs({assemblerPath(), "-arch=" + architecture, input, "-o", output}))
    return std::nullopt;
  auto made = MappedFile::open(output);
  if (!made || made->bytes().empty())
    return std::nullopt;
  return std::vector<std::byte>(made->bytes().begin(), made->bytes().end());
}

} // namespace

const std::string &sinter::runtime::assemblerPath() {
  static const auto &path = *new std::string(findAssembler());
  return path;
}

std::string sinter::runtime::architectureFor(std::string_view ptx,
                                             int capability) {
  std::string own = fmt::format("sm_{}", capability);
  constexpr std::string_view keyword = ".target ";
  size_t at = ptx.find(keyword);
  std::string_view target =
      at == ptx.npos ? std::string_view() : ptx.substr(at + keyword.size());
  bool isOwn = target.starts_with(own) && target.size() > own.size() &&
               std::isalpha(static_cast<unsigned char>(target[own.size()]));
  return isOwn ? own + target[own.size()] : own;
}

MachineCode::MachineCode(int capability, DiskCache kept)
    : capability(capability), disk(std::move(kept)),
      keeps(disk.prepareOrWarn()) {}

Key MachineCode::keyOf(std::string_view ptx) const {
  return keyOfText(fmt::format("cubin\n{}\n{}", capability, ptx));
}

void MachineCode::keep(const Key &key, std::span<const std::byte> code) const {
  if (!keeps)
    return;
  if (Status stored = disk.storeBytes(CacheKind::machineCode, key, code);
      !stored)
    logWarning(stored.error().message + "; machine code is not kept");
}

std::optional<std::vector<std::byte>>
MachineCode::find(std::string_view ptx) const {
  Key key = keyOf(ptx);
  auto kept = keeps ? disk.findBytes(CacheKind::machineCode, key)
                    : std::optional<std::vector<std::byte>>();
  if (!kept)
    logWarning(kept.error().message + "; making the machine code again");
  else if (*kept)
    return (*kept)->empty() ? std::nullopt : std::move(*kept);
  if (assemblerPath().empty())
    return std::nullopt;
  auto code = assemble(ptx, architectureFor(ptx, capability));
  if (code)
    keep(key, *code);
  return code;
}

void MachineCode::refuse(std::string_view ptx) const { keep(keyOf(ptx), {}); }
