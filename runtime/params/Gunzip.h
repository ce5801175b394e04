/// Gunzip: the bytes of a gzip file (RFC 1952), unpacked piece by piece.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct z_stream_s; // NOLINT(readability-identifier-naming): of zlib

namespace sinter::runtime {

/// Whether the bytes begin as a gzip file does.
bool isGzip(std::span<const std::byte> bytes);

/// Unpacks all members of a gzip file, one after the other, as if it were one.
/// Lengths and checksums are compared; zeros after the last member are skipped.
/// An `io` error names the file.
class Gunzip {
public:
  /// `packed` must outlive the object; `name` stands in errors.
  static Result<Gunzip> open(std::span<const std::byte> packed,
                             std::string name);

  /// Fills `to`. Fewer bytes than that come at the end of the file alone.
  Result<size_t> read(std::span<std::byte> to);

private:
  struct End {
    void operator()(z_stream_s *stream) const;
  };

  Gunzip() = default;
  Status nextMember();
  ErrorInfo broken(const char *what) const;

  std::unique_ptr<z_stream_s, End> stream;
  std::span<const std::byte> rest; ///< not yet given to zlib
  std::string name;
  bool ended = false;
};

} // namespace sinter::runtime
