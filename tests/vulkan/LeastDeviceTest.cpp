/// A device that has what Vulkan 1.3 promises of all and nothing else: no
/// bytes, halves or integers of 64 bits, no subgroups, 16 KiB of shared memory.
/// It is the machine's own, which says that it has less.
#include "runtime/device/Device.h"
#include "tests/vulkan/FaultyVulkan.h"
#include "tests/vulkan/InChild.h"

#include <sinter/Basic.h>

#include <cmath>
#include <gtest/gtest.h>

namespace sn = sinter;
using namespace sinter::runtime;
using sinter::test::inChild;

namespace {

constexpr sn::DeviceId onVulkan{sn::DeviceKind::vulkan, 0},
    onCpu{sn::DeviceKind::cpu, 0};

/// Whole numbers, so that sums are exact in any order.
sn::Tensor wave(sn::DeviceId device, int64_t rows, int64_t columns) {
  std::vector<float> values;
  for (int64_t i = 0; i < rows * columns; ++i)
    values.push_back(float(i * 7 % 23 - 11));
  return sn::tensor(values, {rows, columns}, {.device = device});
}

template <typename Body> std::string messageOf(Body body) {
  try {
    body();
  } catch (const sn::Error &error) {
    return error.message();
  }
  return "nothing was thrown";
}

bool has(const std::string &text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// Values of what `compute` makes on both devices are equal.
template <typename T, typename Compute> void expectEqual(Compute compute) {
  EXPECT_EQ(compute(onVulkan).template to_vector<T>(),
            compute(onCpu).template to_vector<T>());
}

} // namespace

TEST(LeastDevice, hasTheLeastProfile) {
  inChild([] {
    shrinkVulkanDevices();
    auto device = getDevice(onVulkan);
    ASSERT_TRUE(device) << device.error().message;
    EXPECT_EQ((*device)->profile(), "shared16");
    EXPECT_TRUE(has((*device)->description(), "subgroups unknown"));
  });
}

TEST(LeastDevice, computesTheSameNumbers) {
  inChild([] {
    shrinkVulkanDevices();
    expectEqual<float>([](sn::DeviceId device) {
      return sn::relu(wave(device, 70, 33) * 2.f + 1.f);
    });
    for (int64_t columns : {5, 300, 2048}) // of a group and of a workgroup
      expectEqual<float>([&](sn::DeviceId device) {
        return sn::sum(wave(device, 9, columns), 1);
      });
    expectEqual<float>([](sn::DeviceId device) {
      return sn::matmul(wave(device, 67, 45), wave(device, 45, 38));
    });
    expectEqual<int64_t>([](sn::DeviceId device) {
      return sn::argmax(wave(device, 40, 130), 1);
    });
    // More than 32 bits of an integer, and what is left of it in f32.
    auto wide = [](sn::DeviceId device) {
      sn::Tensor x = wave(device, 20, 30).to(sn::DType::i64);
      return x * x * x * 123456789 + x;
    };
    expectEqual<int64_t>(wide);
    expectEqual<float>(
        [&](sn::DeviceId device) { return wide(device).to(sn::DType::f32); });
  });
}

// Replayed work; copies are the driver's.
TEST(LeastDevice, trainsAsTheProcessorDoes) {
  inChild([] {
    shrinkVulkanDevices();
    auto train = [](sn::DeviceId device) {
      sn::Tensor x = wave(device, 16, 8), y = wave(device, 16, 4);
      sn::set_default_device(device);
      sn::manual_seed(3);
      sn::nn::Linear model(8, 4);
      sn::optim::Sgd sgd({.lr = 0.001});
      std::vector<float> losses;
      for (int step = 0; step < 5; ++step) {
        sn::Tensor error = model(x) - y;
        sn::Tensor loss = sn::mean(error * error);
        sgd.step(model, loss.backward());
        losses.push_back(loss.item<float>());
      }
      return losses;
    };
    std::vector<float> here = train(onVulkan), there = train(onCpu);
    for (size_t i = 0; i < here.size(); ++i)
      EXPECT_NEAR(here[i], there[i], 1e-4f * std::abs(there[i])) << i;
  });
}

TEST(LeastDevice, refusesWhatItLacks) {
  inChild([] {
    shrinkVulkanDevices();
    sn::Tensor x = wave(onVulkan, 2, 3);
    std::string error =
        messageOf([&] { sn::exp(x.to(sn::DType::f16)).to_vector<float>(); });
    EXPECT_TRUE(has(error, "needs values of 16 bits")) << error;
    error = messageOf([&] { (x > 0.f).to_vector<bool>(); });
    EXPECT_TRUE(has(error, "'tensor<2x3xi1>' needs values of 8 bits")) << error;
    EXPECT_EQ(sn::sum(x * 0.f + 1.f).item<float>(), 6);
  });
}
