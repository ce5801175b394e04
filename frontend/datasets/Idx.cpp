/// IDX files, and MNIST in four of them.
#include <sinter/data/Idx.h>

#include "frontend/Leaves.h"
#include "frontend/Raise.h"
#include "runtime/files/MappedFile.h"
#include "runtime/params/Gunzip.h"
#include "runtime/support/Printable.h"

#include <sinter/Held.h>
#include <sinter/data/Dataset.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>

namespace sinter::data {

namespace {

/// Fills a span with what comes next, and says how much that was.
using Source = std::function<Result<size_t>(std::span<std::byte>)>;

ErrorInfo broken(std::string_view name, const std::string &what) {
  return makeError(ErrorKind::io,
                   fmt::format("{}: {}", printableName(name), what));
}

struct Element {
  DType dtype;
  size_t size;
};

std::optional<Element> elementOf(std::byte code) {
  switch (std::to_integer<int>(code)) {
  case 0x08:
    return Element{DType::u8, 1};
  case 0x09:
    return Element{DType::i8, 1};
  case 0x0b:
    return Element{DType::i16, 2};
  case 0x0c:
    return Element{DType::i32, 4};
  case 0x0d:
    return Element{DType::f32, 4};
  case 0x0e:
    return Element{DType::f64, 8};
  default:
    return std::nullopt;
  }
}

/// One file, plain or unpacked on the way.
class Reader {
public:
  /// No more than `limit` bytes can come.
  Reader(std::string_view name, Source source, uint64_t limit)
      : name(name), source(std::move(source)), limit(limit) {}

  Result<IdxArray> read() {
    SINTER_TRY(readHeader());
    SINTER_TRY_ASSIGN(size_t got, readData());
    std::byte further{};
    SINTER_TRY_ASSIGN(size_t more, source({&further, 1}));
    if (got < size)
      return broken(
          name, fmt::format("{} bytes of data, its header says {}", got, size));
    if (more != 0)
      return broken(name, fmt::format("it has more than the {} bytes of data "
                                      "that its header says",
                                      size));
    if (std::endian::native == std::endian::little)
      for (size_t at = 0; width > 1 && at < size; at += width)
        std::reverse(array.bytes.begin() + std::ptrdiff_t(at),
                     array.bytes.begin() + std::ptrdiff_t(at + width));
    return std::move(array);
  }

private:
  std::string_view name;
  Source source;
  uint64_t limit;
  IdxArray array;
  size_t width = 0; ///< bytes of an element
  size_t size = 0;  ///< bytes of all

  /// Memory grows with what has come: a packed file may say much and have
  /// little.
  Result<size_t> readData() {
    constexpr size_t first = 1 << 24;
    size_t got = 0;
    while (got < size) {
      array.bytes.resize(std::min(size, std::max(first, 2 * got)));
      SINTER_TRY_ASSIGN(size_t more,
                        source(std::span(array.bytes).subspan(got)));
      got += more;
      if (got < array.bytes.size())
        break;
    }
    return got;
  }

  Status readHeader() {
    std::array<std::byte, 4> magic{};
    SINTER_TRY_ASSIGN(size_t got, source(magic));
    if (got < magic.size() || magic[0] != std::byte{} ||
        magic[1] != std::byte{})
      return broken(name, "it does not begin as an IDX file");
    auto element = elementOf(magic[2]);
    if (!element)
      return broken(name, fmt::format("{:#04x} is no type of an IDX file",
                                      std::to_integer<int>(magic[2])));
    array.dtype = element->dtype;
    width = element->size;
    return readShape(std::to_integer<size_t>(magic[3]));
  }

  Status readShape(size_t rank) {
    uint64_t bytes = width;
    bool isEmpty = false, tooMuch = false;
    for (size_t axis = 0; axis < rank; ++axis) {
      std::array<std::byte, 4> digits{};
      SINTER_TRY_ASSIGN(size_t got, source(digits));
      if (got < digits.size())
        return broken(name, "its header is cut short");
      uint32_t dim = 0;
      for (std::byte digit : digits)
        dim = dim << 8 | std::to_integer<uint32_t>(digit);
      array.shape.push_back(dim);
      isEmpty |= dim == 0;
      tooMuch |= dim != 0 && bytes > limit / dim;
      if (!tooMuch && dim != 0)
        bytes *= dim;
    }
    if (tooMuch && !isEmpty)
      return broken(name, fmt::format("its header says [{}], more than there "
                                      "can be in the file",
                                      fmt::join(array.shape, ",")));
    size = isEmpty ? 0 : bytes;
    return {};
  }
};

Result<IdxArray> readBytes(std::span<const std::byte> bytes,
                           const std::string &name) {
  // Deflate makes at most 1032 bytes of one.
  constexpr uint64_t mostOfOne = 1032;
  if (runtime::isGzip(bytes)) {
    SINTER_TRY_ASSIGN(auto packed, runtime::Gunzip::open(bytes, name));
    return Reader(
               name, [&](auto to) { return packed.read(to); },
               bytes.size() * mostOfOne)
        .read();
  }
  auto take = [&](std::span<std::byte> to) -> Result<size_t> {
    size_t count = std::min(to.size(), bytes.size());
    std::copy_n(bytes.begin(), count, to.begin());
    bytes = bytes.subspan(count);
    return count;
  };
  return Reader(name, take, bytes.size()).read();
}

Result<IdxArray> readFile(const std::string &file) {
  SINTER_TRY_ASSIGN(auto mapped, runtime::MappedFile::open(file));
  return readBytes(mapped.bytes(), file);
}

/// The file of a folder that is there, under any of its usual names.
Result<std::string> findFile(const std::string &folder,
                             const std::string &front, const char *back) {
  std::error_code ignored;
  std::filesystem::path base(folder);
  for (const char *joint : {"-", "."})
    for (const char *end : {"", ".gz"}) {
      std::string path = base / (front + joint + back + end);
      if (std::filesystem::exists(path, ignored))
        return path;
    }
  return broken(folder,
                fmt::format("it has no {}-{} and none with .gz", front, back));
}

Result<IdxArray> findArray(const std::string &folder, const std::string &front,
                           const char *back, size_t rank) {
  SINTER_TRY_ASSIGN(std::string file, findFile(folder, front, back));
  SINTER_TRY_ASSIGN(IdxArray array, readFile(file));
  if (array.dtype != DType::u8 || array.shape.size() != rank)
    return broken(file, fmt::format("{}[{}], expected u8 of {} axes",
                                    name(array.dtype),
                                    fmt::join(array.shape, ","), rank));
  return array;
}

Status checkCounts(const std::string &folder, const IdxArray &images,
                   const IdxArray &labels) {
  if (images.shape[0] != labels.shape[0])
    return broken(folder, fmt::format("{} images, but {} labels",
                                      images.shape[0], labels.shape[0]));
  return {};
}

} // namespace

IdxArray read_idx(const std::string &file, std::source_location where) try {
  return detail::unwrap(readFile(file), where);
} catch (...) {
  detail::raiseExhausted(where);
}

IdxArray parse_idx(std::span<const std::byte> bytes,
                   std::source_location where) try {
  return detail::unwrap(readBytes(bytes, "idx"), where);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor to_tensor(const IdxArray &array, std::source_location where) try {
  return from_bytes(array.bytes, array.dtype,
                    Dims(array.shape.begin(), array.shape.end()), {}, where);
} catch (...) {
  detail::raiseExhausted(where);
}

Mnist::Mnist(const std::string &folder, bool train,
             std::source_location where) try {
  std::string front = train ? "train" : "t10k";
  Files read{detail::unwrap(
                 findArray(folder, front + "-images", "idx3-ubyte", 3), where),
             detail::unwrap(
                 findArray(folder, front + "-labels", "idx1-ubyte", 1), where)};
  detail::unwrap(checkCounts(folder, read.images, read.labels), where);
  files = std::make_shared<const Files>(std::move(read));
} catch (...) {
  detail::raiseExhausted(where);
}

int64_t Mnist::size() const {
  return detail::held(files, "size").images.shape[0];
}

LabeledImage Mnist::get(int64_t index) const try {
  int64_t label = this->label(index);
  const IdxArray &images = files->images;
  Image image{images.shape[1], images.shape[2], 1, {}};
  auto count = static_cast<size_t>(image.height * image.width);
  const auto *first = reinterpret_cast<const uint8_t *>(images.bytes.data()) +
                      static_cast<size_t>(index) * count;
  image.pixels.assign(first, first + count);
  return {std::move(image), label};
} catch (...) {
  detail::raiseExhausted({});
}

int64_t Mnist::label(int64_t index) const try {
  detail::checkItem(index, size());
  return std::to_integer<int64_t>(files->labels.bytes[size_t(index)]);
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::data
