/// What reading and writing of zip archives share: PKWARE's APPNOTE.TXT 6.3.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <zlib.h>

namespace sinter::runtime::zip {

inline constexpr uint32_t localSignature = 0x04034b50;
inline constexpr uint32_t entrySignature = 0x02014b50;
inline constexpr uint32_t endSignature = 0x06054b50;
inline constexpr uint32_t wideEndSignature = 0x06064b50;
inline constexpr uint32_t locatorSignature = 0x07064b50;

// Bytes of the records, without names and what else varies.
inline constexpr size_t localBytes = 30;
inline constexpr size_t entryBytes = 46;
inline constexpr size_t endBytes = 22;
inline constexpr size_t wideEndBytes = 56;
inline constexpr size_t locatorBytes = 20;

inline constexpr uint16_t methodStored = 0;
inline constexpr uint16_t methodDeflated = 8;
inline constexpr uint16_t flagEncrypted = 1;
inline constexpr uint16_t wideExtraId = 1;

// Stand where the number is in a 64-bit field.
inline constexpr uint32_t wide32 = 0xffffffff;
inline constexpr uint16_t wide16 = 0xffff;

/// The CRC-32 of bytes that follow those of `before`.
inline uint32_t checksum(std::span<const std::byte> bytes, uint32_t before) {
  constexpr size_t step = 1 << 30; // zlib counts in 32 bits
  uLong crc = before;
  for (size_t at = 0; at < bytes.size(); at += step)
    crc = ::crc32(crc, reinterpret_cast<const Bytef *>(bytes.data() + at),
                  static_cast<uInt>(std::min(step, bytes.size() - at)));
  return static_cast<uint32_t>(crc);
}

} // namespace sinter::runtime::zip
