// Kernels in the form the cpu target emits, for tests of loader and executor.
#include <stdint.h>

struct ErrorWord {
  uint64_t value;
};
struct Block {
  uint32_t version;
  uint32_t launch;
  struct ErrorWord *error;
  const int64_t *dims;
  void *const *buffers;
};

enum { chunk = 256 };

static int64_t end(int64_t last, int64_t n) {
  return last * chunk < n ? last * chunk : n;
}

// out = x * scale; dims: elements. buffers: x, scale, out
void scale(const struct Block *block, char *arena, int64_t first,
           int64_t last) {
  const float *x = block->buffers[0], *factor = block->buffers[1];
  float *out = block->buffers[2];
  (void)arena;
  for (int64_t i = first * chunk; i < end(last, block->dims[0]); ++i)
    out[i] = x[i] * *factor;
}

// out = x + y; dims: elements. buffers: x, y, out
void add(const struct Block *block, char *arena, int64_t first, int64_t last) {
  const float *x = block->buffers[0], *y = block->buffers[1];
  float *out = block->buffers[2];
  (void)arena;
  for (int64_t i = first * chunk; i < end(last, block->dims[0]); ++i)
    out[i] = x[i] + y[i];
}

// out = x[clamp(index)]; dims: rows of x, indices. buffers: x, index, out
void gather(const struct Block *block, char *arena, int64_t first,
            int64_t last) {
  const float *x = block->buffers[0];
  const int64_t *index = block->buffers[1];
  float *out = block->buffers[2];
  (void)arena;
  for (int64_t i = first * chunk; i < end(last, block->dims[1]); ++i) {
    int64_t at = index[i];
    if (at < 0 || at >= block->dims[0]) {
      uint64_t word = (uint64_t)block->launch << 40 | (uint64_t)i;
      uint64_t old = __atomic_load_n(&block->error->value, __ATOMIC_RELAXED);
      while (word < old &&
             !__atomic_compare_exchange_n(&block->error->value, &old, word, 0,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
      at = at < 0 ? 0 : block->dims[0] - 1;
    }
    out[i] = x[at];
  }
}

// Two phases through a workspace: partial sums of chunks, then their sum.
// dims: elements. buffers: x, out, partials
void sum_partials(const struct Block *block, char *arena, int64_t first,
                  int64_t last) {
  const float *x = block->buffers[0];
  float *partials = block->buffers[2];
  (void)arena;
  for (int64_t c = first; c < last; ++c) {
    partials[c] = 0;
    for (int64_t i = c * chunk; i < end(c + 1, block->dims[0]); ++i)
      partials[c] += x[i];
  }
}

void sum_total(const struct Block *block, char *arena, int64_t first,
               int64_t last) {
  const float *partials = block->buffers[2];
  float *out = block->buffers[1];
  (void)arena;
  (void)first;
  (void)last;
  *out = 0;
  for (int64_t c = 0; c * chunk < block->dims[0]; ++c)
    *out += partials[c];
}
