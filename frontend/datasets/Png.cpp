/// PNG files, by libpng.
#include "frontend/datasets/ImageFormats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <png.h>
#include <string>

namespace sinter::data {

namespace {

ErrorInfo broken(std::string what) {
  return makeError(ErrorKind::io, std::move(what));
}

/// What libpng's callbacks know. An error leaves libpng by a jump, past frames
/// that hold nothing to be destroyed.
struct Session {
  std::jmp_buf back;
  std::array<char, 128> message = {};

  [[noreturn]] static void fail(png_structp png, png_const_charp text) {
    auto *session = static_cast<Session *>(png_get_error_ptr(png));
    std::strncpy(session->message.data(), text, session->message.size() - 1);
    std::longjmp(session->back, 1);
  }
  static void ignore(png_structp, png_const_charp) {}
};

/// Calls `step(object)`, which is ended where libpng finds an error: false.
template <typename T> bool attempt(T &object, void (*step)(T &)) {
  if (setjmp(object.session.back) != 0) // NOLINT: libpng knows no other way
    return false;
  step(object);
  return true;
}

class PngReader {
public:
  PngReader(std::span<const std::byte> bytes, const ImageOptions &options)
      : rest(bytes), options(options), size(bytes.size()) {}
  PngReader(const PngReader &) = delete;
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }

  Result<Image> read() {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &session, Session::fail,
                                 Session::ignore);
    info = png ? png_create_info_struct(png) : nullptr;
    if (!info)
      return makeError(ErrorKind::out_of_memory, "no memory to decode it");
    if (!attempt(*this, readHeader))
      return damaged();
    SINTER_TRY(checkPixels(width, height, options));
    // Deflate makes at most 1032 bytes of one.
    if (rawRow > size * 1032 / height + 1032)
      return broken(fmt::format("{} x {} pixels are more than there can be in "
                                "its {} bytes",
                                height, width, size));
    if (options.class_indices && !hasIndices)
      return broken("a PNG of colours or of 16 bits stores no classes");
    if (!attempt(*this, setTransforms))
      return damaged();
    image.height = height;
    image.width = width;
    image.channels = channels == 2 ? 4 : channels;
    image.pixels.resize(size_t(height) * width * size_t(image.channels));
    rowBytes = size_t(width) * size_t(image.channels);
    if (!attempt(*this, readRows))
      return damaged();
    return std::move(image);
  }

  Session session;

private:
  std::span<const std::byte> rest;
  const ImageOptions &options;
  size_t size;
  png_structp png = nullptr;
  png_infop info = nullptr;
  png_uint_32 width = 0, height = 0;
  size_t rawRow = 0; ///< bytes of a row as it is packed
  size_t rowBytes = 0;
  int channels = 0;
  bool hasIndices = false; ///< one number a pixel, of 8 bits or fewer
  Image image;

  ErrorInfo damaged() const {
    return broken(std::string("a damaged PNG: ") + session.message.data());
  }

  static void give(png_structp png, png_bytep to, size_t count) {
    auto &reader = *static_cast<PngReader *>(png_get_io_ptr(png));
    if (count > reader.rest.size())
      png_error(png, "it is cut short");
    std::memcpy(to, reader.rest.data(), count);
    reader.rest = reader.rest.subspan(count);
  }

  static void readHeader(PngReader &reader) {
    png_structp png = reader.png;
    png_set_read_fn(png, &reader, give);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_cache_max(png, 16);
    png_set_chunk_malloc_max(png, 1 << 20);
    // Texts and profiles are not unpacked.
    png_set_keep_unknown_chunks(
        png, PNG_HANDLE_CHUNK_NEVER,
        reinterpret_cast<png_const_bytep>("iCCP\0zTXt\0iTXt\0tEXt\0sPLT\0eXIf"),
        6);
    png_read_info(png, reader.info);
    reader.width = png_get_image_width(png, reader.info);
    reader.height = png_get_image_height(png, reader.info);
    reader.rawRow = png_get_rowbytes(png, reader.info);
    int type = png_get_color_type(png, reader.info);
    reader.hasIndices =
        (type == PNG_COLOR_TYPE_PALETTE || type == PNG_COLOR_TYPE_GRAY) &&
        png_get_bit_depth(png, reader.info) <= 8;
  }

  static void setTransforms(PngReader &reader) {
    png_structp png = reader.png;
    int type = png_get_color_type(png, reader.info);
    if (reader.options.class_indices)
      png_set_packing(png);
    else {
      png_set_expand(png); // palettes, 1 to 4 bits, a transparent colour
      png_set_strip_16(png);
      if (type == PNG_COLOR_TYPE_GRAY_ALPHA ||
          (type == PNG_COLOR_TYPE_GRAY &&
           png_get_valid(png, reader.info, PNG_INFO_tRNS)))
        png_set_gray_to_rgb(png);
    }
    png_set_interlace_handling(png);
    png_read_update_info(png, reader.info);
    reader.channels = png_get_channels(png, reader.info);
  }

  static void readRows(PngReader &reader) {
    png_structp png = reader.png;
    if (png_get_rowbytes(png, reader.info) != reader.rowBytes)
      png_error(png, "rows of another length than its header says");
    int passes = png_get_interlace_type(png, reader.info) == PNG_INTERLACE_NONE
                     ? 1
                     : PNG_INTERLACE_ADAM7_PASSES;
    for (int pass = 0; pass < passes; ++pass)
      for (png_uint_32 y = 0; y < reader.height; ++y)
        png_read_row(png, reader.image.pixels.data() + y * reader.rowBytes,
                     nullptr);
    png_read_end(png, nullptr);
  }
};

class PngWriter {
public:
  explicit PngWriter(const Image &image) : image(image) {}
  PngWriter(const PngWriter &) = delete;
  ~PngWriter() { png_destroy_write_struct(&png, &info); }

  Result<std::vector<std::byte>> write() {
    png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &session,
                                  Session::fail, Session::ignore);
    info = png ? png_create_info_struct(png) : nullptr;
    if (!info)
      return makeError(ErrorKind::out_of_memory, "no memory to encode it");
    if (!attempt(*this, writeAll))
      return makeError(ErrorKind::invalid_argument, session.message.data());
    return std::move(bytes);
  }

  Session session;

private:
  const Image &image;
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::vector<std::byte> bytes;

  bool append(std::span<const std::byte> more) noexcept try {
    bytes.insert(bytes.end(), more.begin(), more.end());
    return true;
  } catch (...) {
    return false;
  }

  static void take(png_structp png, png_bytep from, size_t count) {
    auto &writer = *static_cast<PngWriter *>(png_get_io_ptr(png));
    if (!writer.append({reinterpret_cast<std::byte *>(from), count}))
      png_error(png, "no memory for the file");
  }

  static void writeAll(PngWriter &writer) {
    png_structp png = writer.png;
    const Image &image = writer.image;
    png_set_write_fn(png, &writer, take, nullptr);
    int type = image.channels == 1   ? PNG_COLOR_TYPE_GRAY
               : image.channels == 3 ? PNG_COLOR_TYPE_RGB
                                     : PNG_COLOR_TYPE_RGB_ALPHA;
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(png, writer.info, png_uint_32(image.width),
                 png_uint_32(image.height), 8, type, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, writer.info);
    auto row = size_t(image.width * image.channels);
    for (int64_t y = 0; y < image.height; ++y)
      png_write_row(png, image.pixels.data() + size_t(y) * row);
    png_write_end(png, nullptr);
  }
};

} // namespace

bool isPng(std::span<const std::byte> bytes) {
  constexpr size_t length = 8;
  return bytes.size() >= length &&
         png_sig_cmp(reinterpret_cast<png_const_bytep>(bytes.data()), 0,
                     length) == 0;
}

Result<Image> decodePng(std::span<const std::byte> bytes,
                        const ImageOptions &options) {
  return PngReader(bytes, options).read();
}

Result<std::vector<std::byte>> encodePngBytes(const Image &image) {
  return PngWriter(image).write();
}

} // namespace sinter::data
