/// Damaged records are refused, wherever the damage is, and hostile ones take
/// neither memory nor time.
#include "tests/unit/record/SmallModels.h"

#include "frontend/record/RecordForms.h"
#include "runtime/params/weights/packed/Items.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace record_test;

/// All kinds of values, and a tensor that deflate packs well.
static sn::Record someRecord() {
  sn::Record model, record;
  model.set("w", hostTensor<float>(sn::DType::f32, {40},
                                   std::vector<float>(40, 0.25f), 77));
  model.set("b", hostTensor<int64_t>(sn::DType::i64, {3}, {1, -1, 1 << 20}));
  record.set("model", model);
  record.put("epoch", 12);
  record.put("loss", 0.125);
  record.put("note", "fine");
  record.put("on", true);
  record.put("blob", sn::Record::Bytes(10, std::byte(3)));
  record.put("list", std::vector<int64_t>{1, 2, 300});
  record.put("none", std::optional<int64_t>());
  return record;
}

/// Whether the bytes are refused by an Error, without one that came from
/// deeper.
static bool isRefused(const sn::Record::Bytes &bytes) {
  try {
    sn::Record::from_bytes(bytes);
  } catch (const sn::Error &error) {
    EXPECT_TRUE(error.message().starts_with("record in memory: "))
        << error.message();
    return true;
  }
  return false;
}

TEST(RecordDamage, AByteThatChangedAnywhereIsRefused) {
  sn::Record record = someRecord();
  for (sn::RecordFormat format : fileFormats) {
    sn::Record::Bytes good =
        record.to_bytes(sn::SaveRecordOptions{.format = format});
    ASSERT_FALSE(isRefused(good));
    size_t accepted = 0;
    for (size_t at = 0; at < good.size(); ++at)
      for (int mask : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
        sn::Record::Bytes bad = good;
        bad[at] ^= std::byte(mask);
        accepted += !isRefused(bad);
      }
    EXPECT_EQ(accepted, 0u) << int(format);
  }
}

TEST(RecordDamage, AFileThatWasCutAnywhereIsRefused) {
  sn::Record record = someRecord();
  for (sn::RecordFormat format : fileFormats) {
    sn::Record::Bytes good =
        record.to_bytes(sn::SaveRecordOptions{.format = format});
    size_t accepted = 0;
    for (size_t size = 0; size < good.size(); ++size)
      accepted += !isRefused({good.begin(), good.begin() + ptrdiff_t(size)});
    for (size_t more : {size_t(1), size_t(8), size_t(64), good.size()}) {
      sn::Record::Bytes longer = good;
      longer.insert(longer.end(), good.begin(), good.begin() + ptrdiff_t(more));
      accepted += !isRefused(longer);
      longer.resize(good.size());
      longer.resize(good.size() + more);
      accepted += !isRefused(longer);
    }
    EXPECT_EQ(accepted, 0u) << int(format);
  }
}

/// With checksums that somebody made right again, readers are on their own.
TEST(RecordDamage, ReadersTrustNothingBehindTheChecksum) {
  sn::Record record = someRecord();
  std::mt19937_64 random(5);
  for (sn::RecordFormat format : fileFormats) {
    auto pieces = sn::record::encode(record, format);
    ASSERT_TRUE(pieces);
    sn::Record::Bytes good = pieces->joined();
    for (int round = 0; round < 4000; ++round) {
      sn::Record::Bytes bad = good;
      for (uint64_t i = random() % 3 + 1; i > 0; --i)
        bad[random() % bad.size()] = std::byte(random());
      if (random() % 4 == 0)
        bad.resize(random() % bad.size());
      auto found = sn::record::formatOfBytes(bad);
      if (!found)
        continue;
      auto owner = std::make_shared<sn::Record::Bytes>(bad);
      sn::LoadRecordOptions options{.check = false};
      auto read = sn::record::decode({*owner, owner, false}, *found, options);
      if (read) // harmless, then: it can be written again
        EXPECT_TRUE(sn::record::encode(*read, sn::RecordFormat::bin));
      else
        EXPECT_FALSE(read.error().message.empty());
    }
  }
}

static sn::Record::Bytes gzipped(sn::Record::Bytes plain,
                                 sn::RecordFormat format) {
  sn::record::Pieces pieces;
  pieces.own(std::move(plain));
  return *sn::record::gzip(format, pieces);
}

TEST(RecordDamage, AGzipBombIsRefused) {
  sn::Record::Bytes bomb(size_t(16) << 20);
  sn::Record::Bytes packed = gzipped(bomb, sn::RecordFormat::bin_gz);
  EXPECT_LT(packed.size(), size_t(100) << 10);
  EXPECT_EQ(
      errorOf([&] { sn::Record::from_bytes(packed, {.most_bytes = 1 << 20}); }),
      "record in memory: it unpacks to 16777216 bytes, more than 1048576; "
      ".most_bytes of LoadRecordOptions allows more");
  EXPECT_EQ(errorOf([&] { sn::Record::from_bytes(packed); }),
            "record in memory: it does not unpack to what its head says, the "
            "gzipped binary form");
  constexpr size_t sizeAt = 17; // behind the format's letter
  // A size that it does not have takes no memory.
  uint64_t huge = uint64_t(1) << 60;
  std::memcpy(packed.data() + sizeAt, &huge, sizeof(huge));
  EXPECT_NE(errorOf([&] {
              sn::Record::from_bytes(
                  packed, {.most_bytes = UINT64_MAX, .check = false});
            }).find("it says that it unpacks to more than it can"),
            std::string::npos);
  uint64_t less = 1000;
  std::memcpy(packed.data() + sizeAt, &less, sizeof(less));
  EXPECT_NE(errorOf([&] {
              sn::Record::from_bytes(packed, {.check = false});
            }).find("it unpacks to more than it says"),
            std::string::npos);
}

/// A MessagePack file around this value, with its checksum.
static sn::Record::Bytes packOf(const std::string &value) {
  std::string text = "\x83\xadsinter_record\1\xa6record" + value + "\xa8" +
                     std::string("checksum\xc4\x08");
  uint64_t sum = sn::record::Checksum::of(std::as_bytes(std::span(text)));
  for (int i = 7; i >= 0; --i)
    text += char(sum >> (8 * i));
  auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST(RecordDamage, DepthCountsAndTwiceUsedNamesAreRefused) {
  auto messageOf = [](const std::string &value) {
    return errorOf([&] { sn::Record::from_bytes(packOf(value)); });
  };
  EXPECT_EQ(messageOf(std::string("\x81\xa1x\1")), "");
  std::string deep;
  for (int i = 0; i < 100000; ++i)
    deep += "\x81\xa1x";
  EXPECT_NE(messageOf(deep + "\1").find("too many levels"), std::string::npos);
  EXPECT_NE(messageOf("\x81\xa1x\xdd\xff\xff\xff\xff").find("do not fit"),
            std::string::npos);
  EXPECT_NE(messageOf("\x82\xa1x\1\xa1x\2").find("there twice"),
            std::string::npos);
  EXPECT_NE(messageOf("\x81\xa2$x\1").find("an unknown kind"),
            std::string::npos);
  EXPECT_NE(messageOf("\x81\xa1\xff\1").find("no UTF-8"), std::string::npos);
  EXPECT_NE(messageOf("\1").find("its record is no map"), std::string::npos);
  // Values of a byte each, which take a hundred in memory.
  std::string many = std::string("\x81\xa1x\xdd\x00\x60\x00\x00", 8);
  many += std::string(size_t(0x600000), '\1');
  EXPECT_NE(messageOf(many).find("more values than its size lets expect"),
            std::string::npos);
  // A tensor whose shape is not that of its bytes, or overflows.
  auto tensor = [&](const std::string &type, const std::string &shape,
                    const std::string &data) {
    return messageOf("\x81\xa1x\x83\xa7$tensor" + type + "\xa5shape" + shape +
                     "\xa4" + "data" + data);
  };
  EXPECT_EQ(tensor("\xa3"
                   "f32",
                   "\x91\1", std::string("\xc4\4\0\0\0\0", 6)),
            "");
  EXPECT_NE(tensor("\xa3"
                   "f32",
                   "\x91\2", std::string("\xc4\4\0\0\0\0", 6))
                .find("a tensor has 4 bytes, not 8"),
            std::string::npos);
  std::string large = std::string("\xd3\x40\0\0\0\0\0\0\0", 9);
  EXPECT_NE(tensor("\xa3"
                   "f32",
                   "\x92" + large + large, std::string("\xc4\0", 2))
                .find("an axis of"),
            std::string::npos);
  EXPECT_NE(tensor("\xa4"
                   "bool",
                   "\x91\1", "\xc4\1\2")
                .find("element 2"),
            std::string::npos);
  EXPECT_NE(tensor("\xa3"
                   "f99",
                   "\x91\1", "\xc4\1\2")
                .find("no dtype 'f99'"),
            std::string::npos);
}
