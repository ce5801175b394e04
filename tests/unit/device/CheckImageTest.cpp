#include "runtime/device/cpu/CheckImage.h"

#include "runtime/device/cpu/CpuImage.h"
#include "tests/unit/device/RefusedImage.h"
#include "tests/unit/program/ProgramBuilder.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <random>

using namespace sinter;
using namespace sinter::runtime;
using test::refusedImage;

namespace {

std::string whyRefused(std::span<const std::byte> bytes) {
  Status checked = checkCpuImage(bytes);
  if (checked)
    return "";
  EXPECT_EQ(checked.error().kind, ErrorKind::device);
  constexpr std::string_view before = "cpu: cannot load an image: ";
  EXPECT_EQ(checked.error().message.substr(0, before.size()), before);
  return checked.error().message.substr(before.size());
}

} // namespace

TEST(CheckImage, takesKernels) {
  EXPECT_EQ(whyRefused(test::kernelImage()), "");
}

// Opening one of these as a library runs code that ends the process.
TEST(CheckImage, refusesWhatRunsByItself) {
  EXPECT_EQ(whyRefused(refusedImage("constructor")), "it has constructors");
  EXPECT_EQ(whyRefused(refusedImage("destructor")), "it has destructors");
  EXPECT_FALSE(loadCpuImage(refusedImage("constructor")).ok());
  EXPECT_FALSE(loadCpuImageFromFile(refusedImage("constructor")).ok());
  EXPECT_FALSE(loadCpuImage(refusedImage("resolver")).ok());
}

TEST(CheckImage, refusesWhatNeedsMoreThanItself) {
  EXPECT_EQ(whyRefused(refusedImage("relocation")), "it has relocations");
  EXPECT_NE(whyRefused(refusedImage("undefined")), "");
  EXPECT_EQ(whyRefused(refusedImage("thread_local")),
            "it has thread-local data");
  EXPECT_NE(whyRefused(refusedImage("resolver")), "");
}

TEST(CheckImage, readsWhatLiesInTheFileOnly) {
  std::vector<std::byte> image = test::kernelImage();
  for (size_t size = 0; size < image.size(); size += 7)
    (void)checkCpuImage(std::span(image).first(size));
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> altered = image;
    for (int changes = 0; changes < 4; ++changes)
      altered[random() % std::min<size_t>(altered.size(), 0x800)] =
          std::byte(random());
    (void)checkCpuImage(altered);
  }
}
