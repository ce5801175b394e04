/// Machine code that ptxas makes of PTX: made once, kept, and left to the
/// driver where it cannot be made or is refused.
#include "runtime/device/cuda/MachineCode.h"
#include "tests/unit/cuda/CudaPrograms.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view text =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry scale(.param .u64 words) { ret; }\n";

class MachineCodeTest : public testing::Test {
protected:
  void SetUp() override {
    if (assemblerPath().empty())
      GTEST_SKIP() << "ptxas of the CUDA toolkit is not found";
    std::string made = testing::TempDir() + "machine-code-XXXXXX";
    ASSERT_TRUE(mkdtemp(made.data()));
    folder = made;
  }
  void TearDown() override {
    if (!folder.empty())
      fs::remove_all(folder);
  }
  DiskCache cache() const { return {folder, 1 << 20}; }
  MachineCode machineCode() const { return MachineCode(90, cache()); }
  fs::path file() const { return fs::directory_iterator(folder)->path(); }

  std::string folder;
};

bool isCubin(const std::optional<std::vector<std::byte>> &code) {
  constexpr char elf[] = {'\x7f', 'E', 'L', 'F'};
  return code && code->size() > sizeof(elf) &&
         std::memcmp(code->data(), elf, sizeof(elf)) == 0;
}

std::span<const std::byte> imageOf(const std::string &ptx) {
  return std::as_bytes(std::span(ptx.c_str(), ptx.size() + 1));
}

} // namespace

TEST(MachineCode, IsForTheDevice) {
  EXPECT_EQ(architectureFor(".target sm_80\n", 80), "sm_80");
  EXPECT_EQ(architectureFor(".target sm_80\n", 90), "sm_90");
  EXPECT_EQ(architectureFor(".target sm_90a\n", 90), "sm_90a");
  EXPECT_EQ(architectureFor(".target sm_90a, debug\n", 90), "sm_90a");
  EXPECT_EQ(architectureFor(".target sm_90a\n", 100), "sm_100");
  EXPECT_EQ(architectureFor("", 90), "sm_90");
}

TEST_F(MachineCodeTest, IsMadeOnceAndKept) {
  auto made = machineCode().find(text);
  ASSERT_TRUE(isCubin(made));
  EXPECT_EQ(cache().info().cubins, 1u);
  fs::file_time_type written = fs::last_write_time(file());
  EXPECT_EQ(machineCode().find(text), made);
  EXPECT_EQ(cache().info().entries, 1u);
  EXPECT_GE(fs::last_write_time(file()), written);
  // Of another device it is another one.
  EXPECT_TRUE(isCubin(MachineCode(80, cache()).find(text)));
  EXPECT_EQ(cache().info().cubins, 2u);
}

TEST_F(MachineCodeTest, IsMadeAgainWhereTheFileIsBroken) {
  auto made = machineCode().find(text);
  ASSERT_TRUE(isCubin(made));
  fs::resize_file(file(), fs::file_size(file()) - 1);
  EXPECT_EQ(machineCode().find(text), made);
  EXPECT_EQ(cache().verify()->size(), 0u);
}

TEST_F(MachineCodeTest, IsTheDriversOfTextThatItCannotRead) {
  EXPECT_FALSE(machineCode().find(".version 8.0\nnonsense"));
  EXPECT_FALSE(machineCode().find(""));
  EXPECT_EQ(cache().info().entries, 0u);
}

TEST_F(MachineCodeTest, IsNotMadeAgainWhereItIsRefused) {
  machineCode().refuse(text);
  EXPECT_FALSE(machineCode().find(text));
  EXPECT_EQ(cache().info().entries, 1u);
}

TEST_F(MachineCodeTest, WithoutAFolderIsMadeEachTime) {
  EXPECT_TRUE(isCubin(MachineCode(90, DiskCache("", 1 << 20)).find(text)));
}

TEST_F(MachineCodeTest, IsWhatTheDriverLoads) {
  uint64_t before = driver().cubins;
  // A text that no other run of this test kept.
  std::string own = std::string(text) + "// " + folder + "\n";
  auto image = gpu().loadImage(imageOf(own));
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_TRUE((*image)->find("scale"));
  EXPECT_EQ(driver().cubins, before + 1);
  driver().refusesCubins = true;
  own += "// refused\n";
  image = gpu().loadImage(imageOf(own));
  driver().refusesCubins = false;
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_TRUE((*image)->find("scale"));
  EXPECT_EQ(driver().cubins, before + 1);
}

TEST_F(MachineCodeTest, IsNotRefusedByADriverThatTakesNothing) {
  uint64_t before = driver().cubins;
  std::string own = std::string(text) + "// " + folder + "\n";
  driver().failing = "cuModuleLoadDataEx";
  auto image = gpu().loadImage(imageOf(own));
  driver().failing = "";
  EXPECT_FALSE(image);
  image = gpu().loadImage(imageOf(own));
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(driver().cubins, before + 1);
}
