/* Reads handwritten digits with a model that is part of the program: no file is
 * opened but the images, and after sinter_embedded_open nothing is allocated.
 */
#include "digits.h"

#include <stdio.h>
#include <stdlib.h>

static char memory[DIGITS_MEMORY] __attribute__((aligned(64)));

int main(void) {
  sinter_embedded_session *session;
  if (sinter_embedded_open(&digits_model, memory, sizeof memory, NULL,
                           &session) != SINTER_OK)
    return fprintf(stderr, "error: this processor lacks one of %s\n",
                   sinter_embedded_needs(&digits_model)),
           1;
  char line[1024];
  int right = 0, count = 0;
  for (int first = 1; fgets(line, sizeof line, stdin); first = 0) {
    if (first)
      continue; /* the names of the columns */
    float image[64];
    char *at = line;
    for (int k = 0; k < 64; ++k, at += *at == ',')
      image[k] = strtof(at, &at);
    int64_t digit;
    if (digits_main(session, image, &digit) != SINTER_OK)
      return fprintf(stderr, "error: %s\n", sinter_embedded_error(session)), 1;
    right += digit == strtol(at, NULL, 10);
    ++count;
  }
  printf("%d of %d digits are right\n", right, count);
  return 0;
}
