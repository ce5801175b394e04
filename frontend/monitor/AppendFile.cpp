/// Growing and cutting files.
#include "frontend/monitor/AppendFile.h"

#include "frontend/Raise.h"
#include "runtime/files/SystemError.h"
#include "runtime/support/SignalHold.h"

#include <filesystem>
#include <fstream>

#include <fcntl.h>

namespace sinter::train {

namespace fs = std::filesystem;

[[noreturn]] static void fail(const std::string &path, std::string_view what) {
  detail::raise(runtime::systemError(path, what), {});
}

AppendFile::AppendFile(std::string path, bool isFresh) : name(std::move(path)) {
  std::error_code code;
  fs::path folder = fs::path(name).parent_path();
  if (!folder.empty())
    fs::create_directories(folder, code);
  int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
  file = FileDescriptor(
      ::open(name.c_str(), flags | (isFresh ? O_TRUNC : 0), 0666));
  if (!file)
    fail(name, "cannot be written");
}

AppendFile::~AppendFile() {
  SignalHold hold;
  if (file && !waiting.empty())
    static_cast<void>(file.writeAll(std::as_bytes(std::span(waiting))));
}

void AppendFile::flush() {
  if (waiting.empty())
    return;
  SignalHold hold;
  // What could not be written is not tried again: the view ends here.
  std::string given;
  given.swap(waiting);
  if (!file.writeAll(std::as_bytes(std::span(given))))
    fail(name, "cannot be written");
  given.clear();
  waiting.swap(given); // keeps its memory
}

void eachLine(const std::string &path,
              const std::function<bool(std::string_view line)> &read) {
  std::ifstream input(path, std::ios::binary);
  std::string line;
  // A line that the file ends in has no end, and is none.
  while (std::getline(input, line) && !input.eof())
    if (!read(line))
      return;
}

uint64_t cutLines(const std::string &path,
                  const std::function<bool(std::string_view line)> &isKept) {
  std::error_code code;
  if (!fs::exists(path, code))
    return 0;
  uint64_t kept = 0;
  eachLine(path, [&](std::string_view line) {
    if (!isKept(line))
      return false;
    kept += line.size() + 1;
    return true;
  });
  cutFile(path, kept);
  return kept;
}

void cutFile(const std::string &path, uint64_t bytes) {
  std::error_code code;
  if (fs::file_size(path, code) == bytes && !code)
    return;
  if (::truncate(path.c_str(), off_t(bytes)) != 0)
    fail(path, "cannot be cut");
}

} // namespace sinter::train
