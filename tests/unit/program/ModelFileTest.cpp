#include "runtime/digest/WideHash.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/VerifyProgram.h"
#include "tests/unit/program/ProgramBuilder.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

namespace {

Device &cpu() { return **getDevice({DeviceKind::cpu, 0}); }

ProgramBuilder withEverything() {
  ProgramBuilder b = scaleProgram();
  b.constants.resize(300, std::byte(7));
  b.constantData(256, 8);
  b.sites = {"model.cpp:3", "", "model.cpp:9"};
  return b;
}

ErrorInfo loadError(std::span<const std::byte> file) {
  auto program = Program::load(file, cpu());
  return program ? ErrorInfo{ErrorKind::internal, "it loads", {}, {}, 0}
                 : program.takeError();
}

} // namespace

TEST(ModelFile, headerLayoutIsFrozen) {
  std::vector<std::byte> file = withEverything().file();
  FileHeader header;
  ASSERT_GE(file.size(), sizeof(header));
  EXPECT_EQ(std::memcmp(file.data(), "SINTER\0\1", 8), 0);
  EXPECT_EQ(offsetof(FileHeader, version), 8u);
  EXPECT_EQ(offsetof(FileHeader, numSections), 12u);
  EXPECT_EQ(offsetof(FileHeader, fileBytes), 16u);
  EXPECT_EQ(offsetof(FileHeader, contentDigest), 32u);
  EXPECT_EQ(offsetof(FileHeader, headerDigest), 48u);
  EXPECT_EQ(offsetof(SectionEntry, offset), 8u);
  EXPECT_EQ(offsetof(SectionEntry, bytes), 16u);
  EXPECT_EQ(offsetof(SectionEntry, alignment), 24u);
  EXPECT_EQ(offsetof(SectionEntry, digest), 32u);
  EXPECT_EQ(offsetof(SectionEntry, name), 48u);
  EXPECT_EQ(offsetof(SectionEntry, optional), 63u);
  // The digest of no bytes, as xxHash documents it.
  Digest empty = digestOf({});
  EXPECT_EQ(empty[0], 0x99);
  EXPECT_EQ(empty[15], 0x7f);
}

/// Each way to compile the hash gives the same one.
TEST(ModelFile, digestsWithAnyVectors) {
  std::vector<HashFunction> ways = {wideHash()};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2"))
    ways.push_back(hashAvx2);
  if (__builtin_cpu_supports("avx512f"))
    ways.push_back(hashAvx512);
#endif
  std::vector<uint8_t> bytes(100'003);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = uint8_t(i * 2654435761u >> 13);
  for (size_t size : {0, 3, 16, 100, 200, 240, 241, 1024, 4097, 100'000})
    for (size_t offset : {0, 1, 3}) {
      XXH128_hash_t wanted = XXH3_128bits(bytes.data() + offset, size);
      for (HashFunction way : ways)
        EXPECT_TRUE(XXH128_isEqual(way(bytes.data() + offset, size), wanted));
    }
}

/// Blocks are digested on several threads, each in its place.
TEST(ModelFile, digestsBlocksInOrder) {
  std::vector<std::byte> section(5 * digestBlock + 77);
  for (size_t i = 0; i < section.size(); i += 1000)
    section[i] = std::byte(i / 1000 * 7);
  std::vector<Digest> blocks = blockDigests(section);
  std::span<const std::byte> whole(section),
      parts[] = {whole.first(1000), whole.subspan(1000)};
  EXPECT_EQ(blocks, blockDigests(ByteParts(parts)));
  EXPECT_EQ(blocks.size(), 6u);
  EXPECT_EQ(blocks[5], digestOf(whole.subspan(5 * digestBlock)));
}

TEST(ModelFile, everyByteCounts) {
  const std::vector<std::byte> file = withEverything().file();
  ASSERT_TRUE(Program::load(file, cpu()));
  std::vector<std::byte> altered = file;
  for (size_t at = 0; at < file.size(); ++at) {
    for (uint8_t flip : {0x01, 0x80, 0xff}) {
      altered[at] = file[at] ^ std::byte(flip);
      auto model = readModel(altered);
      ASSERT_FALSE(model) << "byte " << at << " of " << file.size();
      ASSERT_EQ(model.error().kind, ErrorKind::io);
    }
    altered[at] = file[at];
  }
  for (size_t at = 0; at < file.size(); at += 97) {
    altered[at] ^= std::byte(1);
    ASSERT_EQ(loadError(altered).kind, ErrorKind::io);
    altered[at] = file[at];
  }
}

TEST(ModelFile, everyLengthCounts) {
  std::vector<std::byte> file = withEverything().file();
  for (size_t size = 0; size < file.size(); ++size)
    ASSERT_FALSE(readModel(std::span(file).first(size))) << size;
  file.push_back(std::byte(0));
  EXPECT_FALSE(readModel(file));
}

TEST(ModelFile, saysWhatIsWrong) {
  std::vector<std::byte> file = withEverything().file();
  EXPECT_EQ(loadError({}).message,
            "model file: 0 bytes are too few for a header; this is an empty "
            "file");
  std::vector<std::byte> altered = file;
  altered[0] = std::byte('x');
  EXPECT_EQ(loadError(altered).message,
            "model file: wrong magic, this is not a .sinter file");
  altered = file;
  altered[8] = std::byte(9);
  EXPECT_EQ(loadError(altered).message,
            "model file: format version 9, this build reads version 4: a newer "
            "release wrote it");
  altered[8] = std::byte(2);
  EXPECT_EQ(loadError(altered).message,
            "model file: format version 2, this build reads version 4: write "
            "the file again with this release");
  altered = file;
  altered[48] ^= std::byte(1);
  EXPECT_EQ(loadError(altered).message,
            "model file: the digest of header and section table is wrong");
  altered = file;
  altered.back() ^= std::byte(1);
  EXPECT_EQ(loadError(altered).message,
            "model file: the digest of debug section 0 is wrong");
}

TEST(ModelFile, isDeterministic) {
  EXPECT_EQ(withEverything().file(), withEverything().file());
}

TEST(ModelFile, stripsDebugOnly) {
  ProgramBuilder b = withEverything();
  std::vector<std::byte> full = b.file();
  b.sites.clear();
  std::vector<std::byte> bare = b.file();
  auto stripped = stripModel(full);
  ASSERT_TRUE(stripped);
  EXPECT_EQ(*stripped, bare);
  EXPECT_EQ(readModel(full)->contentDigest, readModel(bare)->contentDigest);
  auto again = stripModel(bare);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, bare);

  auto program = Program::load(full, cpu());
  ASSERT_TRUE(program);
  EXPECT_EQ((*program)->siteOf(0), "model.cpp:3");
  EXPECT_EQ((*program)->siteOf(1), "");
  EXPECT_EQ((*program)->siteOf(99), "");
  EXPECT_EQ((*program)->graphText(), "module {}\n");
  program = Program::load(bare, cpu());
  ASSERT_TRUE(program);
  EXPECT_EQ((*program)->siteOf(0), "");
}

TEST(ModelFile, digestsLargeSectionsByBlocks) {
  ProgramBuilder b = scaleProgram();
  b.constants.resize(digestBlock + 1000, std::byte(1));
  std::vector<std::byte> file = b.file();
  ASSERT_TRUE(readModel(file));
  std::span<const std::byte> pool =
      readModel(file)->find(SectionKind::constants)->bytes;
  size_t start = size_t(pool.data() - file.data());
  for (size_t at : {start, start + digestBlock - 1, start + digestBlock,
                    start + pool.size() - 1}) {
    file[at] ^= std::byte(1);
    EXPECT_FALSE(readModel(file));
    file[at] ^= std::byte(1);
  }
}

TEST(ModelFile, takesTheBestProgram) {
  ProgramBuilder plain = scaleProgram();
  ProgramBuilder better = scaleProgram();
  ProgramBuilder foreign = scaleProgram();
  ProgramBuilder future = scaleProgram();
  std::string have = cpu().profile();
  better.program.variant = have.substr(0, have.find(','));
  better.program.inputs[0]->name = "better";
  foreign.program.target = "cuda";
  future.program.variant = "avx2048,sse3";
  auto write = [](std::initializer_list<const ProgramBuilder *> builders) {
    ModelWriter writer;
    for (const ProgramBuilder *builder : builders)
      writer.addProgram(builder->program, kernelImage());
    auto file = writer.finish();
    EXPECT_TRUE(file);
    return *file;
  };
  auto program =
      Program::load(write({&foreign, &plain, &better, &future}), cpu());
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ((*program)->inputs()[0].name, have.empty() ? "x" : "better");
  if (!have.empty()) {
    std::string choice = "cpu (" + better.program.variant +
                         ") runs on cpu; cuda is for another device; cpu needs "
                         "no more of the device; cpu (avx2048,sse3) needs "
                         "avx2048";
    EXPECT_TRUE((*program)->choice().starts_with(choice));
  }
  program = Program::load(write({&plain}), cpu());
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ((*program)->choice(), "");

  ErrorInfo error = loadError(write({&foreign, &future}));
  EXPECT_EQ(error.kind, ErrorKind::unsupported);
  EXPECT_EQ(
      error.message,
      "model file: no program runs on cpu: cuda is for another device; "
      "cpu (avx2048,sse3) needs avx2048" +
          std::string(have.find("sse3") == std::string::npos ? ",sse3" : "") +
          (have.empty() ? "" : "; the device has " + have));
}

TEST(ModelFile, joinsFilesOfOneGraph) {
  auto fileFor = [](const char *target, std::initializer_list<char> pool,
                    const char *site) {
    ProgramBuilder builder = scaleProgram();
    builder.program.target = target;
    for (char content : pool) { // a constant each
      builder.constantData(builder.constants.size(), 256);
      builder.constants.resize(builder.constants.size() + 256,
                               std::byte(content));
    }
    builder.sites = {site};
    return builder.file();
  };
  std::vector<std::vector<std::byte>> files = {
      fileFor("cpu", {1, 2}, "a.cpp:1"), fileFor("cuda", {2, 3}, "a.cpp:1")};
  auto joined = joinModels(files);
  ASSERT_TRUE(joined) << joined.error().message;
  auto model = readModel(*joined);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->count(SectionKind::program), 2u);
  EXPECT_EQ(model->count(SectionKind::image), 2u);
  const Section *pool = model->find(SectionKind::constants);
  ASSERT_TRUE(pool);
  EXPECT_EQ(pool->bytes.size(), 3u * 256); // the second is shared
  for (uint32_t index = 0; index < 2; ++index) {
    auto program = verifyProgram(*model, index);
    ASSERT_TRUE(program) << program.error().message;
    for (uint32_t number = 0; number < 2; ++number)
      EXPECT_EQ(pool->bytes[program->constants[number].offset],
                std::byte(1 + index + number));
  }
  auto program = Program::load(*joined, cpu());
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ((*program)->choice(),
            "cpu runs on cpu; cuda is for another device");

  files[1] = fileFor("cuda", {2, 3}, "b.cpp:1");
  joined = joinModels(files);
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().kind, ErrorKind::invalid_argument);
}

TEST(ModelFile, loadsFromDisk) {
  std::string path = testing::TempDir() + "model-file-test.sinter";
  std::vector<std::byte> file = withEverything().file();
  auto write = [&](std::span<const std::byte> bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()),
               std::streamsize(bytes.size()));
  };
  write(file);
  auto program = Program::loadFile(path, cpu());
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_GE((*program)->residentBytes(), file.size());
  write(std::span(file).first(file.size() - 1));
  program = Program::loadFile(path, cpu());
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().kind, ErrorKind::io);
  EXPECT_EQ(program.error().message.rfind(path + ": model file: ", 0), 0u);
  write({});
  EXPECT_FALSE(Program::loadFile(path, cpu()));
  unlink(path.c_str());
  program = Program::loadFile(path, cpu());
  ASSERT_FALSE(program);
  EXPECT_NE(program.error().message.find(path), std::string::npos);
  EXPECT_FALSE(Program::loadFile("/", cpu()));
}
