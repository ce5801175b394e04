/// Modules in records: exact, partial, renamed, in other precisions and on
/// other devices, and without first values.
#include "tests/unit/record/SmallModels.h"

#include <gtest/gtest.h>

using namespace record_test;

namespace {

struct Encoder {
  sn::nn::Linear fc1;
  Encoder() : fc1(4, 5) {}
  SINTER_MODULE(Encoder, fc1)
};

struct Autoencoder {
  Encoder encoder;
  sn::nn::Linear decoder{5, 4};
  SINTER_MODULE(Autoencoder, encoder, decoder)
};

struct TwoLayers {
  sn::nn::Linear fc1{3, 4}, fc2{4, 2};
  SINTER_MODULE(TwoLayers, fc1, fc2)
};

struct Normed {
  sn::nn::Linear fc{4, 4};
  sn::nn::BatchNorm norm{4};
  sn::Tensor forward(const sn::Tensor &x) const { return norm(fc(x)); }
  SINTER_MODULE(Normed, fc, norm)
};

/// Counts the first values that are made of its parameter.
struct Counting {
  sn::Param w;
  explicit Counting(int &count)
      : w("w", {2, 3},
          [&count](const sn::Dims &dims, sn::DType dtype,
                   sn::Generator &random) {
            ++count;
            return sn::init::normal(0, 1)(dims, dtype, random);
          }) {}
  SINTER_MODULE(Counting, w)
};

/// An index of another width in each.
template <sn::DType type> struct Indexed {
  sn::Param index{sn::tensor({7, -3}).to(type), "index", false};
  SINTER_MODULE(Indexed, index)
};

uint64_t programs() { return sn::stats().compiles + sn::stats().disk_hits; }

} // namespace

/// The demo of a known model: save, load, and the outputs differ by nothing.
TEST(ModuleRecord, SavedAndLoadedOutputsDifferByNothing) {
  Folder folder;
  sn::manual_seed(11);
  Mlp model;
  model.eval();
  sn::Tensor x = sn::normal({6, 4});
  auto expected = model.forward(x).to_vector<float>();
  for (sn::RecordFormat format : fileFormats)
    for (sn::RecordPrecision precision :
         {sn::RecordPrecision::as_is, sn::RecordPrecision::full_precision,
          sn::RecordPrecision::double_precision}) {
      std::string file = sn::save_model(
          model, folder / "model", {.format = format, .precision = precision});
      auto loaded = sn::load_model<Mlp>(file);
      loaded.eval();
      EXPECT_EQ(loaded.forward(x).to_vector<float>(), expected) << file;
    }
}

TEST(ModuleRecord, IntoRecordAndBackKeepsValuesAndRecordIds) {
  sn::manual_seed(1);
  Normed model;
  model.forward(sn::normal({8, 4})).eval(); // changes running statistics
  sn::Record record = sn::into_record(model);
  Normed other;
  sn::LoadReport report = sn::load_record(other, record);
  EXPECT_TRUE(report.complete()) << report.text();
  EXPECT_EQ(valuesOf(other), valuesOf(model));
  EXPECT_EQ(report.loaded.size(), record.size());
  std::vector<uint64_t> ids, otherIds;
  model.visit([&](const std::string &, const sn::Param &p) {
    ids.push_back(p.record_id());
  });
  other.visit([&](const std::string &, const sn::Param &p) {
    otherIds.push_back(p.record_id());
  });
  EXPECT_EQ(ids, otherIds);
  EXPECT_TRUE(record.contains("norm.running_mean"));
}

TEST(ModuleRecord, LoadModelTakesArgumentsAndADevice) {
  Folder folder;
  sn::manual_seed(2);
  Mlp model(9);
  std::string file = sn::save_model(model, folder / "model");
  EXPECT_TRUE(file.ends_with("model.mpk"));
  auto loaded = sn::load_model<Mlp>(file, "cpu", 9);
  EXPECT_EQ(valuesOf(loaded), valuesOf(model));
  auto away = sn::load_model<Mlp>(file, "null", 9);
  EXPECT_EQ(sn::toString(away.fc1.weight.device()), "null");
  EXPECT_EQ(sn::toString(sn::default_device()), "cpu");
  EXPECT_NE(errorOf([&] {
              sn::load_model<Mlp>(file, "cpu", 8);
            }).find("'fc1.weight' is f32[9,4], the module has f32[8,4]"),
            std::string::npos);
}

TEST(ModuleRecord, AHalfRecordConvertsIntoAFullModel) {
  sn::manual_seed(3);
  Mlp model;
  sn::Record record;
  record.put("model", model);
  for (sn::RecordFormat format : fileFormats) {
    sn::Record half = sn::Record::from_bytes(record.to_bytes(
        {.format = format, .precision = sn::RecordPrecision::half_precision}));
    Mlp full;
    sn::LoadReport report = half.get("model", full, sn::LoadStateOptions{});
    EXPECT_EQ(report.converted.size(), 4u);
    EXPECT_EQ(full.fc1.weight.dtype(), sn::DType::f32);
    auto expected = valuesOf(model), values = valuesOf(full);
    ASSERT_EQ(values.size(), expected.size());
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(values[i], double(float(_Float16(float(expected[i])))));
    // A model that computes in halves takes a full record.
    auto narrow = Mlp().cast(sn::DType::f16);
    record.get("model", narrow);
    EXPECT_EQ(valuesOf(narrow), values);
  }
}

TEST(ModuleRecord, IntegersBecomeWhatTheModuleHasOrAreAnError) {
  sn::Record record;
  record.put("model", Indexed<sn::DType::i64>());
  sn::Record half = sn::Record::from_bytes(
      record.to_bytes(sn::RecordPrecision::half_precision));
  EXPECT_EQ(half.at("model").at("index").as_tensor().dtype, sn::DType::i16);
  Indexed<sn::DType::i64> wide;
  half.get("model", wide);
  EXPECT_EQ(wide.index.tensor().to_vector<int64_t>(),
            (std::vector<int64_t>{7, -3}));
  Indexed<sn::DType::u8> narrow;
  EXPECT_EQ(errorOf([&] { half.get("model", narrow); }),
            "'index' has the number -3, for which u8 has no room");
}

/// The small file: halves, gzipped, named.
TEST(ModuleRecord, TheCompactRecordIsTheSmallest) {
  Folder folder;
  sn::manual_seed(4);
  Mlp model(200);
  std::string compact =
      sn::save_model(model, folder / "model", sn::compact_record());
  EXPECT_TRUE(compact.ends_with(".mpk.gz"));
  uint64_t bytes = fs::file_size(compact);
  uint64_t elements = uint64_t(model.num_params());
  EXPECT_LT(bytes, 2 * elements + 400);
  for (sn::RecordFormat format : fileFormats)
    EXPECT_LE(bytes, fs::file_size(sn::save_model(model, folder / "full",
                                                  {.format = format})));
  Mlp loaded(200);
  sn::load_record(loaded, sn::Record::load(compact));
  EXPECT_EQ(valuesOf(loaded).size(), elements);
}

/// An encoder alone, from the record of the whole model, and the report.
TEST(ModuleRecord, APartOfAModelIsLoadedAlone) {
  sn::manual_seed(5);
  Autoencoder model;
  sn::Record record;
  record.put("model", model);
  Encoder encoder;
  sn::LoadReport report =
      record.get("model", encoder, {.prefix = "encoder.", .strict = false});
  EXPECT_EQ(report.loaded,
            (std::vector<std::string>{"fc1.weight", "fc1.bias"}));
  EXPECT_EQ(report.unused,
            (std::vector<std::string>{"decoder.weight", "decoder.bias"}));
  EXPECT_EQ(valuesOf(encoder), valuesOf(model.encoder));
  // A part of the module, of which the rest stays.
  Autoencoder other;
  auto before = valuesOf(other.decoder);
  report = record.get("model", other, {.only = "^encoder\\."});
  EXPECT_TRUE(report.complete());
  EXPECT_EQ(valuesOf(other.encoder), valuesOf(model.encoder));
  EXPECT_EQ(valuesOf(other.decoder), before);
  // All of it or nothing.
  EXPECT_NE(errorOf([&] {
              record.get("model", encoder);
            }).find("'model' does not fit the module"),
            std::string::npos);
}

TEST(ModuleRecord, KeysAreRenamedByPatternsAndFunctions) {
  sn::manual_seed(6);
  Encoder old;
  sn::Record record;
  record.put("model", old);
  Autoencoder model;
  sn::LoadReport report = record.get(
      "model", model,
      {.rename = {{"^fc(\\d)\\.", "encoder.fc$1."}}, .strict = false});
  EXPECT_EQ(report.loaded.size(), 2u);
  EXPECT_EQ(valuesOf(model.encoder), valuesOf(old));
  Autoencoder second;
  report = record.get(
      "model", second,
      {.map_key = [](const std::string &name) -> std::optional<std::string> {
         return "encoder." + name;
       },
       .strict = false});
  EXPECT_EQ(valuesOf(second.encoder), valuesOf(old));
}

/// From a checkpoint of PyTorch to a record, with keys by patterns.
TEST(ModuleRecord, KeysOfAPytorchFileAreRenamedByPatterns) {
  TwoLayers model;
  sn::LoadReport report =
      sn::load_state(model, SINTER_WEIGHT_FILES "/checkpoint.pt",
                     {.top_level_key = "model",
                      .rename = {{"^0\\.", "fc1."}, {"^(1)\\.", "fc2."}}});
  EXPECT_TRUE(report.complete()) << report.text();
  TwoLayers loaded;
  sn::load_record(loaded,
                  sn::Record::from_bytes(sn::into_record(model).to_bytes()));
  EXPECT_EQ(valuesOf(loaded), valuesOf(model));
  EXPECT_FLOAT_EQ(float(valuesOf(loaded)[1]), 0.30871585f);
}

TEST(ModuleRecord, LoadingMakesNoFirstValueAndCompilesNothing) {
  sn::manual_seed(7);
  int made = 0, unmade = 0;
  Counting model(made);
  auto expected = valuesOf(model);
  EXPECT_EQ(made, 1);
  auto bytes = sn::into_record(model).to_bytes();
  for (sn::RecordPrecision precision :
       {sn::RecordPrecision::as_is, sn::RecordPrecision::half_precision}) {
    bytes = sn::into_record(model).to_bytes(precision);
    uint64_t before = programs();
    auto loaded = sn::load_from_memory<Counting>(bytes, "cpu", unmade);
    EXPECT_TRUE(loaded.w.is_initialized());
    EXPECT_EQ(programs(), before) << "a program was compiled or read";
    EXPECT_EQ(unmade, 0) << "an initializer ran";
    if (precision == sn::RecordPrecision::as_is) {
      EXPECT_EQ(valuesOf(loaded), expected);
    }
    EXPECT_EQ(unmade, 0);
  }
}

TEST(ModuleRecord, MappersTiesAndTensorsTakePart) {
  sn::Record record;
  record.put("x", sn::tensor({1.0f, 2.0f}));
  sn::Param weight(sn::tensor({3.0f, 4.0f}), "w");
  weight = weight.save_mapper([](const sn::Tensor &t) { return t * 2; })
               .load_mapper([](const sn::Tensor &t) { return t / 2; });
  record.put("w", weight);
  sn::Record loaded = sn::Record::from_bytes(record.to_bytes());
  sn::Tensor x;
  loaded.get("x", x);
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(loaded.get<sn::Tensor>("w").to_vector<float>(),
            (std::vector<float>{6, 8}));
  loaded.get("w", weight);
  EXPECT_EQ(weight.tensor().to_vector<float>(), (std::vector<float>{3, 4}));
  sn::Param fresh;
  loaded.get("x", fresh);
  EXPECT_EQ(fresh.tensor().to_vector<float>(), (std::vector<float>{1, 2}));
}
