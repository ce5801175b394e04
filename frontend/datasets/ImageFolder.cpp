/// Pictures in folders.
#include <sinter/data/ImageFolder.h>

#include "frontend/Raise.h"
#include "frontend/datasets/Listing.h"
#include "runtime/support/Printable.h"

#include <sinter/Held.h>
#include <sinter/data/Dataset.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

namespace sinter::data {

namespace {

const auto &itemOf(const auto &items, int64_t index) {
  detail::checkItem(index, static_cast<int64_t>(items.size()));
  return items[static_cast<size_t>(index)];
}

Status checkClasses(const std::vector<std::string> &classes) {
  std::set<std::string> seen;
  for (const std::string &name : classes)
    if (!seen.insert(name).second)
      return makeError(
          ErrorKind::invalid_argument,
          fmt::format("classes: '{}' is there twice", printableName(name)));
  return {};
}

} // namespace

// ---- a class each -----------------------------------------------------------

struct ImageFolder::Files {
  ClassListing listing;
  ImageOptions options;
};

ImageFolder::ImageFolder(const std::string &folder,
                         const ImageFolderOptions &options,
                         std::source_location where) try {
  detail::unwrap(checkClasses(options.classes), where);
  files = std::make_shared<const Files>(
      Files{detail::unwrap(
                listClasses(folder, options.endings, options.classes), where),
            options.image});
} catch (...) {
  detail::raiseExhausted(where);
}

int64_t ImageFolder::size() const {
  return static_cast<int64_t>(detail::held(files, "size").listing.files.size());
}

LabeledImage ImageFolder::get(int64_t index) const {
  const auto &[path, label] =
      itemOf(detail::held(files, "get").listing.files, index);
  return {read_image(path, files->options, {}), label};
}

int64_t ImageFolder::label(int64_t index) const {
  return itemOf(detail::held(files, "label").listing.files, index).label;
}

const std::string &ImageFolder::file(int64_t index) const {
  return itemOf(detail::held(files, "file").listing.files, index).path;
}

const std::vector<std::string> &ImageFolder::classes() const {
  return detail::held(files, "classes").listing.classes;
}

// ---- several labels each ----------------------------------------------------

struct MultiLabelImages::Items {
  struct Item {
    std::string file;
    std::vector<float> labels;
  };
  std::vector<Item> items;
  std::vector<std::string> classes;
  ImageOptions options;
};

namespace {

Result<std::vector<float>> oneHots(const MultiLabelFile &item,
                                   const std::vector<std::string> &classes) {
  std::vector<float> labels(classes.size());
  for (const std::string &label : item.labels) {
    auto place = std::ranges::find(classes, label);
    if (place == classes.end())
      return makeError(ErrorKind::invalid_argument,
                       fmt::format("{}: '{}' is none of the {} classes",
                                   printableName(item.file),
                                   printableName(label), classes.size()));
    labels[static_cast<size_t>(place - classes.begin())] = 1;
  }
  return labels;
}

} // namespace

MultiLabelImages::MultiLabelImages(std::vector<MultiLabelFile> items,
                                   std::vector<std::string> classes,
                                   const ImageOptions &options,
                                   std::source_location where) try {
  detail::unwrap(checkClasses(classes), where);
  Items all{{}, std::move(classes), options};
  for (MultiLabelFile &item : items) {
    auto labels = detail::unwrap(oneHots(item, all.classes), where);
    all.items.push_back({std::move(item.file), std::move(labels)});
  }
  this->items = std::make_shared<const Items>(std::move(all));
} catch (...) {
  detail::raiseExhausted(where);
}

int64_t MultiLabelImages::size() const {
  return static_cast<int64_t>(detail::held(items, "size").items.size());
}

MultiLabelImage MultiLabelImages::get(int64_t index) const {
  const auto &[file, labels] = itemOf(detail::held(items, "get").items, index);
  return {read_image(file, items->options, {}), labels};
}

const std::string &MultiLabelImages::file(int64_t index) const {
  return itemOf(detail::held(items, "file").items, index).file;
}

const std::vector<std::string> &MultiLabelImages::classes() const {
  return detail::held(items, "classes").classes;
}

// ---- masks ------------------------------------------------------------------

struct SegmentationImages::Items {
  std::vector<SegmentationFile> items;
  std::vector<std::string> classes;
  SegmentationOptions options;
};

namespace {

Status checkMask(const SegmentedImage &item, const std::string &file,
                 const SegmentationImages::Items &items) {
  const auto &[image, mask] = item;
  auto broken = [&](const std::string &what) {
    return makeError(ErrorKind::io,
                     fmt::format("{}: {}", printableName(file), what));
  };
  if (mask.height != image.height || mask.width != image.width)
    return broken(fmt::format("a mask of {} x {} pixels for an image of {} x "
                              "{}",
                              mask.height, mask.width, image.height,
                              image.width));
  auto isNone = [&](uint8_t number) {
    return number >= items.classes.size() && number != items.options.ignored;
  };
  auto none = std::ranges::find_if(mask.pixels, isNone);
  if (none != mask.pixels.end())
    return broken(fmt::format("pixel {} of the mask is {}, of {} classes",
                              none - mask.pixels.begin(), *none,
                              items.classes.size()));
  return {};
}

} // namespace

SegmentationImages::SegmentationImages(std::vector<SegmentationFile> items,
                                       std::vector<std::string> classes,
                                       const SegmentationOptions &options,
                                       std::source_location where) try {
  detail::unwrap(checkClasses(classes), where);
  this->items = std::make_shared<const Items>(
      Items{std::move(items), std::move(classes), options});
} catch (...) {
  detail::raiseExhausted(where);
}

int64_t SegmentationImages::size() const {
  return static_cast<int64_t>(detail::held(items, "size").items.size());
}

SegmentedImage SegmentationImages::get(int64_t index) const try {
  const auto &[image, mask] = itemOf(detail::held(items, "get").items, index);
  ImageOptions options = items->options.image;
  options.channels = 0;
  options.class_indices = true;
  SegmentedImage item{read_image(image, items->options.image, {}),
                      read_image(mask, options, {})};
  detail::unwrap(checkMask(item, mask, *items), {});
  return item;
} catch (...) {
  detail::raiseExhausted({});
}

const SegmentationFile &SegmentationImages::file(int64_t index) const {
  return itemOf(detail::held(items, "file").items, index);
}

const std::vector<std::string> &SegmentationImages::classes() const {
  return detail::held(items, "classes").classes;
}

namespace {

/// Files by their names without endings.
Result<std::map<std::string, std::string>>
filesByStem(const std::string &folder,
            const std::vector<std::string> &endings) {
  SINTER_TRY_ASSIGN(auto files, listFiles(folder, endings));
  std::map<std::string, std::string> stems;
  for (const std::string &file : files) {
    std::filesystem::path path(file);
    std::string full = std::filesystem::path(folder) / path;
    if (!stems.emplace(path.replace_extension(), full).second)
      return makeError(ErrorKind::io,
                       fmt::format("{}: another file has the same name but for "
                                   "its ending",
                                   printableName(full)));
  }
  return stems;
}

Result<std::vector<SegmentationFile>> pairFiles(const std::string &images,
                                                const std::string &masks) {
  SINTER_TRY_ASSIGN(auto pictures,
                    filesByStem(images, {".png", ".jpg", ".jpeg"}));
  SINTER_TRY_ASSIGN(auto classes, filesByStem(masks, {".png"}));
  std::vector<SegmentationFile> pairs;
  auto without = [](const std::string &file, const char *what) {
    return makeError(ErrorKind::io,
                     fmt::format("{}: {}", printableName(file), what));
  };
  for (const auto &[stem, file] : classes)
    if (!pictures.contains(stem))
      return without(file, "a mask without an image");
  for (const auto &[stem, file] : pictures) {
    auto mask = classes.find(stem);
    if (mask == classes.end())
      return without(file, "an image without a mask");
    pairs.push_back({file, mask->second});
  }
  return pairs;
}

} // namespace

std::vector<SegmentationFile>
segmentation_files(const std::string &images, const std::string &masks,
                   std::source_location where) try {
  return detail::unwrap(pairFiles(images, masks), where);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::data
