/// Writes the record that the test embeds; or, with --forms, small records of
/// every form into a folder, as in tests/fuzz/corpus/record.
#include "tests/unit/record/SmallModels.h"

using namespace record_test;

static void writeForms(const std::string &folder) {
  sn::Record model, record;
  model.set("w",
            hostTensor<float>(sn::DType::f32, {2, 2}, {1, -2, 0.5f, 0}, 7));
  model.set("i", hostTensor<int16_t>(sn::DType::i16, {2}, {1, -1}));
  record.set("model", model);
  record.put("epoch", 300);
  record.put("rate", 0.1);
  record.put("best", INFINITY);
  record.put("on", true);
  record.put("$note", "fine");
  record.put("blob", sn::Record::Bytes(3, std::byte(9)));
  record.put("list", std::vector<double>{1, 2.5});
  record.put("none", std::optional<int64_t>());
  for (sn::RecordFormat format : fileFormats)
    record.save(folder + "/run", {.format = format});
}

int main(int argc, char **argv) {
  if (argc == 3 && argv[1] == std::string("--forms")) {
    writeForms(argv[2]);
    return 0;
  }
  if (argc != 2)
    return 2;
  sn::manual_seed(3);
  sn::save_model(Mlp(), argv[1]);
  return 0;
}
