/// PyTorch's archives whose pickles are wrong, or hold more than tensors.
#include "runtime/params/Zip.h"
#include "runtime/params/weights/WeightFile.h"
#include "tests/unit/params/weights/ScratchFile.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

using namespace sinter;
using namespace sinter::runtime;
using namespace std::string_literals;

namespace {

std::span<const std::byte> bytesOf(const std::string &text) {
  return std::as_bytes(std::span(text));
}

std::string text(const std::string &content) {
  return "X"s + static_cast<char>(content.size()) + "\0\0\0"s + content;
}

/// `_rebuild_tensor_v2` of storage 0, 16 bytes of f32; the arguments are the
/// instructions that make offset, size and stride.
std::string tensor(const std::string &arguments,
                   const std::string &storage = "FloatStorage",
                   const std::string &count = "K\4") {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") +
         "ctorch\n" + storage + "\n" + text("0") + text("cpu") + count + "tQ" +
         arguments + "\x89)tR";
}

std::string dict(const std::string &items) { return "\x80\2}(" + items + "u."; }

Result<WeightFileRef>
openZip(const std::string &pickle, ZipMethod method = ZipMethod::stored,
        const std::string &storage = std::string(16, '\1'),
        const std::string &order = "little") {
  test::ScratchFile file("", "model.pt");
  ZipWriter writer;
  std::vector<std::pair<std::string, const std::string *>> parts = {
      {"model/data.pkl", &pickle},
      {"model/byteorder", &order},
      {"model/data/0", &storage}};
  for (const auto &[name, content] : parts) {
    std::span<const std::byte> bytes[] = {bytesOf(*content)};
    EXPECT_TRUE(writer.add(name, bytes, method));
  }
  EXPECT_TRUE(writer.write(file.path()));
  return WeightFile::open(file.path());
}

std::string messageOf(const std::string &pickle) {
  auto file = openZip(pickle);
  return file ? "no error" : file.error().message;
}

} // namespace

TEST(Torch, BadTensorsAreNamed) {
  const std::pair<std::string, const char *> cases[] = {
      {tensor("K\0K\5\x85K\1\x85"s), "reaches beyond its storage"},
      {tensor("K\1K\4\x85K\1\x85"), "reaches beyond its storage"},
      {tensor("K\0K\2\x85K\4\x85"s), "reaches beyond its storage"},
      {tensor("J\xff\xff\xff\xffK\1\x85K\1\x85"), "reaches beyond"},
      {tensor("K\0J\xff\xff\xff\xff\x85K\1\x85"s), "is not possible"},
      {tensor("K\0K\1\x85J\xff\xff\xff\xff\x85"s), "is not possible"},
      {tensor("K\0K\1\x85)"s), "is not possible"},
      {tensor("K\0\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x8a\x08\xff\xff\xff"
              "\xff\xff\xff\xff\x7f\x86K\1K\1\x86"s),
       "is not possible"},
      {tensor("K\0N\x85K\1\x85"s), "no integer"},
      {tensor("K\0NK\1\x85"s), "no tuple"},
      {tensor("K\0K\1\x85K\1\x85"s, "FloatStorage", "K\5"), "has 16 bytes"},
      {tensor("K\0K\1\x85K\1\x85"s, "UntypedStorage"), "without a type"},
      {tensor("K\0\x8a\4\0\0\0\x10\x85K\0\x85"s), "repeats 4 bytes"}};
  for (const auto &[made, message] : cases) {
    std::string got = messageOf(dict(text("w") + made));
    EXPECT_NE(got.find("model.pt: tensor 'w': "), std::string::npos) << got;
    EXPECT_NE(got.find(message), std::string::npos) << got;
  }
  EXPECT_NE(messageOf(dict(text("w") + tensor("K\0K\1\x85K\1\x85"s, "Evil")))
                .find("storages of type torch.Evil"),
            std::string::npos);
  EXPECT_NE(messageOf("\x80\2K\7.").find("no tensors are in it"),
            std::string::npos);
}

TEST(Torch, SharedTuplesAndDictionariesAreReadOnce) {
  // A size of 400,000 axes that 20,000 tensors share.
  std::string many;
  for (int i = 0; i < 400'000; ++i)
    many += "K\1";
  std::string storage = "(" + text("storage") + "ctorch\nFloatStorage\n" +
                        text("0") + text("cpu") + "K\4tQ";
  std::string function = "ctorch._utils\n_rebuild_tensor_v2\nq\0"s + "0";
  auto listOf = [](int count) {
    std::string list = "](";
    for (int i = 0; i < count; ++i)
      list += "h\0h\2R"s;
    return list + "e.";
  };
  std::string dims = "\x80\2" + function + "(" + many + "tq\1" + "0(" +
                     storage + "K\0h\1h\1\x89Ntq\2"s + "0" + listOf(20'000);
  EXPECT_NE(messageOf(dims).find("of 400000 axes is not possible"),
            std::string::npos);
  // Metadata of 300,000 keys that 30,000 tensors share.
  std::string keys = many.substr(0, 600'000);
  std::string shared = "\x80\2" + function + "}q\1(" + keys + "u0(" + storage +
                       "K\0K\4\x85K\1\x85\x89h\1h\1tq\2"s + "0" +
                       listOf(30'000);
  auto opened = openZip(shared);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ((*opened)->tensors().size(), 30'000u);
  EXPECT_EQ((*opened)->tensors()[29'999].tiedTo, "0");
}

TEST(Torch, NamesOfPassingBuffersAreLookedUp) {
  std::string members, passing;
  for (int i = 0; i < 60'000; ++i) {
    members += text("b" + std::to_string(i)) + "K\1";
    passing += text((i ? "p" : "b") + std::to_string(i));
  }
  std::string module = "\x80\2cm\nC\n)R}(" + text("_parameters") + "}" +
                       text("_modules") + "}" + text("_buffers") + "}(" +
                       members + "u" + text("_non_persistent_buffers_set") +
                       "(" + passing + "\x91ub.";
  auto opened = openZip(module);
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_EQ((*opened)->metadata().size(), 59'999u);
  EXPECT_EQ((*opened)->metadata()[0].first, "b1");
}

TEST(Torch, AllTensorsTogetherRepeatSoMuch) {
  // Each of 64 MiB, which one alone may have.
  std::string view = tensor("K\0J\0\0\0\1\x85K\0\x85"s);
  EXPECT_EQ(messageOf(dict(text("a") + view)), "no error");
  for (const std::string &second : {view, tensor("K\1J\0\0\0\1\x85K\0\x85"s)}) {
    std::string got = messageOf(dict(text("a") + view + text("b") + second));
    EXPECT_NE(got.find("repeat 16 bytes to"), std::string::npos) << got;
  }
}

TEST(Torch, LongNamesOfClassesAreRefused) {
  std::string name(5000, 'C');
  EXPECT_NE(messageOf("\x80\2cm\n" + name + "\n)R.").find("too long"),
            std::string::npos);
}

TEST(Torch, PackedAndSwappedStoragesAreRead) {
  std::string numbers = "\x3f\x80\0\0\x40\0\0\0\x40\x40\0\0\x40\x80\0\0"s;
  std::string pickle = dict(text("w") + tensor("K\0K\2K\2\x86K\1K\2\x86"s));
  for (ZipMethod method : {ZipMethod::stored, ZipMethod::deflated}) {
    auto file = openZip(pickle, method, numbers, "big");
    ASSERT_TRUE(file) << file.error().message;
    const WeightTensor &found = (*file)->tensors()[0];
    EXPECT_TRUE((*file)->view(found).empty());
    auto bytes = (*file)->read(found);
    ASSERT_TRUE(bytes);
    std::vector<float> values(4);
    std::memcpy(values.data(), bytes->data(), bytes->size());
    EXPECT_EQ(values, (std::vector<float>{1, 3, 2, 4}));
  }
}

TEST(Torch, DamageOfAStorageIsFoundWhenItIsRead) {
  test::ScratchFile scratch("", "model.pt");
  std::string pickle = dict(text("w") + tensor("K\0K\4\x85K\1\x85"s));
  std::string storage(16, '\1');
  ZipWriter writer;
  std::span<const std::byte> first[] = {bytesOf(pickle)};
  std::span<const std::byte> second[] = {bytesOf(storage)};
  ASSERT_TRUE(writer.add("m/data.pkl", first, ZipMethod::stored));
  ASSERT_TRUE(writer.add("m/data/0", second, ZipMethod::stored));
  ASSERT_TRUE(writer.write(scratch.path()));
  std::ifstream in(scratch.path(), std::ios::binary);
  std::string archive(std::istreambuf_iterator<char>(in), {});
  archive[archive.find(storage)] = '\2';
  test::ScratchFile damaged(archive, "damaged.pt");
  auto file = WeightFile::open(damaged.path());
  ASSERT_TRUE(file) << file.error().message;
  const WeightTensor &found = (*file)->tensors()[0];
  for (const ErrorInfo &error :
       {(*file)->check(found).takeError(), (*file)->read(found).takeError()})
    EXPECT_NE(error.message.find("the checksum is wrong"), std::string::npos);
}

TEST(Torch, SharedAndEndlessObjectsAreBounded) {
  // A dictionary that holds itself.
  EXPECT_TRUE(openZip("\x80\2}q\0"s + text("d") + "h\0s."s));
  // 2^40 ways to one tensor.
  std::string doubled = "\x80\2" + tensor("K\0K\1\x85K\1\x85"s);
  for (int i = 0; i < 40; ++i)
    doubled += "2\x86";
  EXPECT_NE(messageOf(doubled + ".").find("too often"), std::string::npos);
  std::string nested = "\x80\2" + tensor("K\0K\1\x85K\1\x85"s);
  nested += std::string(200, '\x85') + ".";
  EXPECT_NE(messageOf(nested).find("within each other"), std::string::npos);
}

TEST(Torch, PickledNothingsAreNotUnpacked) {
  std::string pickle = "\x80\2(" + std::string(8 << 20, ']') + "l.";
  auto refused = openZip(pickle, ZipMethod::deflated);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("are allowed"), std::string::npos);
}

TEST(Torch, WhatIsNotReadIsNamed) {
  for (const char *function :
       {"_rebuild_sparse_tensor", "_rebuild_nested_tensor", "_rebuild_qtensor",
        "_rebuild_meta_tensor_no_storage", "_rebuild_wrapper_subclass"}) {
    std::string got =
        messageOf(dict(text("w") + "ctorch._utils\n" + function + "\n)R"));
    EXPECT_NE(got.find("tensor 'w': "), std::string::npos) << got;
    EXPECT_NE(got.find("are not supported"), std::string::npos) << got;
  }
  test::ScratchFile tar(std::string(257, '\0') + "ustar"s + "\0"s);
  auto old = WeightFile::open(tar.path());
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().kind, ErrorKind::unsupported);
}
