/// CIFAR-10 and CIFAR-100 in their binary version.
#pragma once

#include <sinter/data/Image.h>

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

namespace sinter::detail {
struct CifarFiles;
} // namespace sinter::detail

namespace sinter::data {

/// The folder `cifar-10-batches-bin` of the binary version
/// (https://www.cs.toronto.edu/~kriz/cifar.html): 32 x 32 pictures in colour.
/// Files are mapped, and shared by copies. A file whose size is not that of
/// whole records, a label that no class has, and a folder of the Python version
/// are `io` Errors.
class Cifar10 {
public:
  explicit Cifar10(
      const std::string &folder, bool train = true,
      std::source_location where = std::source_location::current());

  int64_t size() const;
  LabeledImage get(int64_t index) const;
  int64_t label(int64_t index) const;
  /// The names in `batches.meta.txt`; empty where it is missing.
  const std::vector<std::string> &classes() const;

private:
  std::shared_ptr<const detail::CifarFiles> files;
};

/// An item of CIFAR-100: `label` is one of 100 classes, `coarse_label` one of
/// the 20 groups of them.
struct Cifar100Image {
  Image image;
  int64_t label = 0;
  int64_t coarse_label = 0;
};

/// The folder `cifar-100-binary`; otherwise as Cifar10.
class Cifar100 {
public:
  explicit Cifar100(
      const std::string &folder, bool train = true,
      std::source_location where = std::source_location::current());

  int64_t size() const;
  Cifar100Image get(int64_t index) const;
  int64_t label(int64_t index) const;
  int64_t coarse_label(int64_t index) const;
  /// The names in `fine_label_names.txt`; empty where it is missing.
  const std::vector<std::string> &classes() const;
  /// The names in `coarse_label_names.txt`; empty where it is missing.
  const std::vector<std::string> &coarse_classes() const;

private:
  std::shared_ptr<const detail::CifarFiles> files;
};

} // namespace sinter::data
