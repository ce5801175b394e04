/// ScratchFile: bytes as a file, for readers that take a path.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <unistd.h>

namespace sinter::test {

/// A file in a folder of its own, which goes with it.
class ScratchFile {
public:
  explicit ScratchFile(std::string_view bytes, const std::string &name = "file")
      : folder(std::filesystem::temp_directory_path() /
               ("sinter-weights-" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(folder);
    place = folder / name;
    std::ofstream(place, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  ScratchFile(const ScratchFile &) = delete;
  ScratchFile &operator=(const ScratchFile &) = delete;
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  const std::filesystem::path &path() const { return place; }

private:
  std::filesystem::path folder, place;
};

} // namespace sinter::test
