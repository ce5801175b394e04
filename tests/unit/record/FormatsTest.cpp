/// Eight formats in three precisions, and what is no record.
#include "tests/unit/record/SmallModels.h"

#include "frontend/record/RecordForms.h"
#include "runtime/files/ReplaceFile.h"
#include "runtime/params/FloatCasts.h"
#include "runtime/params/Safetensors.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <limits>

using namespace record_test;
using sinter::DType;

/// Random bits of every dtype that records have, special ones among them.
static sn::Record everyType(uint64_t seed) {
  std::mt19937_64 random(seed);
  sn::Record record;
  for (unsigned code = 0; code < sn::numDTypes; ++code) {
    auto dtype = DType(code);
    // What safetensors lacks is tested below.
    if (!sn::runtime::isSafetensorsDType(dtype))
      continue;
    std::vector<std::byte> bytes(6 * sn::byteWidth(dtype));
    for (std::byte &byte : bytes)
      byte = dtype == DType::boolean ? std::byte(random() & 1)
                                     : std::byte(random());
    record.set(std::string(sn::name(dtype)),
               hostTensor(dtype, {2, 3}, std::move(bytes), random()));
  }
  float nan = std::bit_cast<float>(0x7fc12345u);
  record.set("special",
             hostTensor<float>(DType::f32, {5},
                               {nan, INFINITY, -INFINITY, -0.0f,
                                std::numeric_limits<float>::denorm_min()}));
  record.set("scalar", hostTensor<double>(DType::f64, {}, {0.1}));
  record.set("empty", hostTensor<float>(DType::f32, {0, 7}, {}));
  return record;
}

TEST(RecordFormats, EveryFormatGivesBackTheSameBits) {
  Folder folder;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    sn::Record record = everyType(seed);
    for (sn::RecordFormat format : fileFormats) {
      std::string file = record.save(folder / "all", {.format = format});
      EXPECT_TRUE(sn::Record::load(file) == record) << file << " " << seed;
      // The same record is the same file.
      auto bytes = record.to_bytes(sn::SaveRecordOptions{.format = format});
      EXPECT_EQ(bytes, sn::Record::load(file).to_bytes(
                           sn::SaveRecordOptions{.format = format}));
      EXPECT_EQ(bytes.size(), fs::file_size(file));
    }
    EXPECT_TRUE(sn::Record::from_bytes(record.to_bytes()) == record);
  }
}

/// The largest numbers that the precision keeps of what fits it.
static sn::Record numbersFor(sn::RecordPrecision precision) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::vector<double> doubles(50);
  std::vector<float> floats(50);
  std::vector<int64_t> wide(50);
  std::vector<int32_t> narrow(50);
  int bits = precision == sn::RecordPrecision::half_precision   ? 15
             : precision == sn::RecordPrecision::full_precision ? 31
                                                                : 63;
  for (size_t i = 0; i < 50; ++i) {
    doubles[i] = normal(random);
    floats[i] = float(normal(random));
    wide[i] = int64_t(random() >> (64 - bits)) * (i % 2 ? 1 : -1);
    narrow[i] = int32_t(std::clamp<int64_t>(wide[i], INT32_MIN, INT32_MAX));
  }
  sn::Record record;
  record.set("f64", hostTensor(DType::f64, {5, 10}, doubles));
  record.set("f32", hostTensor(DType::f32, {50}, floats));
  record.set("i64", hostTensor(DType::i64, {50}, wide));
  record.set("i32", hostTensor(DType::i32, {50}, narrow));
  record.put("epoch", int64_t(1) << 40);
  record.put("rate", 0.1);
  return record;
}

TEST(RecordFormats, DoubleFullAndHalfPrecisionInEveryFormat) {
  using enum sn::RecordPrecision;
  Folder folder;
  struct Widths {
    sn::RecordPrecision precision;
    DType real, integer;
  };
  for (auto [precision, real, integer] :
       {Widths{double_precision, DType::f64, DType::i64},
        Widths{full_precision, DType::f32, DType::i32},
        Widths{half_precision, DType::f16, DType::i16}}) {
    sn::Record record = numbersFor(precision);
    sn::Record expected = *sn::record::prepared(record, precision);
    auto check = [&](const sn::Record &loaded, const std::string &what) {
      EXPECT_TRUE(loaded == expected) << what;
      for (const char *name : {"f64", "f32"})
        EXPECT_EQ(loaded.at(name).as_tensor().dtype, real) << what;
      for (const char *name : {"i64", "i32"})
        EXPECT_EQ(loaded.at(name).as_tensor().dtype, integer) << what;
      // What is no tensor stays as it is.
      EXPECT_EQ(loaded.get<int64_t>("epoch"), int64_t(1) << 40) << what;
      EXPECT_EQ(loaded.get<double>("rate"), 0.1) << what;
      // Wide enough is exact, and half is the nearest.
      for (const char *name : {"f64", "f32"}) {
        auto before =
            sn::Tensor(record.get<sn::Tensor>(name)).to_vector<double>();
        auto after = loaded.get<sn::Tensor>(name).to_vector<double>();
        for (size_t i = 0; i < before.size(); ++i) {
          bool isExact = precision == double_precision ||
                         (precision == full_precision && name[1] == '3');
          double room = isExact ? 0
                        : precision == full_precision
                            ? std::abs(before[i]) * 0x1p-24
                            : std::abs(before[i]) * 0x1p-11 + 0x1p-25;
          EXPECT_LE(std::abs(before[i] - after[i]), room) << what;
        }
      }
      EXPECT_EQ(record.get<sn::Tensor>("i64").to_vector<int64_t>(),
                loaded.get<sn::Tensor>("i64").to_vector<int64_t>())
          << what;
    };
    for (sn::RecordFormat format : fileFormats) {
      std::string file = record.save(
          folder / "run", {.format = format, .precision = precision});
      check(sn::Record::load(file), file);
    }
    check(sn::Record::from_bytes(record.to_bytes(precision)), "in memory");
  }
}

TEST(RecordFormats, NumbersThatDoNotFitAreErrorsThatNameThem) {
  sn::Record model, record;
  model.set("step", hostTensor<int64_t>(DType::i64, {2}, {5, 40000}));
  record.set("model", model);
  EXPECT_EQ(
      errorOf([&] { record.to_bytes(sn::RecordPrecision::half_precision); }),
      "record: 'model.step' has the number 40000, for which i16 has no room");
  record.to_bytes(sn::RecordPrecision::full_precision);
  sn::Record large;
  large.set("w", hostTensor<float>(DType::f32, {2}, {65504, 65536}));
  EXPECT_EQ(
      errorOf([&] { large.to_bytes(sn::RecordPrecision::half_precision); }),
      "record: 'w' has the number 65536, for which f16 has no room");
  // An infinity is one in every precision.
  sn::Record infinite;
  infinite.set("w", hostTensor<float>(DType::f32, {1}, {INFINITY}));
  auto half = sn::Record::from_bytes(
      infinite.to_bytes(sn::RecordPrecision::half_precision));
  EXPECT_TRUE(std::isinf(half.get<sn::Tensor>("w").item<double>()));
}

TEST(RecordFormats, ComplexNumbersAreInAllButSafetensors) {
  sn::Record record;
  record.set("z", hostTensor<double>(DType::c128, {1}, {1, 2}));
  record.set("i", hostTensor<uint8_t>(DType::i4, {2}, {7, 15}));
  for (sn::RecordFormat format : fileFormats) {
    auto write = [&] {
      return record.to_bytes(sn::SaveRecordOptions{.format = format});
    };
    if (format == sn::RecordFormat::safetensors)
      EXPECT_NE(errorOf(write).find("c128, which safetensors does not have"),
                std::string::npos);
    else
      EXPECT_TRUE(sn::Record::from_bytes(write()) == record);
  }
}

TEST(RecordFormats, SafetensorsAreReadByOtherPrograms) {
  Folder folder;
  sn::Record model, record;
  model.set("fc1.weight", hostTensor<float>(DType::f32, {2}, {1, 2}, 9));
  record.set("model", model);
  record.put("epoch", 3);
  std::string file =
      record.save(folder / "run", {.format = sn::RecordFormat::safetensors});
  auto opened = sn::runtime::SafetensorsFile::open(file);
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_TRUE(opened->find("model.fc1.weight"));
  EXPECT_EQ(
      opened->metadata().back().second,
      R"({"model":{"fc1.weight":{"$tensor":"f32","id":"0000000000000009",)"
      R"("name":"model.fc1.weight"}},"epoch":3})");
}

static void put(const std::string &path, const std::string &text) {
  std::ofstream(path, std::ios::binary) << text;
}
static std::string textOf(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(RecordFormats, AFileOfAnotherFormatSaysWhatItIs) {
  Folder folder;
  sn::Record record;
  record.put("x", 1);
  std::string mpk = record.save(folder / "run");
  fs::copy_file(mpk, folder / "odd.bin");
  EXPECT_EQ(errorOf([&] { sn::Record::load(folder / "odd.bin"); }),
            folder / "odd.bin" +
                ": no record in the binary form; this is a record in "
                "MessagePack (.mpk)");
  EXPECT_EQ(errorOf([&] {
              sn::Record::load(mpk, {.format = sn::RecordFormat::json_gz});
            }),
            mpk + ": no record in gzipped JSON; this is a record in "
                  "MessagePack (.mpk)");
  // A name that says nothing holds any format.
  fs::copy_file(mpk, folder / "odd");
  EXPECT_TRUE(sn::Record::load(folder / "odd") == record);
  for (const auto &[text, kind] :
       std::vector<std::pair<std::string, std::string>>{
           {"GGUF....", "a GGUF file"},
           {"\x93NUMPY", "a NumPy array (.npy)"},
           {"PK\3\4....data.pkl", "a PyTorch checkpoint"},
           {"", "an empty file"},
           {"hello", "plain text"},
           {"{\"x\": 1}", "JSON text"}}) {
    put(folder / "other.mpk", text);
    std::string message =
        errorOf([&] { sn::Record::load(folder / "other.mpk"); });
    EXPECT_NE(
        message.find("other.mpk: no record in MessagePack; this is " + kind),
        std::string::npos)
        << message;
  }
  // A weight file of ours, and a gzip file of another program's.
  Mlp().save(folder / "weights.safetensors");
  EXPECT_NE(errorOf([&] {
              sn::Record::load(folder / "weights");
            }).find("no record in safetensors; this is a safetensors file"),
            std::string::npos);
  put(folder / "x.mpk.gz", std::string("\x1f\x8b\x08\0\0\0\0\0\0\3", 10));
  EXPECT_NE(errorOf([&] {
              sn::Record::load(folder / "x.mpk.gz");
            }).find("this is a gzip file"),
            std::string::npos);
  EXPECT_NE(errorOf([&] {
              sn::Record::load(folder.path.string());
            }).find("not a regular file"),
            std::string::npos);
}

TEST(RecordFormats, ALayoutOfLaterVersionsIsRefused) {
  Folder folder;
  sn::Record record;
  record.put("x", 1);
  for (const char *name : {"a.mpk", "a.json", "a.safetensors", "a.bin"}) {
    std::string file = record.save(folder / name), text = textOf(file);
    auto later = [&](const std::string &from, const std::string &to) {
      size_t at = text.find(from);
      ASSERT_NE(at, text.npos) << name;
      text.replace(at, from.size(), to);
    };
    if (file.ends_with(".mpk"))
      later(std::string("sinter_record\1"), "sinter_record\2");
    else if (file.ends_with(".json"))
      later("\"sinter_record\": 1", "\"sinter_record\": 2");
    else if (file.ends_with(".safetensors"))
      later("\"sinter.layout\":\"1\"", "\"sinter.layout\":\"2\"");
    else
      later(std::string("\x1a\1"), "\x1a\2");
    put(file, text);
    EXPECT_NE(errorOf([&] { sn::Record::load(file, {.check = false}); })
                  .find("it is a record of layout 2, and this version of "
                        "Sinter reads layout 1"),
              std::string::npos)
        << name;
  }
}

TEST(RecordFormats, PrettyJsonIsReadAndEditedByPeople) {
  Folder folder;
  sn::Record record;
  record.set("w",
             hostTensor<float>(DType::f32, {2, 2}, {1, -0.5f, 0.1f, 1e30f}));
  record.put("epoch", 3);
  record.put("rate", 1.0);
  std::string file =
      record.save(folder / "run", {.format = sn::RecordFormat::pretty_json});
  std::string text = textOf(file);
  std::string body = text.substr(0, text.find(",\n  \"checksum\""));
  EXPECT_EQ(body, R"({
  "sinter_record": 1,
  "record": {
    "w": {
      "$tensor": "f32",
      "shape": [2, 2],
      "values": [
        1, -0.5,
        0.1, 1e+30
      ]
    },
    "epoch": 3,
    "rate": 1.0
  })");
  text.replace(text.find("\"epoch\": 3"), 10, "\"epoch\": 4");
  put(file, text);
  EXPECT_NE(errorOf([&] {
              sn::Record::load(file);
            }).find("one that was edited is read with .check = false"),
            std::string::npos);
  EXPECT_EQ(sn::Record::load(file, {.check = false}).get<int>("epoch"), 4);
  // Without the checksum, too.
  put(file, body + "\n}\n");
  EXPECT_EQ(sn::Record::load(file, {.check = false}).get<int>("epoch"), 3);
}

/// Every f32 and f16 that a text may have to bring back.
TEST(RecordFormats, NumbersOfJsonAreExact) {
  std::mt19937_64 random(1);
  std::vector<float> floats;
  while (floats.size() < 20000) {
    auto value = std::bit_cast<float>(uint32_t(random()));
    if (std::isfinite(value))
      floats.push_back(value);
  }
  std::vector<uint16_t> halves;
  for (uint32_t bits = 0; bits < 0x10000; ++bits)
    if ((bits & 0x7c00) != 0x7c00)
      halves.push_back(uint16_t(bits));
  std::vector<double> doubles;
  while (doubles.size() < 20000) {
    auto value = std::bit_cast<double>(random());
    if (std::isfinite(value))
      doubles.push_back(value);
  }
  sn::Record record;
  record.set("f32", hostTensor(DType::f32, {20000}, floats));
  record.set("f16", hostTensor(DType::f16, {int64_t(halves.size())}, halves));
  record.set("f64", hostTensor(DType::f64, {20000}, doubles));
  auto bytes = record.to_bytes(
      sn::SaveRecordOptions{.format = sn::RecordFormat::pretty_json});
  std::string text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  EXPECT_EQ(text.find("\"data\""), text.npos) << "numbers, not base64";
  EXPECT_TRUE(sn::Record::from_bytes(bytes) == record);
}
