/* Counts what is asked of the allocator while a model runs. */
#include "digits.h"

#include <stdio.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *block, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void *block);

static int calls;

void *malloc(size_t bytes) { return ++calls, __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) {
  return ++calls, __libc_calloc(count, bytes);
}
void *realloc(void *block, size_t bytes) {
  return ++calls, __libc_realloc(block, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  return ++calls, __libc_memalign(alignment, bytes);
}
void free(void *block) { ++calls, __libc_free(block); }

static char memory[DIGITS_MEMORY] __attribute__((aligned(64)));

int main(void) {
  free(malloc(1)); /* what is counted is this program's */
  if (calls != 2)
    return printf("error: the allocator is not ours\n"), 1;
  static float image[64];
  int64_t digit = -1;
  sinter_embedded_session *session;
  calls = 0;
  if (sinter_embedded_open(&digits_model, memory, sizeof memory, NULL,
                           &session))
    return printf("error: cannot open\n"), 1;
  int opened = calls;
  for (int i = 0; i < 1000; ++i)
    if (digits_main(session, image, &digit))
      return printf("error: %s\n", sinter_embedded_error(session)), 1;
  int total = calls;
  printf("%d calls of the allocator to open, %d in 1000 runs\n", opened,
         total - opened);
  return total != 0;
}
