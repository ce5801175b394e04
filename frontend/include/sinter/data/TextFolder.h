/// Texts in files: a file each, or a line each.
#pragma once

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sinter::data {

/// A text and the number of its class.
struct LabeledText {
  std::string text;
  int64_t label = 0;
};

struct TextFolderOptions {
  /// As in ImageFolderOptions.
  std::vector<std::string> classes = {};
  std::vector<std::string> endings = {".txt"};
  /// Larger files are an `io` Error of `get`.
  int64_t max_bytes = 1 << 28;
};

/// A folder in which each class has a folder with its texts, a file each, also
/// in folders of that; otherwise as ImageFolder. Files are read when they are
/// asked for; one that is not UTF-8 is an `io` Error of `get`.
class TextFolder {
public:
  explicit TextFolder(
      const std::string &folder, const TextFolderOptions &options = {},
      std::source_location where = std::source_location::current());

  int64_t size() const;
  LabeledText get(int64_t index) const;
  int64_t label(int64_t index) const;
  const std::string &file(int64_t index) const;
  const std::vector<std::string> &classes() const;

  struct Files;

private:
  std::shared_ptr<const Files> files;
};

/// The lines of a file, without LF or CRLF at their ends, the empty ones, too.
/// The file is mapped; bytes are given as they are.
class TextLines {
public:
  explicit TextLines(
      const std::string &path,
      std::source_location where = std::source_location::current());

  int64_t size() const;
  std::string get(int64_t index) const;
  /// Valid as long as a copy of the data set lives.
  std::string_view view(int64_t index) const;

  struct File;
  /// Of a file that the library opened.
  explicit TextLines(std::shared_ptr<const File> file)
      : file(std::move(file)) {}

private:
  std::shared_ptr<const File> file;
};

} // namespace sinter::data
