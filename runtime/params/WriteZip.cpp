/// Zip archives: writing.
#include "runtime/files/ReplaceFile.h"
#include "runtime/params/Zip.h"
#include "runtime/params/ZipFormat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace sinter::runtime {

using namespace zip;

namespace {

constexpr uint16_t versionNeeded = 20;
constexpr uint16_t date1980 = 0x21; // 1980-01-01

/// Little-endian numbers one after another.
class Record {
public:
  Record &u16(uint64_t value) { return put(static_cast<uint16_t>(value)); }
  Record &u32(uint64_t value) { return put(static_cast<uint32_t>(value)); }
  Record &text(const std::string &value) {
    auto more = std::as_bytes(std::span(value));
    bytes.insert(bytes.end(), more.begin(), more.end());
    return *this;
  }
  std::vector<std::byte> bytes;

private:
  template <typename T> Record &put(T value) {
    size_t at = bytes.size();
    bytes.resize(at + sizeof(T));
    std::memcpy(&bytes[at], &value, sizeof(T));
    return *this;
  }
};

/// What a local header and an entry of the directory have in common, from the
/// version on.
void putCommon(Record &record, const ZipEntry &entry) {
  record.u16(versionNeeded).u16(0);
  record.u16(entry.deflated ? methodDeflated : methodStored);
  record.u16(0).u16(date1980).u32(entry.crc);
  record.u32(entry.packed).u32(entry.size).u16(entry.name.size()).u16(0);
}

/// The parts, deflated as one stream.
Result<std::vector<std::byte>>
deflateAll(std::span<const std::span<const std::byte>> parts) {
  z_stream stream = {};
  if (::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
    return makeError(ErrorKind::out_of_memory, "zip: no memory to deflate");
  std::vector<std::byte> packed;
  std::vector<std::byte> room(1 << 16);
  auto run = [&](int flush) {
    do {
      stream.next_out = reinterpret_cast<Bytef *>(room.data());
      stream.avail_out = static_cast<uInt>(room.size());
      ::deflate(&stream, flush);
      packed.insert(packed.end(), room.begin(),
                    room.end() - static_cast<ptrdiff_t>(stream.avail_out));
    } while (stream.avail_out == 0);
  };
  constexpr size_t step = 1 << 30; // zlib counts in 32 bits
  for (auto part : parts)
    for (size_t at = 0; at < part.size(); at += step) {
      auto piece = part.subspan(at, std::min(step, part.size() - at));
      stream.next_in =
          reinterpret_cast<Bytef *>(const_cast<std::byte *>(piece.data()));
      stream.avail_in = static_cast<uInt>(piece.size());
      run(Z_NO_FLUSH);
    }
  run(Z_FINISH);
  ::deflateEnd(&stream);
  return packed;
}

} // namespace

Result<std::vector<std::byte>> deflateBytes(std::span<const std::byte> bytes) {
  return deflateAll({&bytes, 1});
}

void ZipWriter::append(std::span<const std::byte> bytes) {
  pieces.push_back(bytes);
  length += bytes.size();
}

Status ZipWriter::add(const std::string &name,
                      std::span<const std::span<const std::byte>> parts,
                      ZipMethod method) {
  if (name.size() > wide16 || !names.insert(name).second)
    return makeError(ErrorKind::invalid_argument,
                     fmt::format("zip: the name '{}' is too long or given "
                                 "twice",
                                 name));
  Added one{.entry = {.name = name, .deflated = method == ZipMethod::deflated},
            .header = length};
  ZipEntry &entry = one.entry;
  for (auto part : parts) {
    entry.size += part.size();
    entry.crc = checksum(part, entry.crc);
  }
  entry.packed = entry.size;
  std::vector<std::byte> packed;
  if (entry.deflated) {
    SINTER_TRY_ASSIGN(packed, deflateAll(parts));
    entry.packed = packed.size();
  }
  Record header;
  putCommon(header.u32(localSignature), entry);
  append(owned.emplace_back(std::move(header.text(name).bytes)));
  if (entry.deflated)
    append(owned.emplace_back(std::move(packed)));
  else
    for (auto part : parts)
      append(part);
  added.push_back(std::move(one));
  return {};
}

Status ZipWriter::write(const std::string &path) const {
  Record directory;
  for (const Added &one : added) {
    putCommon(directory.u32(entrySignature).u16(versionNeeded), one.entry);
    directory.u16(0).u16(0).u16(0).u32(0).u32(one.header);
    directory.text(one.entry.name);
  }
  uint64_t directoryBytes = directory.bytes.size();
  if (length + directoryBytes >= wide32 || added.size() >= wide16)
    return makeError(ErrorKind::unsupported,
                     fmt::format("{}: zip: {} entries of {} bytes exceed an "
                                 "archive's 65,534 entries or 4 GiB",
                                 path, added.size(), length));
  directory.u32(endSignature).u16(0).u16(0);
  directory.u16(added.size()).u16(added.size());
  directory.u32(directoryBytes).u32(length).u16(0);
  std::vector<std::span<const std::byte>> all = pieces;
  all.emplace_back(directory.bytes);
  return replaceFile(path, all);
}

} // namespace sinter::runtime
