/// Unpacking gzip files.
#include "runtime/params/Gunzip.h"

#include <algorithm>
#include <limits>
#include <zlib.h>

namespace sinter::runtime {

bool isGzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} &&
         bytes[1] == std::byte{0x8b};
}

void Gunzip::End::operator()(z_stream_s *stream) const {
  ::inflateEnd(stream);
  delete stream;
}

Result<Gunzip> Gunzip::open(std::span<const std::byte> packed,
                            std::string name) {
  Gunzip file;
  file.rest = packed;
  file.name = std::move(name);
  if (!isGzip(packed))
    return file.broken("it does not begin as a gzip file");
  file.stream.reset(new z_stream());
  constexpr int gzipOnly = 16;
  if (::inflateInit2(file.stream.get(), MAX_WBITS + gzipOnly) != Z_OK)
    return makeError(ErrorKind::out_of_memory,
                     file.name + ": no memory to unpack it");
  return file;
}

ErrorInfo Gunzip::broken(const char *what) const {
  return makeError(ErrorKind::io, name + ": " + what);
}

Status Gunzip::nextMember() {
  auto isZero = [](std::byte byte) { return byte == std::byte{}; };
  if (std::all_of(rest.begin(), rest.end(), isZero)) {
    ended = true;
    return {};
  }
  if (!isGzip(rest))
    return broken("other bytes follow the packed ones");
  if (::inflateReset(stream.get()) != Z_OK)
    return broken("it cannot be unpacked");
  return {};
}

Result<size_t> Gunzip::read(std::span<std::byte> to) {
  constexpr size_t most = std::numeric_limits<uInt>::max();
  size_t written = 0;
  while (!ended && written < to.size()) {
    size_t in = std::min(most, rest.size());
    size_t out = std::min(most, to.size() - written);
    stream->next_in =
        reinterpret_cast<Bytef *>(const_cast<std::byte *>(rest.data()));
    stream->avail_in = static_cast<uInt>(in);
    stream->next_out = reinterpret_cast<Bytef *>(to.data() + written);
    stream->avail_out = static_cast<uInt>(out);
    int state = ::inflate(stream.get(), Z_NO_FLUSH);
    size_t taken = in - stream->avail_in, made = out - stream->avail_out;
    rest = rest.subspan(taken);
    written += made;
    if (state == Z_STREAM_END)
      SINTER_TRY(nextMember());
    else if (state == Z_BUF_ERROR || (state == Z_OK && taken + made == 0))
      return broken("the packed bytes are cut short");
    else if (state != Z_OK)
      return broken("the packed bytes are damaged");
  }
  return written;
}

} // namespace sinter::runtime
