/// Rows of JSON files: an object a line, or a list of objects.
#pragma once

#include <sinter/data/Row.h>

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>

namespace sinter::data {

/// The objects of a file in which each line is one (https://jsonlines.org), or
/// that is one list of them, which a first `[` says. The file is mapped. Where
/// objects begin is found when it is opened; each is parsed when it is asked
/// for, so that what is no JSON, or no object, is an `io` Error of `get`, with
/// the file's name, the line and the byte in the object. Empty lines are
/// skipped, and so is a byte order mark.
///
/// Members are the Row's columns; not all rows need to have the same.
///
///     sn::data::JsonLines lines("reviews.jsonl");
///     lines.get(0).get<std::string>("text");
class JsonLines {
public:
  explicit JsonLines(
      const std::string &path,
      std::source_location where = std::source_location::current());

  int64_t size() const;
  Row get(int64_t index) const;

  struct File;
  /// Of a file that the library opened.
  explicit JsonLines(std::shared_ptr<const File> file)
      : file(std::move(file)) {}

private:
  std::shared_ptr<const File> file;
};

} // namespace sinter::data
