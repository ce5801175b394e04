/* The C interface, used by C. */
#include <sinter/c_api.h>

#include <stdio.h>
#include <string.h>

int main(void) {
  sinter_device_info info = {.struct_size = sizeof info};
  sinter_model_options options = {.struct_size = sizeof options};
  sinter_model *model = NULL;
  size_t count = 0;
  if (sinter_device_count(&count) != SINTER_OK || count < 2)
    return printf("%zu devices\n", count), 1;
  if (sinter_device(0, &info) != SINTER_OK || strcmp(info.name, "cpu") != 0)
    return printf("%s\n", sinter_last_error()), 1;
  if (sinter_model_open("missing.sinter", &options, &model) != SINTER_IO ||
      !strstr(sinter_last_error(), "missing.sinter"))
    return printf("%s\n", sinter_last_error()), 1;
  printf("sinter %s, %zu devices: %s\n", sinter_version(), count,
         sinter_last_error());
  return 0;
}
