/// CIFAR's records: labels, then the red, the green and the blue samples.
#include <sinter/data/Cifar.h>

#include "frontend/Raise.h"
#include "runtime/files/MappedFile.h"
#include "runtime/support/Printable.h"

#include <sinter/Held.h>
#include <sinter/data/Dataset.h>

#include <fmt/format.h>

#include <filesystem>
#include <span>
#include <string_view>

namespace sinter::detail {

namespace {

constexpr int64_t side = 32;
constexpr size_t samples = size_t(side * side);
constexpr size_t colours = 3;

ErrorInfo broken(const std::string &name, const std::string &what) {
  return makeError(ErrorKind::io,
                   fmt::format("{}: {}", printableName(name), what));
}

/// What tells one version from the other.
struct Version {
  std::vector<std::string> train, test;
  /// How many classes each label of a record has.
  std::vector<int> classes;
  const char *python; ///< a file of the Python version
  std::vector<const char *> names;

  size_t record() const { return classes.size() + colours * samples; }
};

Version cifar10() {
  return {{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
           "data_batch_4.bin", "data_batch_5.bin"},
          {"test_batch.bin"},
          {10},
          "data_batch_1",
          {"batches.meta.txt"}};
}

Version cifar100() {
  return {{"train.bin"},
          {"test.bin"},
          {20, 100},
          "meta",
          {"coarse_label_names.txt", "fine_label_names.txt"}};
}

std::string_view textOf(const runtime::MappedFile &file) {
  return {reinterpret_cast<const char *>(file.bytes().data()),
          file.bytes().size()};
}

/// One name a line.
std::vector<std::string> readNames(const std::string &path) {
  std::vector<std::string> names;
  auto file = runtime::MappedFile::open(path);
  if (!file)
    return names;
  std::string_view text = textOf(*file);
  while (!text.empty()) {
    size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
      line.remove_suffix(1);
    if (!line.empty())
      names.emplace_back(line);
  }
  return names;
}

} // namespace

struct CifarFiles {
  size_t record = 0;
  std::vector<runtime::MappedFile> files;
  std::vector<int64_t> ends; ///< items in the files up to each
  std::vector<std::vector<std::string>> names;

  int64_t size() const { return ends.empty() ? 0 : ends.back(); }

  std::span<const std::byte> item(int64_t index) const {
    checkItem(index, size());
    size_t file = 0;
    while (index >= ends[file])
      ++file;
    int64_t begin = file == 0 ? 0 : ends[file - 1];
    return files[file].bytes().subspan(size_t(index - begin) * record, record);
  }

  int64_t label(int64_t index, size_t which) const {
    return std::to_integer<int64_t>(item(index)[which]);
  }

  data::Image image(int64_t index) const {
    auto planes = item(index).last(colours * samples);
    data::Image image{side, side, colours, {}};
    image.pixels.resize(planes.size());
    for (size_t colour = 0; colour < colours; ++colour)
      for (size_t i = 0; i < samples; ++i)
        image.pixels[i * colours + colour] =
            std::to_integer<uint8_t>(planes[colour * samples + i]);
    return image;
  }
};

namespace {

Status checkLabels(const std::string &path, std::span<const std::byte> bytes,
                   const Version &version) {
  for (size_t at = 0; at < bytes.size(); at += version.record())
    for (size_t i = 0; i < version.classes.size(); ++i)
      if (int label = std::to_integer<int>(bytes[at + i]);
          label >= version.classes[i])
        return broken(path, fmt::format("record {} has label {} of {} classes",
                                        at / version.record(), label,
                                        version.classes[i]));
  return {};
}

Status addFile(CifarFiles &all, const std::string &path,
               const Version &version) {
  SINTER_TRY_ASSIGN(auto file, runtime::MappedFile::open(path));
  size_t bytes = file.bytes().size();
  if (bytes == 0 || bytes % all.record != 0)
    return broken(path, fmt::format("{} bytes, which are no records of {}",
                                    bytes, all.record));
  SINTER_TRY(checkLabels(path, file.bytes(), version));
  all.ends.push_back(all.size() + int64_t(bytes / all.record));
  all.files.push_back(std::move(file));
  return {};
}

Result<std::shared_ptr<const CifarFiles>>
openCifar(const std::string &folder, const Version &version, bool train) {
  std::filesystem::path base(folder);
  std::error_code ignored;
  auto all = std::make_shared<CifarFiles>();
  all->record = version.record();
  const auto &files = train ? version.train : version.test;
  if (!std::filesystem::exists(base / files.front(), ignored) &&
      std::filesystem::exists(base / version.python, ignored))
    return broken(folder, fmt::format("it has the Python version, which is "
                                      "pickled: take the binary version, with "
                                      "{}",
                                      files.front()));
  for (const std::string &file : files)
    SINTER_TRY(addFile(*all, base / file, version));
  for (const char *names : version.names)
    all->names.push_back(readNames(base / names));
  return std::shared_ptr<const CifarFiles>(std::move(all));
}

} // namespace

} // namespace sinter::detail

namespace sinter::data {

using detail::held;

Cifar10::Cifar10(const std::string &folder, bool train,
                 std::source_location where) try
    : files(detail::unwrap(detail::openCifar(folder, detail::cifar10(), train),
                           where)) {
} catch (...) {
  detail::raiseExhausted(where);
}

int64_t Cifar10::size() const { return held(files, "size").size(); }

LabeledImage Cifar10::get(int64_t index) const try {
  int64_t label = this->label(index);
  return {files->image(index), label};
} catch (...) {
  detail::raiseExhausted({});
}

int64_t Cifar10::label(int64_t index) const {
  return held(files, "label").label(index, 0);
}

const std::vector<std::string> &Cifar10::classes() const {
  return held(files, "classes").names[0];
}

Cifar100::Cifar100(const std::string &folder, bool train,
                   std::source_location where) try
    : files(detail::unwrap(detail::openCifar(folder, detail::cifar100(), train),
                           where)) {
} catch (...) {
  detail::raiseExhausted(where);
}

int64_t Cifar100::size() const { return held(files, "size").size(); }

Cifar100Image Cifar100::get(int64_t index) const try {
  int64_t label = this->label(index);
  return {files->image(index), label, coarse_label(index)};
} catch (...) {
  detail::raiseExhausted({});
}

int64_t Cifar100::label(int64_t index) const {
  return held(files, "label").label(index, 1);
}

int64_t Cifar100::coarse_label(int64_t index) const {
  return held(files, "coarse_label").label(index, 0);
}

const std::vector<std::string> &Cifar100::classes() const {
  return held(files, "classes").names[1];
}

const std::vector<std::string> &Cifar100::coarse_classes() const {
  return held(files, "coarse_classes").names[0];
}

} // namespace sinter::data
