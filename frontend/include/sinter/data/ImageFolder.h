/// Pictures in folders: for classes, for several labels each, for masks.
#pragma once

#include <sinter/data/Image.h>

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

namespace sinter::data {

struct ImageFolderOptions {
  ImageOptions image = {.channels = 3};
  /// Classes in the order of their labels. Folders of other names are an Error.
  /// None are the names of the folders, ordered by their bytes.
  std::vector<std::string> classes = {};
  /// What names of pictures end in, in whatever case.
  std::vector<std::string> endings = {".png", ".jpg", ".jpeg"};
};

/// A folder in which each class has a folder with its pictures, also in folders
/// of that. Labels follow the classes' order; items are ordered by the bytes of
/// their names. Names that begin with a dot are left. The folder is listed
/// once; pictures are decoded when they are asked for, see `read_image`.
///
/// `io` Errors are a folder without a picture, and links that lead nowhere or
/// to a folder that they are in.
class ImageFolder {
public:
  explicit ImageFolder(
      const std::string &folder, const ImageFolderOptions &options = {},
      std::source_location where = std::source_location::current());

  int64_t size() const;
  LabeledImage get(int64_t index) const;
  int64_t label(int64_t index) const;
  const std::string &file(int64_t index) const;
  const std::vector<std::string> &classes() const;

  struct Files;

private:
  std::shared_ptr<const Files> files;
};

/// A file and the names of the classes that it shows.
struct MultiLabelFile {
  std::string file;
  std::vector<std::string> labels;
};

/// A picture, and for each class 1 where it shows it, else 0.
struct MultiLabelImage {
  Image image;
  std::vector<float> labels;
};

/// Pictures that show any number of classes each. A label that is none of the
/// classes, and classes of one name, are `invalid_argument` Errors.
class MultiLabelImages {
public:
  MultiLabelImages(
      std::vector<MultiLabelFile> items, std::vector<std::string> classes,
      const ImageOptions &options = {.channels = 3},
      std::source_location where = std::source_location::current());

  int64_t size() const;
  MultiLabelImage get(int64_t index) const;
  const std::string &file(int64_t index) const;
  const std::vector<std::string> &classes() const;

  struct Items;

private:
  std::shared_ptr<const Items> items;
};

/// A picture's file and that of its mask.
struct SegmentationFile {
  std::string image;
  std::string mask;
};

/// A picture, and the class of each of its pixels: a mask of its height and
/// width, and one channel.
struct SegmentedImage {
  Image image;
  Image mask;
};

struct SegmentationOptions {
  ImageOptions image = {.channels = 3};
  /// What a mask says of pixels that have no class.
  uint8_t ignored = 255;
};

/// Pictures with masks, PNGs whose numbers are classes, see
/// `ImageOptions::class_indices`. A mask of another size than its picture, or
/// with a number that is no class and not `ignored`, is an `io` Error of `get`.
class SegmentationImages {
public:
  SegmentationImages(
      std::vector<SegmentationFile> items, std::vector<std::string> classes,
      const SegmentationOptions &options = {},
      std::source_location where = std::source_location::current());

  int64_t size() const;
  SegmentedImage get(int64_t index) const;
  const SegmentationFile &file(int64_t index) const;
  const std::vector<std::string> &classes() const;

  struct Items;

private:
  std::shared_ptr<const Items> items;
};

/// The files of two folders whose names are the same but for their endings,
/// ordered. A picture without a mask, and a mask without a picture, are `io`
/// Errors.
std::vector<SegmentationFile> segmentation_files(
    const std::string &images, const std::string &masks,
    std::source_location where = std::source_location::current());

} // namespace sinter::data
