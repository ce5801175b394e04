/// The life of a Param: one first value, mappers between it and files, and
/// being taken apart and put together.
#include "runtime/device/Device.h"
#include "runtime/params/Safetensors.h"
#include "tests/unit/nn/Modules.h"

#include <atomic>
#include <barrier>
#include <filesystem>
#include <thread>
#include <unistd.h>

namespace sn = sinter;

namespace {

using Values = std::vector<float>;

Values valuesOf(const sn::Param &param) {
  return param.tensor().to_vector<float>();
}

/// A Param that counts how often its first value is recorded.
struct Counted {
  std::shared_ptr<std::atomic<int>> inits =
      std::make_shared<std::atomic<int>>(0);
  sn::Param param{"w",
                  {2, 3},
                  [inits = inits](const sn::Dims &shape, sn::DType dtype,
                                  sn::Generator &generator) {
                    ++*inits;
                    return sn::uniform(shape, generator, -1, 1, dtype);
                  }};
};

struct One {
  sn::Param w;
  SINTER_MODULE(One, w)
};

class ParamLife : public testing::Test {
protected:
  void TearDown() override { std::filesystem::remove(path); }
  std::string path = std::filesystem::temp_directory_path() /
                     ("sinter-param-" + std::to_string(::getpid()));
};

sn::Tensor twice(const sn::Tensor &x) { return x * 2; }
sn::Tensor plusOne(const sn::Tensor &x) { return x + 1; }
sn::Tensor half(const sn::Tensor &x) { return x / 2; }
sn::Tensor minusOne(const sn::Tensor &x) { return x - 1; }
sn::Tensor turned(const sn::Tensor &x) { return x.transpose({1, 0}); }

} // namespace

TEST_F(ParamLife, FourThreadsThatAskAtOnceShareOneValue) {
  for (int round = 0; round < 10; ++round) {
    Counted counted;
    std::barrier start(4);
    std::vector<sn::runtime::BufferRef> buffers(4);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&, i] {
        start.arrive_and_wait();
        sn::Tensor value = counted.param.tensor();
        value.eval();
        buffers[i] = value.node()->value();
      });
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(*counted.inits, 1);
    for (const sn::runtime::BufferRef &buffer : buffers)
      EXPECT_EQ(buffer, buffers[0]) << "one value, not a copy";
  }
}

TEST_F(ParamLife, CopiesShareTheOneInitialization) {
  Counted counted;
  sn::Param copy = counted.param, other = copy;
  EXPECT_EQ(valuesOf(other), valuesOf(counted.param));
  EXPECT_TRUE(copy.is_initialized()) << "one that shares it asked";
  EXPECT_EQ(valuesOf(copy), valuesOf(counted.param));
  EXPECT_EQ(*counted.inits, 1);
  EXPECT_EQ(copy.tensor().node()->value(),
            counted.param.tensor().node()->value());
}

TEST_F(ParamLife, AskingAboutItInitializesNothing) {
  Counted counted;
  EXPECT_FALSE(counted.param.is_initialized());
  EXPECT_EQ(counted.param.lazy_device(), sn::default_device());
  EXPECT_EQ(counted.param.lazy_shape().size(), 2u);
  EXPECT_EQ(counted.param.lazy_shape()[1].value, 3);
  EXPECT_TRUE(counted.param.lazy_require_grad());
  counted.param.require_grad(false);
  EXPECT_FALSE(counted.param.lazy_require_grad());
  EXPECT_FALSE(counted.param.is_initialized());
  EXPECT_EQ(*counted.inits, 0);
  valuesOf(counted.param);
  EXPECT_TRUE(counted.param.is_initialized());
}

TEST_F(ParamLife, LoadingIntoALazyOneRunsNoInitAndAllocatesOnlyTheValue) {
  One saved{sn::Param(sn::full({64, 64}, 3.f), "w")};
  saved.save(path);
  Counted counted;
  One lazy{sn::Param("w", {64, 64},
                     [inits = counted.inits](const sn::Dims &shape, sn::DType,
                                             sn::Generator &) {
                       ++*inits;
                       return sn::ones(shape);
                     })};
  auto *device = *sn::runtime::getDevice(lazy.w.device());
  size_t before = device->memoryInfo().inUse;
  sn::reset_stats();
  lazy.load(path);
  EXPECT_EQ(device->memoryInfo().inUse - before, 64u * 64 * 4);
  EXPECT_EQ(sn::stats().programs_run, 0u);
  EXPECT_TRUE(lazy.w.is_initialized());
  EXPECT_EQ(valuesOf(lazy.w), Values(64 * 64, 3));
  EXPECT_EQ(*counted.inits, 0);
}

TEST_F(ParamLife, InitMappersComposeAndStayLazy) {
  Counted counted;
  sn::Param mapped = counted.param.init_mapper(twice).init_mapper(plusOne);
  EXPECT_FALSE(mapped.is_initialized());
  EXPECT_EQ(*counted.inits, 0);
  EXPECT_EQ(mapped.record_id(), counted.param.record_id());
  EXPECT_EQ(mapped.name(), "w");
  Values first = valuesOf(mapped), plain = valuesOf(counted.param);
  for (size_t i = 0; i < plain.size(); ++i)
    EXPECT_EQ(first[i], plain[i] * 2 + 1);
}

TEST_F(ParamLife, AnInitMapperOfAValueMapsTheValue) {
  sn::Param param(sn::tensor({1.f, 2.f}), "w");
  EXPECT_EQ(valuesOf(param.init_mapper(twice)), (Values{2, 4}));
  sn::Param lazy("w", {2}, sn::init::ones());
  lazy.set(lazy.tensor() + 4); // the value is this, not the first one
  EXPECT_EQ(valuesOf(lazy.init_mapper(twice)), (Values{10, 10}));
}

TEST_F(ParamLife, AnInitMapperKeepsTheType) {
  sn::Param param("w", {2}, sn::init::ones());
  sn::Param bad = param.init_mapper(
      [](const sn::Tensor &x) { return sn::concat({x, x}, 0); });
  try {
    valuesOf(bad);
    FAIL();
  } catch (const sn::Error &error) {
    EXPECT_NE(error.message().find("f32[4]"), std::string::npos)
        << error.what();
    EXPECT_NE(error.site().find("ParamLifeTest.cpp"), std::string::npos)
        << error.what();
  }
}

TEST_F(ParamLife, LoadAndSaveMappersCompose) {
  sn::Param inner = sn::Param(sn::tensor(Values{1, 2, 3, 4, 5, 6}, {2, 3}), "w")
                        .load_mapper(turned)
                        .save_mapper(turned);
  One model{inner.load_mapper(twice).save_mapper(half)};
  model.save(path);
  auto file = sn::runtime::SafetensorsFile::open(path);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->find("w")->shape, (std::vector<int64_t>{3, 2}))
      << "the file has it as the save mappers made it";
  EXPECT_EQ(reinterpret_cast<const float *>(file->find("w")->data.data())[1],
            2.f)
      << "half of row 1, column 0";
  One again{sn::Param("w", {2, 3}, sn::init::zeros())
                .load_mapper(turned)
                .load_mapper(twice)};
  again.load(path);
  EXPECT_EQ(valuesOf(again.w), valuesOf(model.w)) << "pairs undo each other";
}

TEST_F(ParamLife, AllThreeKindsOfMappersCompose) {
  Counted counted;
  One model{
      counted.param.init_mapper(plusOne).save_mapper(minusOne).load_mapper(
          plusOne)};
  model.save(path);
  EXPECT_EQ(*counted.inits, 1);
  One raw{sn::Param("w", {2, 3}, sn::init::zeros())};
  raw.load(path);
  expectNear(raw.w.tensor(), counted.param.tensor());
  One again{sn::Param("w", {2, 3}, sn::init::zeros()).load_mapper(plusOne)};
  again.load(path);
  expectNear(again.w.tensor(), model.w.tensor());
}

TEST_F(ParamLife, ALoadMapperThatMakesAnotherTypeChangesNothing) {
  One model{sn::Param(sn::ones({2, 3}), "w")};
  model.save(path);
  One other{sn::Param(sn::zeros({2, 3}), "w").load_mapper(turned)};
  expectRejected("load", "f32[3,2]", [&] { other.load(path); });
  EXPECT_EQ(valuesOf(other.w), Values(6, 0));
}

TEST_F(ParamLife, MapKeepsIdNameFlagsAndMappers) {
  sn::Param param = sn::Param(sn::tensor({1.f, 2.f}), "w")
                        .save_mapper(half)
                        .load_mapper(twice);
  param.require_grad(false);
  sn::Param mapped =
      param.map([](const sn::Tensor &x) { return sn::concat({x, x}, 0); });
  EXPECT_EQ(valuesOf(mapped), (Values{1, 2, 1, 2}));
  EXPECT_EQ(mapped.record_id(), param.record_id());
  EXPECT_EQ(mapped.name(), "w");
  EXPECT_FALSE(mapped.requires_grad());
  mapped.require_grad();
  EXPECT_TRUE(mapped.requires_grad()) << "frozen, not made a constant";
  One model{mapped};
  model.save(path);
  One raw{sn::Param("w", {4}, sn::init::zeros())};
  raw.load(path);
  EXPECT_EQ(valuesOf(raw.w), (Values{.5f, 1, .5f, 1}));
  EXPECT_EQ(valuesOf(param), (Values{1, 2}));
}

TEST_F(ParamLife, ConsumeAndFromMappedValueKeepWhatIsFrozen) {
  sn::Param param(sn::tensor({1.f, 2.f}), "w");
  param.require_grad(false);
  sn::ParamParts parts = param.consume();
  EXPECT_TRUE(parts.requires_grad);
  EXPECT_TRUE(parts.frozen);
  sn::Param back = sn::Param::from_mapped_value(std::move(parts));
  EXPECT_FALSE(back.requires_grad());
  back.require_grad();
  EXPECT_TRUE(back.requires_grad()) << "frozen, not made a constant";
  sn::Param constant(sn::tensor({1.f}), "c", /*requires_grad=*/false);
  sn::Param still = sn::Param::from_mapped_value(constant.consume());
  still.require_grad();
  EXPECT_FALSE(still.requires_grad());
}

TEST_F(ParamLife, ConsumeAndFromMappedValueKeepTheMapper) {
  sn::Param param = sn::Param(sn::tensor({1.f, 2.f}), "w").save_mapper(half);
  uint64_t id = param.record_id();
  sn::ParamParts parts = param.consume();
  EXPECT_FALSE(param.defined());
  EXPECT_EQ(parts.record_id, id);
  EXPECT_EQ(parts.name, "w");
  EXPECT_TRUE(parts.mapper.has_save());
  EXPECT_FALSE(parts.mapper.has_load());
  EXPECT_TRUE(parts.requires_grad);
  parts.value = parts.value * 10;
  sn::Param back = sn::Param::from_mapped_value(std::move(parts));
  EXPECT_EQ(back.record_id(), id);
  EXPECT_EQ(valuesOf(back), (Values{10, 20}));
  One model{back};
  model.save(path);
  One raw{sn::Param("w", {2}, sn::init::zeros())};
  raw.load(path);
  EXPECT_EQ(valuesOf(raw.w), (Values{5, 10}));
}

TEST_F(ParamLife, CopiesAndTiesKeepTheMapper) {
  sn::Param param = sn::Param("w", {2}, sn::init::ones()).save_mapper(half);
  sn::Param copy = param, moved = param.to(sn::device("null")), tied;
  tied.tie(param);
  EXPECT_TRUE(copy.mapper().has_save());
  EXPECT_TRUE(moved.mapper().has_save());
  EXPECT_TRUE(tied.mapper().has_save());
  EXPECT_TRUE(param.cast(sn::DType::f64).mapper().has_save());
}
