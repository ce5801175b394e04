/// Signed files, and every way in which they are not what was signed.
#include "runtime/files/MappedFile.h"
#include "runtime/model/Model.h"
#include "runtime/params/Safetensors.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/ModelWriter.h"
#include "tests/unit/program/ModelBuilder.h"
#include "tests/unit/program/Reseal.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>

#include <sys/stat.h>
#include <unistd.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;
namespace fs = std::filesystem;

namespace {

using Bytes = std::vector<std::byte>;

class SignatureTest : public testing::Test {
protected:
  void SetUp() override {
    auto found = trustHook();
    if (!found)
      GTEST_SKIP() << found.error().message;
    hook = *found;
    char name[] = "/tmp/sinter-signature-XXXXXX";
    folder = ::mkdtemp(name);
    fs::create_directory(folder / "keys");
    keys = *hook->makeKeys();
    write(folder / "keys/own.pub", keys.open);
  }
  void TearDown() override {
    if (!folder.empty())
      fs::remove_all(folder);
  }

  static void write(const fs::path &path, std::string_view text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  static void write(const fs::path &path, const Bytes &bytes) {
    write(path, std::string_view(reinterpret_cast<const char *>(bytes.data()),
                                 bytes.size()));
  }

  /// The file with the signature of a secret key.
  Bytes signedBy(const Bytes &file, const std::string &secret) {
    ModelFile model = *readModel(file);
    ModelInfo info = *readModelInfo(model);
    auto text = hook->sign({model, info, folder.string()}, secret);
    EXPECT_TRUE(text) << text.error().message;
    EXPECT_TRUE(writeSigned(folder / "signed.sinter", file, *text));
    auto mapped = MappedFile::open(folder / "signed.sinter");
    return {mapped->bytes().begin(), mapped->bytes().end()};
  }

  /// Why the file is refused; empty where it is trusted.
  std::string whyNot(const Bytes &file) {
    write(folder / "model.sinter", file);
    auto opened = Model::open(folder / "model.sinter",
                              {.trust = ModelTrust::signature,
                               .trustedKeys = (folder / "keys").string()});
    return opened ? "" : opened.error().message;
  }
  void expectRefused(const Bytes &file, const std::string &why) {
    std::string told = whyNot(file);
    EXPECT_NE(told.find(why), std::string::npos) << why << ": " << told;
  }

  const TrustHook *hook = nullptr;
  fs::path folder;
  KeyTexts keys;
};

SectionEntry entryOf(const Bytes &file, SectionKind kind) {
  std::vector<SectionEntry> table = tableOf(file);
  return *std::ranges::find(table, kind, &SectionEntry::kind);
}

} // namespace

TEST_F(SignatureTest, aTrustedKeyIsEnough) {
  Bytes file = smallModel().file();
  expectRefused(file, "nobody signed it");
  Bytes own = signedBy(file, keys.secret);
  EXPECT_EQ(whyNot(own), "");
  // The same bytes again, also where another signature stood.
  EXPECT_EQ(signedBy(own, keys.secret), own);
  // Who does not ask for signatures takes it, too.
  EXPECT_TRUE(Model::openMemory(own));
  EXPECT_EQ(*stripModel(own), *stripModel(file));
}

TEST_F(SignatureTest, anyFlippedByteIsRefused) {
  const Bytes file = signedBy(smallModel().file(), keys.secret);
  std::mt19937_64 random(5);
  for (size_t at = 0; at < file.size(); at += 1 + random() % 13) {
    Bytes altered = file;
    altered[at] ^= std::byte(1u << random() % 8);
    EXPECT_NE(whyNot(altered), "") << at;
  }
}

TEST_F(SignatureTest, sectionsWithNewDigestsAreRefusedByName) {
  const Bytes file = signedBy(smallModel().file(), keys.secret);
  for (const SectionEntry &entry : tableOf(file)) {
    if (entry.bytes == 0)
      continue;
    for (uint64_t at : {uint64_t(0), entry.bytes / 2, entry.bytes - 1}) {
      Bytes altered = file;
      altered[entry.offset + at] ^= std::byte(2);
      reseal(altered);
      std::string told = whyNot(altered);
      EXPECT_NE(told, "") << nameOf(entry) << " " << at;
      if (entry.kind == SectionKind::weights ||
          entry.kind == SectionKind::debug) {
        EXPECT_NE(told.find("section " + std::string(nameOf(entry)) + "." +
                            std::to_string(entry.index) +
                            " is not what was signed"),
                  std::string::npos)
            << told;
      }
    }
  }
}

/// Sections of a kind that nobody knows, which a reader skips: what they were
/// signed as is what they have to be.
TEST_F(SignatureTest, sectionsOfOtherKindsAreRefused) {
  const Bytes file = signedBy(smallModel().file(), keys.secret);
  for (SectionKind from : {SectionKind::model, SectionKind::weights}) {
    std::vector<Part> parts = partsOf(file);
    uint32_t kind = lastSectionKind;
    for (Part &part : parts)
      if (part.entry.kind >= from &&
          part.entry.kind != SectionKind::signature) {
        part.entry.kind = SectionKind(++kind);
        part.entry.optional = 1;
      }
    std::ranges::stable_sort(parts, {},
                             [](const Part &part) { return part.entry.kind; });
    expectRefused(assemble(parts),
                  "is named '" + std::string(sectionName(from)) + "'");
  }
}

TEST_F(SignatureTest, kindsOfUnknownSectionsAreSigned) {
  std::vector<Part> parts = partsOf(smallModel().file());
  Part extra{makeEntry(SectionKind::model, 0), bytesOf({1, 2, 3})};
  extra.entry.kind = SectionKind(lastSectionKind + 1);
  extra.entry.optional = 1;
  extra.entry.name = {'e', 'x', 't', 'r', 'a'};
  parts.push_back(extra);
  const Bytes file = signedBy(assemble(parts), keys.secret);
  EXPECT_EQ(whyNot(file), "");
  parts = partsOf(file);
  parts.back().entry.kind = SectionKind(lastSectionKind + 2);
  expectRefused(assemble(parts), "section extra.0 is not what was signed");
}

/// The same under a name that nobody knows either.
TEST_F(SignatureTest, addedSectionsAreRefused) {
  const Bytes file = signedBy(smallModel().file(), keys.secret);
  for (const SectionEntry &entry : tableOf(file)) {
    for (int field = 0; field < 3; ++field) {
      Bytes altered = file;
      std::vector<SectionEntry> table = tableOf(file);
      for (SectionEntry &each : table)
        if (each.offset == entry.offset) {
          if (field == 0)
            each.optional ^= 1;
          if (field == 1)
            each.alignment *= 2;
          if (field == 2)
            each.name = {'x'};
        }
      std::memcpy(altered.data() + sizeof(FileHeader), table.data(),
                  table.size() * sizeof(SectionEntry));
      reseal(altered);
      EXPECT_NE(whyNot(altered), "") << nameOf(entry) << " " << field;
    }
  }
}

TEST_F(SignatureTest, truncatedSignaturesAreRefused) {
  const Bytes file = signedBy(smallModel().file(), keys.secret);
  SectionEntry entry = entryOf(file, SectionKind::signature);
  std::string text(reinterpret_cast<const char *>(file.data() + entry.offset),
                   entry.bytes);
  for (size_t size = 0; size < text.size(); size += 3) {
    ASSERT_TRUE(writeSigned(folder / "cut.sinter", file, text.substr(0, size)));
    auto mapped = MappedFile::open(folder / "cut.sinter");
    EXPECT_NE(whyNot({mapped->bytes().begin(), mapped->bytes().end()}), "")
        << size;
  }
  ASSERT_TRUE(writeSigned(folder / "more.sinter", file, text + "more\n"));
  auto mapped = MappedFile::open(folder / "more.sinter");
  expectRefused({mapped->bytes().begin(), mapped->bytes().end()},
                "more behind its signature");
}

TEST_F(SignatureTest, theSignatureOfAnotherFileIsRefused) {
  ModelBuilder other = smallModel();
  other.data[0][3] ^= std::byte(1);
  Bytes from = signedBy(other.file(), keys.secret);
  SectionEntry entry = entryOf(from, SectionKind::signature);
  std::string text(reinterpret_cast<const char *>(from.data() + entry.offset),
                   entry.bytes);
  ASSERT_TRUE(writeSigned(folder / "moved.sinter", smallModel().file(), text));
  auto mapped = MappedFile::open(folder / "moved.sinter");
  expectRefused({mapped->bytes().begin(), mapped->bytes().end()},
                ".0 is not what was signed");
}

TEST_F(SignatureTest, otherKeysAreRefused) {
  KeyTexts other = *hook->makeKeys();
  Bytes file = signedBy(smallModel().file(), other.secret);
  expectRefused(file, "which is none of the 1 in");
  write(folder / "keys/other.pub", other.open);
  EXPECT_EQ(whyNot(file), "");
  write(folder / "keys/broken.pub", "sinter-public-key 1 abc\n");
  expectRefused(file, "broken.pub has no 64 hexadecimal digits");
}

TEST_F(SignatureTest, keysThatOthersMayWriteAreRefused) {
  Bytes file = signedBy(smallModel().file(), keys.secret);
  ::chmod((folder / "keys").c_str(), 0777);
  expectRefused(file, "others may write trusted keys");
  ::chmod((folder / "keys").c_str(), 0755);
  EXPECT_EQ(whyNot(file), "");
  ::chmod((folder / "keys/own.pub").c_str(), 0666);
  expectRefused(file, "others may write trusted keys");
  // Opening this for reading would wait for a writer.
  ::chmod((folder / "keys/own.pub").c_str(), 0644);
  ::mkfifo((folder / "keys/pipe.pub").c_str(), 0600);
  expectRefused(file, "it is no file of a key");
  fs::remove_all(folder / "keys");
  expectRefused(file, "there is no folder");
}

TEST_F(SignatureTest, filesOfWeightsAreSigned) {
  ModelBuilder builder = smallModel();
  std::vector<NamedTensor> tensors = {
      {"weight", DType::f32, {8}, builder.data[0]}};
  std::string path = folder / "w.safetensors";
  ASSERT_TRUE(writeSafetensors(path, tensors));
  Bytes weights;
  {
    auto written = *MappedFile::open(path);
    weights.assign(written.bytes().begin(), written.bytes().end());
  }
  builder.info.externals = {
      {"w.safetensors", weights.size(), sectionDigest(weights)}};
  StoredTensor &stored = builder.info.tensors[0];
  stored.externalFile = "w.safetensors";
  stored.externalName = stored.name;
  stored.bytes = builder.data[0].size();
  Bytes file = signedBy(builder.file(), keys.secret);
  EXPECT_EQ(whyNot(file), "");
  weights.back() ^= std::byte(1);
  write(folder / "w.safetensors", weights);
  expectRefused(file, "the file w.safetensors is not what was signed");
  fs::remove(folder / "w.safetensors");
  expectRefused(file, "w.safetensors");
}
