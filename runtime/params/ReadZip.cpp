/// Zip archives: checking and reading. The layout is that of PKWARE's
/// APPNOTE.TXT 6.3.
#include "runtime/files/FileKind.h"
#include "runtime/params/Zip.h"
#include "runtime/params/ZipFormat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <zlib.h>

namespace sinter::runtime {

using namespace zip;

namespace {

ErrorInfo broken(const std::string &what, ErrorKind kind = ErrorKind::io) {
  return makeError(kind, "zip: " + what);
}

/// Little-endian numbers at positions that were checked.
class Bytes {
public:
  explicit Bytes(std::span<const std::byte> bytes) : bytes(bytes) {}
  uint16_t u16(size_t at) const { return get<uint16_t>(at); }
  uint32_t u32(size_t at) const { return get<uint32_t>(at); }
  uint64_t u64(size_t at) const { return get<uint64_t>(at); }
  size_t size() const { return bytes.size(); }
  std::span<const std::byte> all() const { return bytes; }
  /// Whether `count` bytes from `at` are there.
  bool holds(uint64_t at, uint64_t count) const {
    return at <= bytes.size() && count <= bytes.size() - at;
  }
  std::string text(size_t at, size_t count) const {
    return {reinterpret_cast<const char *>(bytes.data()) + at, count};
  }

private:
  std::span<const std::byte> bytes;
  template <typename T> T get(size_t at) const {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    return value;
  }
};

/// Where the list of entries stands.
struct Directory {
  uint64_t offset = 0, bytes = 0, entries = 0;
};

/// The position of the last record, which a comment may follow.
std::optional<size_t> findEnd(const Bytes &file) {
  constexpr size_t maxComment = 0xffff;
  if (file.size() < endBytes)
    return std::nullopt;
  size_t last = file.size() - endBytes;
  size_t first = last > maxComment ? last - maxComment : 0;
  for (size_t at = last + 1; at-- > first;)
    if (file.u32(at) == endSignature &&
        at + endBytes + file.u16(at + 20) == file.size())
      return at;
  return std::nullopt;
}

/// The directory by its 64-bit record, which the locator before the last record
/// points to.
Result<Directory> readWideEnd(const Bytes &file, size_t end) {
  if (end < locatorBytes || file.u32(end - locatorBytes) != locatorSignature)
    return broken("the 64-bit directory has no locator");
  uint64_t at = file.u64(end - locatorBytes + 8);
  if (!file.holds(at, wideEndBytes) || file.u32(at) != wideEndSignature)
    return broken("the 64-bit directory is not where the locator says");
  return Directory{file.u64(at + 48), file.u64(at + 40), file.u64(at + 32)};
}

Result<Directory> findDirectory(const Bytes &file) {
  std::optional<size_t> end = findEnd(file);
  bool isBegun = file.size() >= 4 && file.u32(0) == localSignature;
  if (!end && isBegun)
    return broken("the end of the archive is missing");
  if (!end)
    return broken(otherFile("not a zip archive", file.all()));
  if (file.u16(*end + 4) != 0 || file.u16(*end + 6) != 0)
    return broken("archives of several disks are not supported",
                  ErrorKind::unsupported);
  Directory directory{file.u32(*end + 16), file.u32(*end + 12),
                      file.u16(*end + 10)};
  if (directory.offset == wide32 || directory.bytes == wide32 ||
      directory.entries == wide16) {
    SINTER_TRY_ASSIGN(directory, readWideEnd(file, *end));
  }
  if (directory.offset > *end || directory.bytes > *end - directory.offset)
    return broken("the directory does not lie in the archive");
  if (directory.entries > directory.bytes / entryBytes)
    return broken(fmt::format("a directory of {} bytes cannot hold {} entries",
                              directory.bytes, directory.entries));
  return directory;
}

/// An entry as the directory has it: its offset is still that of its header.
struct Listed {
  ZipEntry entry;
  uint64_t next = 0; ///< position of the next entry
};

/// Puts 64-bit numbers in the place of those that do not fit 32 bits.
Status readWideFields(const Bytes &file, uint64_t at, uint64_t end,
                      ZipEntry &entry) {
  for (; at + 4 <= end; at += 4 + file.u16(at + 2)) {
    uint64_t field = at + 4, fieldEnd = field + file.u16(at + 2);
    if (fieldEnd > end)
      return broken(fmt::format("'{}': an extra field is cut off", entry.name));
    if (file.u16(at) != wideExtraId)
      continue;
    for (uint64_t *number : {&entry.size, &entry.packed, &entry.offset}) {
      if (*number != wide32)
        continue;
      if (field + 8 > fieldEnd)
        return broken(
            fmt::format("'{}': a 64-bit size is missing", entry.name));
      *number = file.u64(field);
      field += 8;
    }
  }
  return {};
}

Result<Listed> readListed(const Bytes &file, uint64_t at, uint64_t end) {
  if (end - at < entryBytes || file.u32(at) != entrySignature)
    return broken("an entry of the directory is cut off");
  uint64_t nameAt = at + entryBytes, extraAt = nameAt + file.u16(at + 28);
  uint64_t commentAt = extraAt + file.u16(at + 30);
  uint64_t next = commentAt + file.u16(at + 32);
  if (next > end)
    return broken("an entry of the directory is cut off");
  unsigned flags = file.u16(at + 8), method = file.u16(at + 10);
  ZipEntry entry{.name = file.text(nameAt, extraAt - nameAt),
                 .deflated = method == methodDeflated,
                 .offset = file.u32(at + 42),
                 .packed = file.u32(at + 20),
                 .size = file.u32(at + 24),
                 .crc = file.u32(at + 16)};
  if (flags & flagEncrypted)
    return broken(fmt::format("'{}' is encrypted", entry.name),
                  ErrorKind::unsupported);
  if (method != methodStored && method != methodDeflated)
    return broken(fmt::format("'{}': compression method {} is not supported",
                              entry.name, method),
                  ErrorKind::unsupported);
  SINTER_TRY(readWideFields(file, extraAt, commentAt, entry));
  return Listed{std::move(entry), next};
}

/// Moves the entry's offset from its header to its data, which must end before
/// the directory.
Status findData(const Bytes &file, uint64_t directory, ZipEntry &entry) {
  uint64_t at = entry.offset;
  bool there = file.holds(at, localBytes) && file.u32(at) == localSignature;
  if (!there)
    return broken(
        fmt::format("'{}' has no header where the directory says", entry.name));
  size_t nameBytes = file.u16(at + 26);
  uint64_t data = at + localBytes + nameBytes + file.u16(at + 28);
  if (data > directory || entry.packed > directory - data)
    return broken(
        fmt::format("'{}' does not lie before the directory", entry.name));
  if (file.text(at + localBytes, nameBytes) != entry.name)
    return broken(
        fmt::format("'{}' has another name in its own header", entry.name));
  if (!entry.deflated && entry.packed != entry.size)
    return broken(
        fmt::format("'{}' is stored, but its sizes differ", entry.name));
  entry.offset = data;
  return {};
}

/// An archive whose entries share bytes can unpack to far more than it holds.
Status checkApart(std::vector<std::pair<uint64_t, const ZipEntry *>> starts) {
  std::ranges::sort(starts);
  uint64_t end = 0;
  for (const auto &[start, entry] : starts) {
    if (start < end)
      return broken(fmt::format("'{}' lies in another entry", entry->name));
    end = entry->offset + entry->packed;
  }
  return {};
}

Status checkNames(std::span<const ZipEntry> entries) {
  std::vector<std::string_view> names;
  for (const ZipEntry &entry : entries)
    names.push_back(entry.name);
  std::ranges::sort(names);
  auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end())
    return broken(fmt::format("'{}' is there twice", *twice));
  return {};
}

/// What unpacking a deflate stream gave.
struct Unpacked {
  bool ended = false; ///< all was read, and nothing is missing
  size_t written = 0; ///< more than there is room for where that is too little
};

/// Unpacks a deflate stream until `to` is full.
Unpacked inflateInto(std::span<const std::byte> from, std::span<std::byte> to) {
  z_stream stream = {};
  if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return {};
  constexpr size_t step = 1 << 30; // zlib counts in 32 bits
  uint8_t overflow = 0;            // a byte too many ends here
  int state = Z_OK;
  size_t read = 0, written = 0;
  while (state == Z_OK) {
    size_t in = std::min(step, from.size() - read);
    size_t out = std::min(step, to.size() - written);
    stream.next_in =
        reinterpret_cast<Bytef *>(const_cast<std::byte *>(from.data() + read));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out =
        out ? reinterpret_cast<Bytef *>(to.data() + written) : &overflow;
    size_t room = out ? out : 1;
    stream.avail_out = static_cast<uInt>(room);
    state = ::inflate(&stream, Z_NO_FLUSH);
    read += in - stream.avail_in;
    size_t made = room - stream.avail_out;
    written += made;
    if (written > to.size() || (made == 0 && in == stream.avail_in))
      break;
  }
  ::inflateEnd(&stream);
  return {state == Z_STREAM_END && read == from.size(), written};
}

} // namespace

Result<ZipArchive> ZipArchive::parse(std::span<const std::byte> bytes) {
  Bytes file(bytes);
  SINTER_TRY_ASSIGN(Directory directory, findDirectory(file));
  ZipArchive archive;
  archive.file = bytes;
  std::vector<uint64_t> headers;
  uint64_t at = directory.offset, end = at + directory.bytes;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    SINTER_TRY_ASSIGN(Listed listed, readListed(file, at, end));
    headers.push_back(listed.entry.offset);
    SINTER_TRY(findData(file, directory.offset, listed.entry));
    archive.list.push_back(std::move(listed.entry));
    at = listed.next;
  }
  if (at != end)
    return broken("the directory has more bytes than entries");
  SINTER_TRY(checkNames(archive.list));
  std::vector<std::pair<uint64_t, const ZipEntry *>> starts;
  for (size_t i = 0; i < headers.size(); ++i)
    starts.emplace_back(headers[i], &archive.list[i]);
  SINTER_TRY(checkApart(std::move(starts)));
  return archive;
}

Result<std::vector<std::byte>> ZipArchive::read(const ZipEntry &entry,
                                                uint64_t limit) const {
  constexpr uint64_t maxRatio = 1032; // deflate's own bound
  if (entry.size > limit)
    return broken(fmt::format("'{}' has {} bytes, {} are allowed", entry.name,
                              entry.size, limit));
  if (entry.deflated && entry.size / maxRatio > entry.packed)
    return broken(fmt::format("'{}': {} bytes cannot come of {}", entry.name,
                              entry.size, entry.packed));
  auto from = file.subspan(entry.offset, entry.packed);
  std::vector<std::byte> bytes;
  if (!entry.deflated)
    bytes.assign(from.begin(), from.end());
  else
    bytes.resize(entry.size);
  if (entry.deflated) {
    Unpacked unpacked = inflateInto(from, bytes);
    if (!unpacked.ended || unpacked.written != bytes.size())
      return broken(fmt::format("'{}' is damaged", entry.name));
  }
  if (checksum(bytes, 0) != entry.crc)
    return broken(fmt::format("'{}': the checksum is wrong", entry.name));
  return bytes;
}

std::span<const std::byte> ZipArchive::packed(const ZipEntry &entry) const {
  return file.subspan(entry.offset, entry.packed);
}

Result<std::vector<std::byte>> ZipArchive::readFront(const ZipEntry &entry,
                                                     uint64_t count) const {
  std::vector<std::byte> bytes(std::min(count, entry.size));
  std::span<const std::byte> from = packed(entry);
  if (!entry.deflated)
    std::ranges::copy(from.first(bytes.size()), bytes.begin());
  else if (inflateInto(from, bytes).written < bytes.size())
    return broken(fmt::format("'{}' is damaged", entry.name));
  return bytes;
}

Status ZipArchive::check(const ZipEntry &entry) const {
  if (checksum(packed(entry), 0) != entry.crc)
    return broken(fmt::format("'{}': the checksum is wrong", entry.name));
  return {};
}

} // namespace sinter::runtime
