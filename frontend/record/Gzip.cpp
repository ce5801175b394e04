/// Gzip files (RFC 1952) of records. An extra field of the head, which other
/// programs pass over, says what is inside:
///
///     "SN", 17 bytes: the format's letter, u64 bytes unpacked,
///     u64 XXH3 of the file without these last eight
#include "frontend/record/RecordForms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <zlib.h>

namespace sinter::record {

using namespace std::string_view_literals;

/// No time, no name, no system: the same record is the same file.
constexpr std::string_view head =
    "\x1f\x8b\x08\x04\0\0\0\0\0\xff\x15\0SN\x11\0"sv;
constexpr size_t sizeAt = head.size() + 1, sumAt = sizeAt + sizeof(uint64_t),
                 bodyAt = sumAt + sizeof(uint64_t);
constexpr size_t tailBytes = 8;          // CRC-32 and the size
constexpr size_t step = size_t(1) << 30; // zlib counts in 32 bits

static char letterOf(RecordFormat format) {
  return format == RecordFormat::json_gz        ? 'j'
         : format == RecordFormat::named_mpk_gz ? 'm'
                                                : 'b';
}

std::optional<RecordFormat> gzippedFormat(ByteSpan file) {
  if (file.size() < bodyAt + tailBytes ||
      std::memcmp(file.data(), head.data(), head.size()) != 0)
    return std::nullopt;
  for (RecordFormat format : {RecordFormat::json_gz, RecordFormat::named_mpk_gz,
                              RecordFormat::bin_gz})
    if (file[head.size()] == std::byte(letterOf(format)))
      return format;
  return std::nullopt;
}

static uint64_t sumOf(ByteSpan file) {
  Checksum sum;
  sum.add(file.first(sumAt));
  sum.add(file.subspan(bodyAt));
  return sum.value();
}

namespace {

/// A stream of zlib, deflating or inflating, without a head of its own.
struct Stream {
  z_stream own = {};
  int (*end)(z_stream *) = nullptr;
  ~Stream() {
    if (end)
      end(&own);
  }
};

} // namespace

template <typename T> static void append(std::vector<std::byte> &to, T number) {
  auto *bytes = reinterpret_cast<const std::byte *>(&number);
  to.insert(to.end(), bytes, bytes + sizeof(number));
}

Result<std::vector<std::byte>> gzip(RecordFormat format, Pieces &pieces) {
  std::vector<std::byte> file;
  ByteSpan front = std::as_bytes(std::span(head));
  file.assign(front.begin(), front.end());
  file.push_back(std::byte(letterOf(format)));
  append(file, pieces.size());
  append(file, uint64_t(0)); // the checksum's place
  Stream stream;
  if (deflateInit2(&stream.own, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS,
                   8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  stream.end = deflateEnd;
  std::vector<std::byte> packed(size_t(1) << 18);
  uint32_t crc = 0;
  auto pack = [&](ByteSpan bytes, int flush) {
    crc = uint32_t(crc32_z(crc, reinterpret_cast<const Bytef *>(bytes.data()),
                           bytes.size()));
    stream.own.next_in =
        reinterpret_cast<Bytef *>(const_cast<std::byte *>(bytes.data()));
    stream.own.avail_in = uInt(bytes.size());
    do {
      stream.own.next_out = reinterpret_cast<Bytef *>(packed.data());
      stream.own.avail_out = uInt(packed.size());
      deflate(&stream.own, flush);
      file.insert(file.end(), packed.begin(),
                  packed.end() - stream.own.avail_out);
    } while (stream.own.avail_out == 0);
  };
  for (ByteSpan part : pieces.parts())
    for (; !part.empty(); part = part.subspan(std::min(step, part.size())))
      pack(part.first(std::min(step, part.size())), Z_NO_FLUSH);
  constexpr std::byte none{};
  pack({&none, 0}, Z_FINISH);
  append(file, crc);
  append(file, uint32_t(pieces.size()));
  uint64_t sum = sumOf(file);
  std::memcpy(file.data() + sumAt, &sum, sizeof(sum));
  return file;
}

static ErrorInfo damaged(std::string_view what) {
  return makeError(ErrorKind::io, fmt::format("it is damaged: {}", what));
}

/// Memory is taken for what came out, not for what the file says.
Result<std::vector<std::byte>> gunzip(ByteSpan file, uint64_t most,
                                      bool check) {
  uint64_t size = 0, sum = 0;
  std::memcpy(&size, file.data() + sizeAt, sizeof(size));
  std::memcpy(&sum, file.data() + sumAt, sizeof(sum));
  if (check && sum != sumOf(file))
    return makeError(ErrorKind::io, std::string(damagedText));
  if (size > most)
    return makeError(ErrorKind::io,
                     fmt::format("it unpacks to {} bytes, more than {}; "
                                 ".most_bytes of LoadRecordOptions allows more",
                                 size, most));
  ByteSpan packed = file.subspan(bodyAt, file.size() - bodyAt - tailBytes);
  constexpr uint64_t mostRatio = 1100; // deflate makes at most 1032 of a byte
  if (size / mostRatio > packed.size())
    return damaged("it says that it unpacks to more than it can");
  Stream stream;
  if (inflateInit2(&stream.own, -MAX_WBITS) != Z_OK)
    throw std::bad_alloc();
  stream.end = inflateEnd;
  std::vector<std::byte> bytes;
  size_t read = 0, written = 0;
  int state = Z_OK;
  while (state == Z_OK) {
    if (written == bytes.size())
      bytes.resize(std::min<uint64_t>(
          size + 1, std::max<uint64_t>(2 * written, size_t(1) << 20)));
    size_t in = std::min(step, packed.size() - read);
    size_t out = std::min(step, bytes.size() - written);
    stream.own.next_in = reinterpret_cast<Bytef *>(
        const_cast<std::byte *>(packed.data() + read));
    stream.own.avail_in = uInt(in);
    stream.own.next_out = reinterpret_cast<Bytef *>(bytes.data() + written);
    stream.own.avail_out = uInt(out);
    state = inflate(&stream.own, Z_NO_FLUSH);
    read += in - stream.own.avail_in;
    written += out - stream.own.avail_out;
    if (written > size)
      return damaged("it unpacks to more than it says");
  }
  bytes.resize(written);
  if (state != Z_STREAM_END || read != packed.size() || written != size)
    return damaged("it cannot be unpacked");
  uint32_t crc = 0, low = 0;
  std::memcpy(&crc, file.data() + file.size() - tailBytes, sizeof(crc));
  std::memcpy(&low, file.data() + file.size() - sizeof(low), sizeof(low));
  if (crc != crc32_z(0, reinterpret_cast<const Bytef *>(bytes.data()),
                     bytes.size()) ||
      low != uint32_t(size))
    return damaged("what it unpacks to does not have its CRC-32");
  return bytes;
}

} // namespace sinter::record
