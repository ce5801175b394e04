/* Prints what a model gives for some numbers, bit by bit. */
#include "bits.h"

#include <stdio.h>

static char memory[BITS_MEMORY] __attribute__((aligned(64)));
static float x[7 * 33], w[33 * 50], image[2 * 4 * 9 * 11],
    filter[6 * 4 * 3 * 3];
static int32_t whole[7 * 33];

/* The same on every processor: whole numbers, times a power of two. */
static float next(void) {
  static uint32_t state = 12345;
  state = state * 1664525u + 1013904223u;
  return (float)((int32_t)(state >> 8) - (1 << 23)) * 0x1p-21f;
}
static void fill(float *values, size_t count) {
  for (size_t i = 0; i < count; ++i)
    values[i] = next();
}

static void print(const char *name, const void *values, size_t bytes) {
  printf("%s ", name);
  for (size_t i = 0; i < bytes; ++i)
    printf("%02x", ((const unsigned char *)values)[i]);
  printf("\n");
}

int main(void) {
  sinter_embedded_session *session;
  if (sinter_embedded_open(&bits_model, memory, sizeof memory, NULL, &session))
    return printf("error: this processor lacks one of %s\n",
                  sinter_embedded_needs(&bits_model)),
           1;
  fill(x, sizeof x / sizeof *x);
  fill(w, sizeof w / sizeof *w);
  fill(image, sizeof image / sizeof *image);
  fill(filter, sizeof filter / sizeof *filter);
  x[3] = 0.0f, x[4] = -0.0f, x[5] = 1e-42f, x[6] = 1e30f, x[7] = -1e30f;
  x[8] = 1.0f / x[3], x[9] = x[8] - x[8]; /* infinity, not a number */
  for (size_t i = 0; i < sizeof whole / sizeof *whole; ++i)
    whole[i] = (int32_t)(next() * 1000000.0f);
  const void *inputs[] = {x, w, image, filter, whole};
  if (sinter_embedded_run(session, 0, inputs, NULL))
    return printf("error: %s\n", sinter_embedded_error(session)), 1;
  static const struct {
    const char *name;
    size_t bytes;
  } outputs[] = {
      {"gelu", 7 * 50 * 4},  {"softmax", 7 * 33 * 4},  {"sum", 33 * 4},
      {"most", 7 * 33 * 4},  {"half", 7 * 33 * 2},     {"brain", 7 * 33 * 2},
      {"tanh", 7 * 33 * 8},  {"running", 7 * 33 * 4},  {"order", 7 * 33 * 8},
      {"whole", 7 * 33 * 4}, {"conv", 2 * 6 * 99 * 4}, {"quotient", 7 * 33 * 4},
      {"narrow", 7 * 50 * 2}};
  for (uint32_t i = 0; i < sizeof outputs / sizeof *outputs; ++i)
    print(outputs[i].name, sinter_embedded_output(session, 0, i),
          outputs[i].bytes);
  return 0;
}
