#include "runtime/program/CompilerHook.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

#include <dlfcn.h>

using namespace sinter;
using namespace sinter::runtime;
namespace fs = std::filesystem;

TEST(CompilerHook, prefersWhatIsRegistered) {
  static const CompilerHook hook{};
  registerCompiler(&hook);
  auto found = compilerHook();
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, &hook);
  registerCompiler(nullptr);
}

/// Runs itself again over a copy of the runtime that has no compiler beside
/// it.
TEST(CompilerHook, saysWhenThereIsNone) {
  if (std::getenv("SINTER_TEST_NO_COMPILER")) {
    auto found = compilerHook();
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind, ErrorKind::compile);
    EXPECT_NE(found.error().message.find("libsinter-compiler.so"),
              std::string::npos)
        << found.error().message;
    return;
  }
  Dl_info info;
  ASSERT_TRUE(dladdr(reinterpret_cast<void *>(&registerCompiler), &info));
  fs::path folder = testing::TempDir() + "no-compiler-test";
  fs::create_directories(folder);
  fs::copy(info.dli_fname, folder, fs::copy_options::overwrite_existing);
  std::string command =
      "SINTER_TEST_NO_COMPILER=1 LD_LIBRARY_PATH=" + folder.string() + " " +
      fs::read_symlink("/proc/self/exe").string() +
      " --gtest_filter=CompilerHook.saysWhenThereIsNone > /dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0);
  fs::remove_all(folder);
}
