/// Gives a model known parameters, writes it in every format, reads it back,
/// and compares all outputs.
#include "examples/13_records/Iris.h"

#include <cstdio>
#include <exception>
#include <filesystem>

namespace fs = std::filesystem;

/// `0.00e0`
static std::string scientific(double value) {
  int exponent =
      value == 0 ? 0
                 : static_cast<int>(std::floor(std::log10(std::abs(value))));
  char text[64];
  std::snprintf(text, sizeof(text), "%.2fe%d", value / std::pow(10.0, exponent),
                exponent);
  return text;
}

static double difference(const sn::Tensor &a, const sn::Tensor &b) {
  return sn::amax(sn::abs(a - b)).item<double>();
}

int main() try {
  sn::manual_seed(42);
  Mlp model;
  model.visit([](const std::string &, sn::Param &param) {
    std::vector<float> known(static_cast<size_t>(param.numel()));
    for (size_t i = 0; i < known.size(); ++i)
      known[i] = static_cast<float>(i) / 100;
    param.set(sn::tensor(known, param.shape()));
  });
  model.eval();
  sn::Tensor x = sn::normal({32, measures});
  sn::Tensor expected = model.forward(x);
  fs::path folder = fs::temp_directory_path() / "sinter-records";
  fs::create_directories(folder);
  bool isExact = true;
  for (const char *extension : {".safetensors", ".mpk", ".mpk.gz", ".bin",
                                ".bin.gz", ".json.gz", ".json"}) {
    std::string file =
        sn::into_record(model).save((folder / "model").string() + extension);
    auto loaded = sn::load_model<Mlp>(file);
    loaded.eval();
    double diff = difference(loaded.forward(x), expected);
    isExact &= diff == 0;
    std::printf("%-12s %6llu bytes  diff = %s\n", extension,
                static_cast<unsigned long long>(fs::file_size(file)),
                scientific(diff).c_str());
  }
  auto bytes = sn::into_record(model).to_bytes();
  auto loaded = sn::load_from_memory<Mlp>(bytes);
  loaded.eval();
  double diff = difference(loaded.forward(x), expected);
  isExact &= diff == 0;
  std::printf("%-12s %6zu bytes  diff = %s\n", "in memory", bytes.size(),
              scientific(diff).c_str());
  fs::remove_all(folder);
  std::printf(isExact ? "PASS\n" : "FAIL\n");
  return isExact ? 0 : 1;
} catch (const std::exception &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
