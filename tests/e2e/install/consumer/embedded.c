/* A model that is a part of the program: relu(x w + b). */
#include "model.h"

#include <stdio.h>

static char memory[MODEL_MEMORY] __attribute__((aligned(64)));

int main(void) {
  const float x[12] = {1, 2, 3, 4, -1, -2, -3, -4, 0, 1, 0, 1};
  const float w[8] = {1, 0, 0, 1, 1, 0, 0, 1}, b[2] = {0.5f, -1.0f};
  float y[6] = {0};
  sinter_embedded_session *session;
  if (sinter_embedded_open(&model_model, memory, sizeof memory, NULL,
                           &session) ||
      model_main(session, x, w, b, y))
    return printf("error: it does not run\n"), 1;
  for (int i = 0; i < 6; ++i)
    printf("%g%c", (double)y[i], i < 5 ? ' ' : '\n');
  return 0;
}
