/// How fast this machine copies: `kind=copy bytes=N`, by memcpy or by stores
/// that go past the caches (argument `stream`).
#include "tools/benchmarks/native/Worker.h"

#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

using namespace bench;

#ifdef __x86_64__
/// Stores past the caches; `count` is a multiple of 16.
static void copyStreaming(float *to, const float *from, size_t count) {
  for (size_t i = 0; i < count; i += 16)
    for (size_t j = i; j < i + 16; j += 4)
      _mm_stream_ps(to + j, _mm_loadu_ps(from + j));
  _mm_sfence();
}
#endif

namespace {
class Copy : public Work {
public:
  Copy(size_t bytes, bool stream)
      : count(bytes / sizeof(float) / 16 * 16), stream(stream),
        from(allocate()), to(allocate()) {
    fill({from.get(), count}, 1);
    std::memset(to.get(), 0, count * sizeof(float));
  }
  void run() override {
#ifdef __x86_64__
    if (stream)
      return copyStreaming(to.get(), from.get(), count);
#endif
    std::memcpy(to.get(), from.get(), count * sizeof(float));
  }
  std::vector<double> sample(size_t) override { return {}; }

private:
  struct Free {
    void operator()(float *block) const { std::free(block); }
  };
  using Block = std::unique_ptr<float, Free>;
  Block allocate() const {
    void *block = std::aligned_alloc(256, (count * sizeof(float) + 255) & ~255);
    if (!block)
      throw std::bad_alloc();
    return Block(static_cast<float *>(block));
  }

  size_t count;
  bool stream;
  Block from, to;
};
} // namespace

int main(int argc, char **argv) {
  bool stream = argc > 1 && std::string_view(argv[1]) == "stream";
  auto make = [&](const Case &c) -> std::unique_ptr<Work> {
    if (c.kind() != "copy")
      throw Unsupported("only copies");
    return std::make_unique<Copy>(c.number("bytes"), stream);
  };
  return serve({make, [] { return std::string(); }});
}
