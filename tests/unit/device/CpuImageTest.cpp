#include "runtime/device/cpu/CpuImage.h"

#include "tests/unit/program/ProgramBuilder.h"

#include <dirent.h>
#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

namespace {

size_t openDescriptors() {
  DIR *folder = opendir("/proc/self/fd");
  size_t count = 0;
  while (readdir(folder))
    ++count;
  closedir(folder);
  return count;
}

using Loader = Result<std::unique_ptr<Image>> (*)(std::span<const std::byte>);

class CpuImageTest : public testing::TestWithParam<Loader> {};

} // namespace

TEST_P(CpuImageTest, findsFunctions) {
  auto image = GetParam()(kernelImage());
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_NE((*image)->find("scale"), nullptr);
  EXPECT_EQ((*image)->find("no_such_kernel"), nullptr);
}

TEST_P(CpuImageTest, keepsImagesApartAndClosesFiles) {
  size_t before = openDescriptors();
  std::vector<std::unique_ptr<Image>> images;
  for (int i = 0; i < 20; ++i) {
    auto image = GetParam()(kernelImage());
    ASSERT_TRUE(image);
    images.push_back(std::move(*image));
  }
  EXPECT_EQ(openDescriptors(), before);
  for (size_t i = 1; i < images.size(); ++i)
    EXPECT_NE(images[i]->find("scale"), images[i - 1]->find("scale"));
}

TEST_P(CpuImageTest, refusesWhatIsNoImage) {
  std::vector<std::byte> image = kernelImage();
  auto refused = [&](std::span<const std::byte> bytes) {
    auto loaded = GetParam()(bytes);
    return !loaded && loaded.error().kind == ErrorKind::device;
  };
  EXPECT_TRUE(refused({}));
  EXPECT_TRUE(refused(std::span(image).first(40)));
  EXPECT_TRUE(refused(std::span(image).first(200)));
  EXPECT_TRUE(refused(std::span(image).first(image.size() / 2)));
  image[0] = std::byte('x');
  EXPECT_TRUE(refused(image));
}

INSTANTIATE_TEST_SUITE_P(Ways, CpuImageTest,
                         testing::Values(loadCpuImage, loadCpuImageFromFile),
                         [](const auto &way) {
                           return way.index == 0 ? "memory" : "file";
                         });
