/// Writes and reads a model of about 25 million parameters in each format and
/// precision, and prints a line of JSON for each: sizes.py makes a table of it.
#include "frontend/ElementwiseFunctions.h"

#include <sinter/Basic.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>

namespace sn = sinter;
namespace fs = std::filesystem;

struct Model {
  std::vector<sn::nn::Linear> layers;
  explicit Model(int64_t layers) {
    constexpr int64_t width = 1024;
    for (int64_t i = 0; i < layers; ++i)
      this->layers.emplace_back(width, width);
  }
  SINTER_MODULE(Model, layers)
};

/// Of the processor: others may use the machine, too.
template <typename F> static double seconds(F &&work) {
  std::clock_t start = std::clock();
  work();
  return double(std::clock() - start) / CLOCKS_PER_SEC;
}

int main(int argc, char **argv) try {
  if (argc < 2)
    return 2;
  fs::path folder = argv[1];
  Model model(argc > 2 ? std::strtoll(argv[2], nullptr, 10) : 24);
  sn::Record record = sn::into_record(model);
  Model loaded(int64_t(model.layers.size()));
  for (const char *extension : {".safetensors", ".mpk", ".mpk.gz", ".bin",
                                ".bin.gz", ".json.gz", ".json"})
    for (auto [name, precision] :
         {std::pair("double", sn::RecordPrecision::double_precision),
          std::pair("full", sn::RecordPrecision::full_precision),
          std::pair("half", sn::RecordPrecision::half_precision)}) {
      std::string file = folder / ("model" + std::string(extension));
      double writing =
          seconds([&] { record.save(file, {.precision = precision}); });
      double reading =
          seconds([&] { sn::load_record(loaded, sn::Record::load(file)); });
      std::printf(
          "{\"format\": \"%s\", \"precision\": \"%s\", \"bytes\": %llu, "
          "\"save\": %.3f, \"load\": %.3f, \"parameters\": %lld}\n",
          extension, name, static_cast<unsigned long long>(fs::file_size(file)),
          writing, reading, static_cast<long long>(model.num_params()));
      std::fflush(stdout);
      fs::remove(file);
    }
  sn::Record::Bytes bytes;
  double writing = seconds([&] { bytes = record.to_bytes(); });
  double reading = seconds([&] { sn::load_from_memory(loaded, bytes); });
  std::printf("{\"format\": \"to_bytes\", \"precision\": \"full\", \"bytes\": "
              "%zu, \"save\": %.3f, \"load\": %.3f, \"parameters\": %lld}\n",
              bytes.size(), writing, reading,
              static_cast<long long>(model.num_params()));
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
