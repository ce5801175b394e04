/// What a device has left, and the largest batch that a step of training can
/// have there: for three sizes of a network, before any of them is made.
#include <sinter/Basic.h>
#include <sinter/Config.h>
#include <sinter/MemoryBudget.h>

#include <cstdio>
#include <vector>

namespace sn = sinter;

struct Settings {
  std::string device = "cpu";
  int64_t reserve_mb = 500;
  int64_t batch = 64;
  int64_t most = 16384;
  SINTER_DOC(device, "cpu, cuda:0, vulkan:0")
  SINTER_DOC(reserve_mb, "millions of bytes that stay free")
  SINTER_DOC(batch, "the batch size of the columns")
  SINTER_DOC(most, "the largest batch size to look at")
  SINTER_CONFIG(Settings, device, reserve_mb, batch, most)
};

struct MlpConfig {
  std::string name;
  int64_t inputs = 784;
  int64_t hidden = 128;
  int64_t layers = 2; ///< between the first and the last
  int64_t classes = 10;
  SINTER_CONFIG(MlpConfig, name, inputs, hidden, layers, classes)
};

struct Mlp {
  explicit Mlp(const MlpConfig &config)
      : first(config.inputs, config.hidden),
        last(config.hidden, config.classes) {
    for (int64_t i = 0; i < config.layers; ++i)
      middle.emplace_back(config.hidden, config.hidden);
  }

  sn::nn::Linear first;
  std::vector<sn::nn::Linear> middle;
  sn::nn::Linear last;

  sn::Tensor forward(const sn::Tensor &images) const {
    sn::Tensor x = sn::relu(first(images));
    for (const sn::nn::Linear &layer : middle)
      x = sn::relu(layer(x));
    return last(x);
  }
  SINTER_MODULE(Mlp, first, middle, last)
};

static void printRow(const MlpConfig &config, const Settings &settings,
                     const sn::MemoryBudget &budget) {
  Mlp model(config); // parameters have no memory until a step runs
  sn::optim::Adam adam;
  auto step = [&](int64_t batch) {
    sn::Tensor x = sn::stand_in({batch, config.inputs});
    sn::Tensor y = sn::stand_in({batch}, {.dtype = sn::DType::i64});
    // One program for batches of every size.
    sn::Tensor loss = sn::cross_entropy(model(x.dynamic(0)), y.dynamic(0));
    adam.step(model, loss.backward());
    return loss;
  };
  std::vector<int64_t> sizes = {settings.batch};
  sn::BatchMemory one = budget.recommend(step, sizes).front();
  sn::BatchMemory best = budget.largest_batch(step, {.most = settings.most});
  std::printf("%-7s %11lld %11s %11s %11s %11s  %-3s  %lld\n",
              config.name.c_str(), static_cast<long long>(model.num_params()),
              sn::megabytes(one.memory.parameters).c_str(),
              sn::megabytes(one.memory.state).c_str(),
              sn::megabytes(one.memory.temporaries).c_str(),
              sn::megabytes(one.memory.peak()).c_str(), one.fits ? "yes" : "no",
              static_cast<long long>(best.batch));
}

static int run(const Settings &settings) {
  sn::set_default_device(settings.device);
  auto budget = sn::MemoryBudget::detect(
      settings.device, static_cast<uint64_t>(settings.reserve_mb) * 1'000'000);
  std::printf("%s\n\n", sn::to_string(budget).c_str());
  std::printf("%-7s %11s %11s %11s %11s %11s  %-3s  %s\n", "model",
              "parameters", "weights", "state", "temporary", "peak", "fit",
              "largest batch");
  for (const MlpConfig &config :
       {MlpConfig{.name = "small"},
        MlpConfig{.name = "medium", .hidden = 2048, .layers = 4},
        MlpConfig{.name = "large", .hidden = 8192, .layers = 16}})
    printRow(config, settings, budget);
  unsigned long long compiled = sn::stats().compiles + sn::stats().disk_hits;
  unsigned long long ran = sn::stats().programs_run;
  std::printf("\nbatch %lld; %llu programs compiled, %llu run\n",
              static_cast<long long>(settings.batch), compiled, ran);
  return sn::stats().programs_run == 0 ? 0 : 1;
}

int main(int argc, char **argv) try {
  return run(sn::parse_config<Settings>(argc, argv));
} catch (const sn::Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
