/// Whole processes: one that finds its programs in the cache never maps the
/// compiler, and one without a usable cache computes all the same. The test
/// starts itself again as those processes.
#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sn = sinter;
namespace fs = std::filesystem;

namespace {

constexpr const char *childVariable = "SINTER_TEST_CHILD";

/// Files below this folder find the disk full.
std::string fullFolder;

} // namespace

/// Stands before the C library's, for this program and the libraries it uses.
extern "C" ssize_t write(int file, const void *bytes, size_t count) {
  if (!fullFolder.empty()) {
    char path[4096];
    std::string link = "/proc/self/fd/" + std::to_string(file);
    ssize_t length = ::readlink(link.c_str(), path, sizeof(path));
    if (length > 0 && std::string_view(path, static_cast<size_t>(length))
                          .starts_with(fullFolder)) {
      errno = ENOSPC;
      return -1;
    }
  }
  return ::syscall(SYS_write, file, bytes, count);
}

namespace {

/// What a child does: one fused program, its counters and its libraries. An
/// `other` program has the first kernel in common.
int beChild(bool other) {
  sn::Tensor x = sn::tensor({{1.f, -2.f}, {3.f, 4.f}});
  sn::Tensor layer = sn::relu(sn::matmul(x, x) + 1.f);
  sn::Tensor result = other ? sn::amax(layer) : sn::sum(layer);
  auto value = result.item<float>();
  std::ifstream maps("/proc/self/maps");
  std::string text(std::istreambuf_iterator<char>(maps), {});
  sn::Stats stats = sn::stats();
  std::printf("value %g compiles %d disk %d compiler %d kernels %d reused %d "
              "warnings %d\n",
              value, static_cast<int>(stats.compiles),
              static_cast<int>(stats.disk_hits),
              static_cast<int>(text.find("libsinter-compiler") != text.npos ||
                               text.find("libMLIR") != text.npos),
              static_cast<int>(stats.kernels_compiled),
              static_cast<int>(stats.kernel_disk_hits),
              static_cast<int>(stats.warnings));
  return 0;
}

class Process : public testing::Test {
protected:
  void SetUp() override {
    if (sn::default_device() == sn::device("null"))
      GTEST_SKIP() << "the null device compiles nothing";
    char name[] = "/tmp/sinter-process-XXXXXX";
    folder = ::mkdtemp(name);
  }
  void TearDown() override {
    if (!folder.empty()) {
      fs::permissions(folder, fs::perms::owner_all);
      fs::remove_all(folder);
    }
  }

  /// The child's line, with a cache in `cache`; standard error joins it.
  std::string child(const fs::path &cache, const char *mode = "plain") const {
    std::string self = fs::read_symlink("/proc/self/exe");
    std::string command = "env SINTER_CACHE_DIR='" + cache.string() + "' " +
                          childVariable + "=" + mode + " '" + self + "' 2>&1";
    FILE *pipe = ::popen(command.c_str(), "r");
    std::string output;
    char buffer[512];
    while (size_t count = std::fread(buffer, 1, sizeof(buffer), pipe))
      output.append(buffer, count);
    EXPECT_EQ(::pclose(pipe), 0) << output;
    return output;
  }

  fs::path folder;
};

/// The files of a cache with this extension.
std::vector<fs::path> entries(const fs::path &cache, const char *extension) {
  std::vector<fs::path> found;
  for (const auto &entry : fs::directory_iterator(cache))
    if (entry.path().extension() == extension)
      found.push_back(entry.path());
  return found;
}

std::string readAll(const fs::path &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Alters two bytes in the middle.
void alter(const fs::path &path) {
  std::string bytes = readAll(path);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x5a);
  std::ofstream(path, std::ios::binary) << bytes;
}

void expectHas(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << " lacks " << part;
}

} // namespace

TEST_F(Process, AWarmOneMapsNoCompiler) {
  std::string cold = child(folder / "cache");
  expectHas(cold, "value 27 compiles 1 disk 0 compiler 1");
  std::string warm = child(folder / "cache");
  expectHas(warm, "value 27 compiles 0 disk 1 compiler 0");
}

TEST_F(Process, TheCacheIsPrivate) {
  child(folder / "cache");
  struct stat info = {};
  ASSERT_EQ(::stat((folder / "cache").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(Process, ABrokenEntryIsCompiledAnew) {
  child(folder / "cache");
  for (const char *kind : {".sinter", ".kernel", ".pipelines"})
    for (const fs::path &entry : entries(folder / "cache", kind))
      alter(entry);
  expectHas(child(folder / "cache"), "value 27 compiles 1");
  expectHas(child(folder / "cache"), "value 27 compiles 0 disk 1");
}

TEST_F(Process, ExchangedEntriesAreNoticed) {
  child(folder / "cache");
  child(folder / "cache", "other");
  for (const char *kind : {".sinter", ".kernel"}) {
    std::vector<fs::path> all = entries(folder / "cache", kind);
    ASSERT_GE(all.size(), 2u);
    fs::rename(all[0], folder / "kept");
    for (size_t i = 1; i < all.size(); ++i)
      fs::rename(all[i], all[i - 1]);
    fs::rename(folder / "kept", all.back());
  }
  std::string output = child(folder / "cache");
  expectHas(output, "value 27 compiles 1");
  expectHas(output, ": it is the entry ");
  expectHas(output, "; compiling again");
  expectHas(output, "; compiling the kernel again");
  expectHas(child(folder / "cache", "other"), "value 16 compiles 1");
  expectHas(child(folder / "cache"), "compiles 0 disk 1");
}

TEST_F(Process, KernelsAreReusedWhereTheProgramIsGone) {
  std::string cold = child(folder / "cache");
  std::vector<fs::path> kernels = entries(folder / "cache", ".kernel");
  std::vector<fs::path> programs = entries(folder / "cache", ".sinter");
  ASSERT_GE(kernels.size(), 1u);
  ASSERT_EQ(programs.size(), 1u);
  std::string count = std::to_string(kernels.size());
  expectHas(cold, "kernels " + count + " reused 0 warnings 0");
  std::string bytes = readAll(programs[0]);
  fs::remove(programs[0]);
  std::string warm = child(folder / "cache");
  expectHas(warm, "value 27 compiles 1 disk 0");
  expectHas(warm, "kernels 0 reused " + count + " warnings 0");
  EXPECT_EQ(readAll(programs[0]), bytes)
      << "the program depends on where its kernels came from";
}

TEST_F(Process, AnotherProgramReusesKernels) {
  child(folder / "cache");
  std::string output = child(folder / "cache", "other");
  expectHas(output, "value 16 compiles 1 disk 0");
  expectHas(output, "kernels 1 reused 1 warnings 0");
}

TEST_F(Process, ABrokenKernelIsCompiledAnew) {
  child(folder / "cache");
  fs::remove(entries(folder / "cache", ".sinter").at(0));
  std::vector<fs::path> kernels = entries(folder / "cache", ".kernel");
  alter(kernels.at(0));
  std::string others = std::to_string(kernels.size() - 1);
  std::string output = child(folder / "cache");
  expectHas(output, "kernels 1 reused " + others + " warnings 1");
  expectHas(output, "value 27 compiles 1");
  expectHas(output, "the digest is wrong; compiling the kernel again");
  fs::remove(entries(folder / "cache", ".sinter").at(0));
  expectHas(child(folder / "cache"),
            "kernels 0 reused " + std::to_string(kernels.size()));
}

TEST_F(Process, AnUnwritableCacheIsOnlyAWarning) {
  std::ofstream(folder / "file") << "in the way";
  std::string output = child(folder / "file" / "cache");
  expectHas(output, "value 27 compiles 1");
  expectHas(output, "warning");
}

TEST_F(Process, ACacheThatOthersMayWriteIsRefused) {
  fs::create_directory(folder / "cache");
  fs::permissions(folder / "cache", fs::perms::all);
  std::string output = child(folder / "cache");
  expectHas(output, "value 27 compiles 1");
  expectHas(output, "warning");
  EXPECT_TRUE(fs::is_empty(folder / "cache"));
}

TEST_F(Process, ACacheOfSomebodyElseIsRefused) {
  // Root can give a folder away; others have one of root's.
  fs::path cache = "/usr";
  if (::geteuid() == 0) {
    cache = folder / "cache";
    fs::create_directory(cache);
    fs::permissions(cache, fs::perms::owner_all);
    ASSERT_EQ(::chown(cache.c_str(), 12345, 12345), 0);
  }
  std::string output = child(cache);
  expectHas(output, "value 27 compiles 1");
  expectHas(output, "it belongs to user");
  EXPECT_TRUE(cache == "/usr" || fs::is_empty(cache));
}

TEST_F(Process, AFullDiskIsOnlyAWarning) {
  std::string output = child(folder / "cache", "full");
  expectHas(output, "value 27 compiles 1");
  expectHas(output, "No space left on device; kernels are not kept");
  expectHas(output, "No space left on device; the program is not kept");
  bool hasPipelines = sn::default_device().kind == sn::DeviceKind::vulkan;
  expectHas(output, hasPipelines ? "warnings 3" : "warnings 2");
  if (hasPipelines)
    expectHas(output, "No space left on device; pipelines are not kept");
  EXPECT_TRUE(fs::is_empty(folder / "cache"));
  expectHas(child(folder / "cache"), "warnings 0");
}

TEST_F(Process, ADeviceIsNoCache) {
  std::string output = child("/dev/full");
  expectHas(output, "value 27 compiles 1");
  expectHas(output, "it is not a directory");
}

int main(int argc, char **argv) {
  if (const char *mode = std::getenv(childVariable)) {
    if (mode == std::string_view("full"))
      fullFolder = std::getenv("SINTER_CACHE_DIR");
    return beChild(mode == std::string_view("other"));
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
