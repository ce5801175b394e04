/// Our side of the models: plain `nn` code, recorded anew in every step.
#include "tools/benchmarks/native/ModelWork.h"
#include "tools/benchmarks/native/ProfileText.h"

#include "frontend/Raise.h"
#include "runtime/device/Device.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace sn = sinter;
using namespace bench;

//===- What models share --------------------------------------------------===//

uint32_t bench::seedOf(std::string_view path) {
  uint32_t hash = 2166136261u;
  for (char letter : path)
    hash = (hash ^ uint8_t(letter)) * 16777619u;
  return hash;
}

double bench::scaleOf(std::string_view path, const sn::Param &param) {
  const sn::Dims &shape = param.shape();
  if (shape.size() < 2)
    return 1;
  // [expert, in, out]; all others are [out, in...].
  if (path.find("expert") != path.npos)
    return 1 / std::sqrt(double(shape[1].value));
  double inputs = double(param.numel()) / double(shape[0].value);
  return std::sqrt((shape.size() > 2 ? 6 : 1) / inputs);
}

bool bench::trains(const Case &c) {
  std::string what = c.text("do");
  if (what != "train" && what != "forward")
    throw Unsupported("no " + what + " of " + c.kind());
  return what == "train";
}

//===- The side -----------------------------------------------------------===//

static std::unique_ptr<Work> make(const Case &c) {
  static const std::map<std::string, std::unique_ptr<Work> (*)(const Case &)>
      kinds{
          {"bert", makeBert},       {"dcgan", makeDcgan},
          {"gpt2", makeGpt2},       {"llama", makeLlama},
          {"lstm", makeLstm},       {"mobilenet", makeMobileNet},
          {"moe", makeMoe},         {"resnet", makeResNet},
          {"unet", makeUNet},       {"vit", makeVit},
          {"wavenet", makeWaveNet},
      };
  auto found = kinds.find(c.kind());
  if (found == kinds.end())
    throw Unsupported("no model " + c.kind());
  std::unique_ptr<Work> work = found->second(c);
  sn::reset_peak(); // of steps alone
  return work;
}

static sn::runtime::Device &device() {
  return *sn::detail::unwrap(sn::runtime::getDevice(sn::default_device()),
                             std::source_location::current());
}

static std::string facts() {
  std::string card = device().description();
  card.resize(std::min(card.find(','), card.size()));
  std::replace(card.begin(), card.end(), ' ', '_');
  return "device=" + toString(sn::default_device()) + " card=" + card;
}

static double compiling() { return sn::stats().compile_milliseconds / 1e3; }

static Counters counters() {
  sn::Stats now = sn::stats();
  return {.launches = now.launches,
          .programs = now.compiles + now.disk_hits + now.background_compiles,
          .peak = sn::memory().peak};
}

int main() {
  bool queues = sn::default_device().kind != sn::DeviceKind::cpu;
  return serve({.make = make,
                .facts = facts,
                .profile = bench::printProfile,
                .compiling = compiling,
                .counters = counters,
                .queues = queues});
}
