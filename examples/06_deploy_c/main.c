/* Reads handwritten digits with the model file that 02_digits writes. */
#include <sinter/c_api.h>
#include <stdio.h>
#include <stdlib.h>

static void check(sinter_status status) {
  if (status != SINTER_OK)
    fprintf(stderr, "error: %s\n", sinter_last_error()), exit(1);
}

int main(int argc, char **argv) {
  float images[64][64], labels[64];
  char line[1024];
  FILE *csv = argc == 3 ? fopen(argv[2], "r") : NULL;
  if (!csv || !fgets(line, sizeof line, csv))
    return fprintf(stderr, "usage: 06_deploy_c MODEL.sinter IMAGES.csv\n"), 2;
  sinter_model *model;
  sinter_session *session;
  check(sinter_model_open(argv[1], NULL, &model));
  check(sinter_session_open(model, &session));
  for (int64_t count = 29; count <= 64; count += 35) {
    for (int i = 0; i < count && fgets(line, sizeof line, csv); ++i) {
      char *at = line;
      for (int k = 0; k < 64; ++k, at += *at == ',')
        images[i][k] = strtof(at, &at);
      labels[i] = strtof(at, NULL);
    }
    int64_t dims[] = {count, 1, 8, 8}, digits[64], right = 0;
    sinter_tensor input = {sizeof input, images, SINTER_F32, 0, 0, 4, dims, 0};
    sinter_tensor output = {sizeof output, digits, SINTER_I64, 0, 0, 1,
                            dims,          0};
    check(sinter_session_run(session, 0, &input, 1, &output, 1, NULL));
    for (int i = 0; i < count; ++i)
      right += digits[i] == (int64_t)labels[i];
    printf("%d of %d digits are right\n", (int)right, (int)count);
  }
  check(sinter_session_close(session));
  return check(sinter_model_close(model)), fclose(csv);
}
