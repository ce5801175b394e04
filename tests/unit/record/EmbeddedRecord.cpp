/// Writes the record that the test embeds.
#include "tests/unit/record/SmallModels.h"

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  sinter::manual_seed(3);
  record_test::Mlp model;
  sinter::save_model(model, argv[1]);
  return 0;
}
