/// IDX files, and the data sets that come in them: MNIST and those like it.
#pragma once

#include <sinter/data/Image.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <vector>

namespace sinter::data {

/// A dense array of numbers of an IDX file.
struct IdxArray {
  DType dtype = DType::u8; ///< u8, i8, i16, i32, f32 or f64
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes; ///< row-major, in the order of this machine

  bool operator==(const IdxArray &) const = default;
};

/// Reads an IDX file (http://yann.lecun.com/exdb/mnist) of any dtype and rank,
/// plain or packed by gzip, which its first bytes say. A header that does not
/// fit the size of the file, to the byte, is an `io` Error that names it,
/// before memory is had for what it says.
IdxArray read_idx(const std::string &file,
                  std::source_location where = std::source_location::current());

/// The same of a file's bytes, which messages call `idx`.
IdxArray
parse_idx(std::span<const std::byte> bytes,
          std::source_location where = std::source_location::current());

/// The array as a tensor of its dtype and shape.
Tensor to_tensor(const IdxArray &array,
                 std::source_location where = std::source_location::current());

/// MNIST, Fashion-MNIST, KMNIST and others that come as four files:
/// `train-images-idx3-ubyte`, `train-labels-idx1-ubyte`, and `t10k-` for tests;
/// each plain or with `.gz`, and with a dot or a dash before `idx`. Items are
/// gray images with their labels. All are in memory, shared by copies.
class Mnist {
public:
  explicit Mnist(const std::string &folder, bool train = true,
                 std::source_location where = std::source_location::current());

  int64_t size() const;
  LabeledImage get(int64_t index) const;
  /// The label alone.
  int64_t label(int64_t index) const;

private:
  struct Files {
    IdxArray images, labels;
  };
  std::shared_ptr<const Files> files;
};

} // namespace sinter::data
