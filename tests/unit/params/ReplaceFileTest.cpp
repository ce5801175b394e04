/// Saves over anything, on a full disk, and ended at any moment: the name has
/// the old file or the new one.
#include "runtime/files/ReplaceFile.h"

#include "runtime/params/Npy.h"
#include "runtime/params/Npz.h"
#include "runtime/params/Safetensors.h"
#include "tests/unit/params/FileFaults.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <thread>

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sinter;
using namespace sinter::runtime;
using sinter::test::FileFaults;
using sinter::test::fileFaults;
namespace fs = std::filesystem;

namespace {

/// With nameless files, and without them in two ways.
constexpr FileFaults kindsOfSystems[] = {
    {}, {.hasProc = false}, {.hasNameless = false}};

Status save(const std::string &path, std::string_view text) {
  std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  return replaceFile(path, {&bytes, 1});
}

std::string contentOf(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put(const std::string &path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

mode_t modeOf(const std::string &path) {
  struct stat status = {};
  EXPECT_EQ(lstat(path.c_str(), &status), 0);
  return status.st_mode;
}

std::string messageOf(const Status &status) {
  return status ? "done" : status.error().message;
}

void expectHas(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << " lacks " << part;
}

using Save = std::function<Status(const std::string &, float)>;

/// Each writer of files, with a tensor full of a number.
struct Writer {
  const char *name;
  Save save;
};
std::vector<Writer> writers(size_t elements) {
  auto tensorOf = [elements](std::vector<float> &values, float number) {
    values.assign(elements, number);
    return NamedTensor{
        "x", DType::f32, {int64_t(elements)}, std::as_bytes(std::span(values))};
  };
  return {
      {"safetensors",
       [=](const std::string &path, float number) {
         std::vector<float> values;
         NamedTensor tensor = tensorOf(values, number);
         return writeSafetensors(path, {&tensor, 1});
       }},
      {"npy",
       [=](const std::string &path, float number) {
         std::vector<float> values;
         return writeNpy(path, tensorOf(values, number));
       }},
      {"npz",
       [=](const std::string &path, float number) {
         std::vector<float> values;
         NamedTensor tensor = tensorOf(values, number);
         return writeNpz(path, {&tensor, 1});
       }},
  };
}

class ReplaceFile : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "replace-file-XXXXXX";
    ASSERT_TRUE(mkdtemp(pattern.data()));
    folder = pattern;
    path = folder + "/file";
    fileFaults() = {};
  }
  void TearDown() override {
    fileFaults() = {};
    fs::remove_all(folder);
  }

  /// How many names the folder has.
  size_t names() const {
    return size_t(std::distance(fs::directory_iterator(folder), {}));
  }

  std::string folder, path;
};

} // namespace

TEST_F(ReplaceFile, HasTheModeOfTheOldOneOrTheUsual) {
  mode_t before = umask(027);
  EXPECT_TRUE(save(path, "one"));
  umask(before);
  EXPECT_EQ(modeOf(path) & 0777, 0640u);
  for (mode_t mode : {0600u, 0666u, 0755u}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    EXPECT_TRUE(save(path, "two"));
    EXPECT_EQ(modeOf(path) & 07777, mode);
  }
  EXPECT_EQ(contentOf(path), "two");
  EXPECT_TRUE(save(path, ""));
  EXPECT_EQ(contentOf(path), "");
  EXPECT_EQ(names(), 1u);
}

TEST_F(ReplaceFile, NeedsNoNamelessFiles) {
  for (FileFaults faults : kindsOfSystems) {
    fs::remove(path);
    fileFaults() = faults;
    EXPECT_TRUE(save(path, "one"));
    EXPECT_TRUE(save(path, "two"));
    EXPECT_EQ(contentOf(path), "two");
    EXPECT_EQ(names(), 1u);
  }
}

TEST_F(ReplaceFile, RespectsOwners) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root gives files away";
  put(path, "old");
  ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
  EXPECT_TRUE(save(path, "new"));
  struct stat status = {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 65534u);
  EXPECT_EQ(status.st_gid, 65534u);
  // Somebody else in a folder of all: what is closed to him stays so.
  ASSERT_EQ(chmod(folder.c_str(), 0777), 0);
  ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  pid_t child = fork();
  if (child == 0) {
    bool good = setgid(65534) == 0 && setuid(65534) == 0;
    good = good && messageOf(save(path, "his")) ==
                       path + ": cannot write: Permission denied";
    _exit(good ? 0 : 1);
  }
  int ended = 0;
  waitpid(child, &ended, 0);
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(contentOf(path), "new");
}

TEST_F(ReplaceFile, FollowsLinks) {
  fs::create_directory(folder + "/far");
  fs::create_symlink("far/file", path);
  fs::create_symlink("file", folder + "/second");
  fs::create_symlink(folder + "/second", folder + "/third");
  EXPECT_TRUE(save(path, "made")) << "a link to nothing makes its target";
  for (const char *name : {"/file", "/second", "/third"}) {
    EXPECT_TRUE(save(folder + name, name));
    EXPECT_TRUE(fs::is_symlink(folder + name));
    EXPECT_EQ(contentOf(folder + "/far/file"), name);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder + "/far"), {}), 1);
  fs::create_symlink("loop", folder + "/loop");
  expectHas(messageOf(save(folder + "/loop", "x")), "symbolic links");
  fs::create_symlink("no/such", folder + "/nowhere");
  expectHas(messageOf(save(folder + "/nowhere", "x")), "No such file");
  EXPECT_TRUE(fs::is_symlink(folder + "/nowhere"));
}

TEST_F(ReplaceFile, RefusesAFileThatHasNoName) {
  put(path, "old");
  int opened = ::open(path.c_str(), O_RDWR);
  fs::remove(path);
  std::string link = fmt::format("/proc/self/fd/{}", opened);
  EXPECT_EQ(messageOf(save(link, "x")),
            link + ": cannot replace: the file has no name any more");
  ::close(opened);
  EXPECT_EQ(names(), 0u);
}

// A saver may find that another, or who removes, came before it.
TEST_F(ReplaceFile, SaversAndRemoversMayMeet) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (int saver = 0; saver < 2; ++saver)
    threads.emplace_back([&, saver] {
      for (int round = 0; round < 30; ++round)
        failed += !save(path, std::string(100 + saver, 'x'));
    });
  std::thread remover([&] {
    while (!stop)
      ::unlink(path.c_str());
  });
  for (std::thread &thread : threads)
    thread.join();
  stop = true;
  remover.join();
  EXPECT_EQ(failed, 0);
  EXPECT_LE(names(), 1u);
}

TEST_F(ReplaceFile, HardLinksKeepTheOldFile) {
  put(path, "old");
  fs::create_hard_link(path, folder + "/other");
  EXPECT_TRUE(save(path, "new"));
  EXPECT_EQ(contentOf(path), "new");
  EXPECT_EQ(contentOf(folder + "/other"), "old");
}

TEST_F(ReplaceFile, WritesIntoAPipeThatIsRead) {
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(messageOf(save(path, "x")),
            path + ": cannot write: nobody reads from this FIFO");
  EXPECT_TRUE(S_ISFIFO(modeOf(path)));
  int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  std::string sent(200'000, 'x'), got; // more than a pipe holds
  std::thread thread([&] {
    char buffer[4096];
    while (got.size() < sent.size()) {
      ssize_t count = ::read(reader, buffer, sizeof(buffer));
      if (count > 0)
        got.append(buffer, size_t(count));
    }
  });
  EXPECT_EQ(messageOf(save(path, sent)), "done");
  thread.join();
  EXPECT_EQ(got, sent);
  // The reader goes away.
  std::thread leaving([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ::close(reader);
  });
  expectHas(messageOf(save(path, sent)), "Broken pipe");
  leaving.join();
  EXPECT_TRUE(S_ISFIFO(modeOf(path)));
  EXPECT_EQ(names(), 1u);
}

TEST_F(ReplaceFile, WritesToDevicesAndReplacesNone) {
  fs::create_symlink("/dev/null", path);
  fs::create_symlink("/dev/full", folder + "/full");
  EXPECT_TRUE(save(path, "x"));
  expectHas(messageOf(save(folder + "/full", "four")),
            "cannot write: 4 bytes are needed: No space left on device");
  EXPECT_TRUE(S_ISCHR(modeOf("/dev/null")) && S_ISCHR(modeOf("/dev/full")));
  std::string node = folder + "/node";
  if (mknod(node.c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0) {
    EXPECT_EQ(messageOf(save(node, "x")), "done");
    EXPECT_TRUE(S_ISCHR(modeOf(node)));
  }
  std::string disk = folder + "/disk";
  if (mknod(disk.c_str(), S_IFBLK | 0600, makedev(7, 200)) == 0) {
    EXPECT_EQ(messageOf(save(disk, "x")),
              disk + ": cannot write: it is a block device");
    EXPECT_TRUE(S_ISBLK(modeOf(disk)));
  }
}

TEST_F(ReplaceFile, RefusesWhatIsNoFile) {
  EXPECT_EQ(messageOf(save(folder, "x")),
            folder + ": cannot write: it is a directory");
  EXPECT_EQ(messageOf(save(folder + "/none/", "x")),
            folder + "/none/: this is no name of a file");
  EXPECT_FALSE(save("", "x"));
  put(path, "old");
  EXPECT_FALSE(save(path + "/below", "x"));
  int listening = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::string name = folder + "/s";
  ASSERT_LT(name.size(), sizeof(address.sun_path));
  std::ranges::copy(name, address.sun_path);
  ASSERT_EQ(
      bind(listening, reinterpret_cast<sockaddr *>(&address), sizeof(address)),
      0);
  EXPECT_EQ(messageOf(save(name, "x")),
            name + ": cannot write: it is a socket");
  ::close(listening);
  EXPECT_EQ(contentOf(path), "old");
  EXPECT_EQ(names(), 2u);
}

TEST_F(ReplaceFile, FilesLeftBehindAreNotInTheWay) {
  for (int number = 0; number < 20; ++number)
    put(fmt::format("{}.{}.{}.tmp", path, getpid(), number), "left");
  put(folder + "/.sinter-0123456789abcdef0123456789abcdef.tmp", "left");
  size_t before = names();
  for (FileFaults faults : kindsOfSystems) {
    fileFaults() = faults;
    for (int round = 0; round < 5; ++round)
      ASSERT_EQ(messageOf(save(path, std::to_string(round))), "done");
  }
  EXPECT_EQ(contentOf(path), "4");
  EXPECT_EQ(names(), before + 1);
  // The new file's first name may be no longer than that of any file.
  std::string longest = folder + "/" + std::string(NAME_MAX, 'n');
  EXPECT_EQ(messageOf(save(longest, "x")), "done");
  EXPECT_EQ(contentOf(longest), "x");
}

TEST_F(ReplaceFile, KnowsItsTemporaryNames) {
  std::string digits(32, '7');
  EXPECT_TRUE(isTemporaryName(".sinter-" + digits + ".tmp"));
  EXPECT_FALSE(isTemporaryName(".sinter-" + digits + "7.tmp"));
  EXPECT_FALSE(isTemporaryName("sinter--" + digits + ".tmp"));
  EXPECT_FALSE(isTemporaryName(".sinter-" + digits + ".tmq"));
  EXPECT_FALSE(isTemporaryName(""));
}

TEST_F(ReplaceFile, AnyCallThatFailsLeavesTheOldFile) {
  // Without a nameless file, or a name for one, it is done in another way.
  const std::vector<int> harmless[] = {{1, 4}, {1, 4}, {1}};
  // Opening, write, fsync, linkat and renameat, and fsync of the folder; again
  // from the beginning; after an opening that fails.
  const int expected[] = {6, 9, 6};
  for (size_t kind = 0; kind < std::size(kindsOfSystems); ++kind) {
    put(path, "old");
    fileFaults() = kindsOfSystems[kind];
    ASSERT_TRUE(save(path, "old"));
    int calls = fileFaults().calls;
    ASSERT_EQ(calls, expected[kind]);
    for (int failing = 1; failing < calls; ++failing) {
      put(path, "old");
      fileFaults() = kindsOfSystems[kind];
      fileFaults().failing = failing;
      std::string message = messageOf(save(path, "new"));
      fileFaults() = {};
      bool isHarmless = std::ranges::count(harmless[kind], failing) > 0;
      if (!isHarmless)
        expectHas(message, "Input/output error");
      EXPECT_EQ(contentOf(path), isHarmless ? "new" : "old") << failing;
      EXPECT_EQ(names(), 1u) << failing;
    }
    fileFaults() = kindsOfSystems[kind];
    fileFaults().failing = calls;
    EXPECT_EQ(messageOf(save(path, "new")), "done") << "folders need no sync";
  }
}

TEST_F(ReplaceFile, ADiskThatIsFullAtAnyByteLeavesTheOldFile) {
  for (const Writer &writer : writers(/*elements=*/20)) {
    ASSERT_TRUE(writer.save(path, 2));
    std::string wanted = contentOf(path);
    for (unsigned variant = 0; variant < 6; ++variant) {
      bool hasOld = variant % 2;
      FileFaults faults = kindsOfSystems[variant / 2];
      fs::remove(path);
      if (hasOld) {
        ASSERT_TRUE(writer.save(path, 1));
      }
      std::string old = contentOf(path);
      for (uint64_t room = 0; room < wanted.size(); ++room) {
        fileFaults() = faults;
        fileFaults().room = room;
        std::string message = messageOf(writer.save(path, 2));
        fileFaults() = {};
        expectHas(message,
                  fmt::format("{}: cannot write: {} bytes are needed, ", path,
                              wanted.size()));
        expectHas(message, " are free: No space left on device");
        ASSERT_EQ(contentOf(path), old) << writer.name << " at " << room;
        ASSERT_EQ(names(), hasOld ? 1u : 0u) << writer.name << " at " << room;
      }
      fileFaults() = faults;
      fileFaults().room = wanted.size() * (faults.hasProc ? 1 : 2);
      EXPECT_EQ(messageOf(writer.save(path, 2)), "done");
      fileFaults() = {};
      EXPECT_EQ(contentOf(path), wanted);
    }
  }
}

// The signal of the limit would end the process.
TEST_F(ReplaceFile, ALimitOfFileSizesIsAnError) {
  put(path, "old");
  pid_t child = fork();
  if (child == 0) {
    rlimit little{100, 100};
    setrlimit(RLIMIT_FSIZE, &little);
    std::string message = messageOf(save(path, std::string(300, 'x')));
    bool good = message == path + ": cannot write: 300 bytes are needed: File "
                                  "too large";
    _exit(good ? 0 : 1);
  }
  int ended = 0;
  waitpid(child, &ended, 0);
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(contentOf(path), "old");
  EXPECT_EQ(names(), 1u);
}

//===- Killed while saving ------------------------------------------------===//

namespace {

/// How often to kill: SINTER_TEST_KILLS, else a few times.
int killCount() {
  const char *text = std::getenv("SINTER_TEST_KILLS");
  return text ? std::atoi(text) : 12;
}

constexpr size_t killedElements = 1 << 16;

/// The number that all elements are; less than 0 where it is no such file.
float numberIn(const std::string &path) {
  auto file = SafetensorsFile::open(path);
  const NamedTensor *tensor = file ? file->find("x") : nullptr;
  if (!tensor || tensor->data.size() != killedElements * sizeof(float))
    return -1;
  auto *values = reinterpret_cast<const float *>(tensor->data.data());
  bool same = std::all_of(values, values + killedElements,
                          [&](float value) { return value == values[0]; });
  return same ? values[0] : -1;
}

/// Removes what killed savers left; whether it was theirs.
void removeLeft(const std::string &folder) {
  for (const auto &entry : fs::directory_iterator(folder)) {
    std::string name = entry.path().filename();
    if (name == "file")
      continue;
    EXPECT_TRUE(isTemporaryName(name)) << name;
    fs::remove(entry.path());
  }
}

} // namespace

TEST_F(ReplaceFile, KilledBeforeAnyCallItHasTheOldFileOrTheNewOne) {
  Save save = writers(killedElements)[0].save;
  for (FileFaults faults : kindsOfSystems) {
    fileFaults() = faults;
    ASSERT_TRUE(save(path, 1));
    int renaming = fileFaults().calls - 1; // then the folder is synced
    fileFaults() = {};
    for (int killing = 1, ended = SIGKILL; ended == SIGKILL; ++killing) {
      ASSERT_TRUE(save(path, 1));
      pid_t child = fork();
      if (child == 0) {
        fileFaults() = faults;
        fileFaults().killing = killing;
        _exit(save(path, 2) ? 0 : 1);
      }
      waitpid(child, &ended, 0);
      ASSERT_TRUE(ended == 0 || ended == SIGKILL);
      float number = numberIn(path);
      EXPECT_TRUE(number == 2 || (number == 1 && ended != 0)) << number;
      if (faults.hasProc && faults.hasNameless && number == 1 && names() > 1) {
        EXPECT_EQ(killing, renaming) << "a nameless file leaves nothing";
      }
      removeLeft(folder);
    }
  }
}

TEST_F(ReplaceFile, KilledAtAnyMomentItHasAWholeFile) {
  Save save = writers(killedElements)[0].save;
  ASSERT_TRUE(save(path, 0));
  std::minstd_rand random(7);
  float first = 0;
  for (int round = 0; round < killCount(); ++round) {
    int done[2];
    ASSERT_EQ(pipe(done), 0);
    pid_t child = fork();
    if (child == 0) {
      for (float number = first + 1;; ++number)
        if (!save(path, number) ||
            ::write(done[1], &number, sizeof(number)) != sizeof(number))
          _exit(1);
    }
    ::close(done[1]);
    usleep(200 + useconds_t(random() % 20'000));
    kill(child, SIGKILL);
    int ended = 0;
    waitpid(child, &ended, 0);
    ASSERT_EQ(ended, SIGKILL);
    float saved = first; // what the child knew to be there
    for (float number; ::read(done[0], &number, sizeof(number)) > 0;)
      saved = number;
    ::close(done[0]);
    float number = numberIn(path);
    ASSERT_TRUE(number == saved || number == saved + 1)
        << number << " after " << saved << " in round " << round;
    first = number;
    removeLeft(folder);
  }
  RecordProperty("saves", int(first));
}

// As in two containers that share a folder.
TEST_F(ReplaceFile, ProcessesOfOneNumberDoNotMeet) {
  Save save = writers(/*elements=*/1000)[0].save;
  std::vector<pid_t> children;
  for (int container = 0; container < 2; ++container) {
    pid_t child = fork();
    if (child == 0) {
      if (unshare(CLONE_NEWPID) != 0)
        _exit(2);
      pid_t inside = fork();
      if (inside == 0) {
        bool good = getpid() == 1;
        for (int round = 0; round < 40; ++round) {
          fileFaults().hasNameless = round % 2;
          good = good && save(path, 1);
        }
        _exit(good ? 0 : 1);
      }
      int ended = 1;
      waitpid(inside, &ended, 0);
      _exit(ended == 0 ? 0 : 1);
    }
    children.push_back(child);
  }
  bool allowed = true;
  for (pid_t child : children) {
    int ended = 0;
    waitpid(child, &ended, 0);
    allowed = allowed && WEXITSTATUS(ended) != 2;
    EXPECT_TRUE(!allowed || ended == 0);
  }
  if (!allowed)
    GTEST_SKIP() << "no new namespace of processes may be made here";
  EXPECT_EQ(names(), 1u);
}
