/// Texts in files.
#include <sinter/data/TextFolder.h>

#include "frontend/Raise.h"
#include "frontend/datasets/Listing.h"
#include "frontend/datasets/OpenRows.h"
#include "runtime/files/MappedFile.h"
#include "runtime/support/Printable.h"

#include <sinter/Held.h>
#include <sinter/data/Dataset.h>

#include <fmt/format.h>

#include <utility>

namespace sinter::data {

namespace {

std::string_view textOf(const runtime::MappedFile &file) {
  auto bytes = file.bytes();
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

Result<std::string> readText(const std::string &path, int64_t most) {
  SINTER_TRY_ASSIGN(auto file, runtime::MappedFile::open(path));
  std::string_view text = textOf(file);
  auto broken = [&](const std::string &what) {
    return makeError(ErrorKind::io,
                     fmt::format("{}: {}", printableName(path), what));
  };
  if (static_cast<int64_t>(text.size()) > most)
    return broken(fmt::format("{} bytes; more than {} are refused, which "
                              "max_bytes sets",
                              text.size(), most));
  if (!isUtf8(text))
    return broken("the text is not UTF-8");
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (text.starts_with(mark))
    text.remove_prefix(mark.size());
  return std::string(text);
}

} // namespace

struct TextFolder::Files {
  ClassListing listing;
  int64_t mostBytes;

  const ClassListing::File &item(int64_t index) const {
    detail::checkItem(index, static_cast<int64_t>(listing.files.size()));
    return listing.files[static_cast<size_t>(index)];
  }
};

TextFolder::TextFolder(const std::string &folder,
                       const TextFolderOptions &options,
                       std::source_location where) try
    : files(std::make_shared<const Files>(Files{
          detail::unwrap(listClasses(folder, options.endings, options.classes),
                         where),
          options.max_bytes})) {
} catch (...) {
  detail::raiseExhausted(where);
}

int64_t TextFolder::size() const {
  return static_cast<int64_t>(detail::held(files, "size").listing.files.size());
}

LabeledText TextFolder::get(int64_t index) const try {
  const auto &[path, label] = detail::held(files, "get").item(index);
  return {detail::unwrap(readText(path, files->mostBytes), {}), label};
} catch (...) {
  detail::raiseExhausted({});
}

int64_t TextFolder::label(int64_t index) const {
  return detail::held(files, "label").item(index).label;
}

const std::string &TextFolder::file(int64_t index) const {
  return detail::held(files, "file").item(index).path;
}

const std::vector<std::string> &TextFolder::classes() const {
  return detail::held(files, "classes").listing.classes;
}

struct TextLines::File {
  runtime::MappedFile mapped;
  std::vector<size_t> begins; ///< of each line, and the end of the last
};

std::shared_ptr<const TextLines::File> openLines(runtime::MappedFile mapped) {
  TextLines::File read{std::move(mapped), {0}};
  std::string_view text = textOf(read.mapped);
  while (read.begins.back() < text.size()) {
    size_t end = text.find('\n', read.begins.back());
    read.begins.push_back(end == text.npos ? text.size() : end + 1);
  }
  return std::make_shared<const TextLines::File>(std::move(read));
}

TextLines::TextLines(const std::string &path, std::source_location where) try
    : file(openLines(detail::unwrap(runtime::MappedFile::open(path), where))) {
} catch (...) {
  detail::raiseExhausted(where);
}

int64_t TextLines::size() const {
  return static_cast<int64_t>(detail::held(file, "size").begins.size()) - 1;
}

std::string_view TextLines::view(int64_t index) const {
  detail::checkItem(index, size());
  const size_t *begin = file->begins.data() + index;
  std::string_view line =
      textOf(file->mapped).substr(begin[0], begin[1] - begin[0]);
  if (line.ends_with('\n'))
    line.remove_suffix(line.ends_with("\r\n") ? 2 : 1);
  return line;
}

std::string TextLines::get(int64_t index) const try {
  return std::string(view(index));
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::data
