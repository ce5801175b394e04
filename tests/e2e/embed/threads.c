/* The process's pool, and a thread for each of several sessions, give the
 * same digits as one thread does. */
#include "digits.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { numThreads = 4, numImages = 200 };

static float images[numImages][64];

static void *run(void *results) {
  const sinter_embedded_options options = {sizeof options, sinter_embedded_pool,
                                           NULL};
  size_t bytes = (sinter_embedded_memory(&digits_model) + 63) / 64 * 64;
  void *memory = aligned_alloc(64, bytes);
  sinter_embedded_session *session;
  if (sinter_embedded_open(&digits_model, memory, bytes,
                           results ? &options : NULL, &session))
    return NULL;
  int64_t *given = (int64_t *)results;
  for (int i = 0; i < numImages; ++i)
    if (digits_main(session, images[i], &given[i]))
      return NULL;
  free(memory);
  return results;
}

int main(void) {
  srand(7);
  for (int i = 0; i < numImages; ++i)
    for (int k = 0; k < 64; ++k)
      images[i][k] = (float)(rand() % 17);
  static int64_t expected[numImages], found[numThreads][numImages];
  pthread_t threads[numThreads];
  if (!run(expected))
    return printf("error: one thread fails\n"), 1;
  for (int i = 0; i < numThreads; ++i)
    pthread_create(&threads[i], NULL, run, found[i]);
  for (int i = 0; i < numThreads; ++i) {
    void *ended;
    pthread_join(threads[i], &ended);
    if (!ended || memcmp(found[i], expected, sizeof expected) != 0)
      return printf("error: thread %d differs\n", i), 1;
  }
  printf("%d threads give the same digits\n", numThreads);
  return 0;
}
