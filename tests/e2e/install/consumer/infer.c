/* Runs the model file that train writes, which is named by the argument, and
   prints what it gives for all pairs of bits. */
#include <sinter/c_api.h>

#include <stdio.h>

static int failed(void) {
  fprintf(stderr, "error: %s\n", sinter_last_error());
  return 1;
}

int main(int argc, char **argv) {
  float bits[4][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}}, learned[4];
  const int64_t dims[] = {4, 2}, learned_dims[] = {4, 1};
  sinter_tensor input = {.struct_size = sizeof input,
                         .data = bits,
                         .dtype = SINTER_F32,
                         .ndim = 2,
                         .dims = dims};
  /* In memory of this program's, whatever device the model is on. */
  sinter_tensor output = {.struct_size = sizeof output,
                          .data = learned,
                          .dtype = SINTER_F32,
                          .ndim = 2,
                          .dims = learned_dims};
  sinter_model *model = NULL;
  sinter_session *session = NULL;
  if (argc != 2) {
    fprintf(stderr, "usage: infer MODEL.sinter\n");
    return 2;
  }
  if (sinter_model_open(argv[1], NULL, &model) != SINTER_OK ||
      sinter_session_open(model, &session) != SINTER_OK ||
      sinter_session_run(session, 0, &input, 1, &output, 1, NULL) != SINTER_OK)
    return failed();
  printf("sinter %s: learned", sinter_version());
  for (int i = 0; i < 4; ++i)
    printf(" %.9g", (double)learned[i]);
  printf("\n");
  if (sinter_session_close(session) != SINTER_OK ||
      sinter_model_close(model) != SINTER_OK)
    return failed();
  return 0;
}
