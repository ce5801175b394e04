/// Tensors of files by name.
#include "runtime/params/Zip.h"
#include "tests/unit/weights/WeightFiles.h"

#include <sinter/Basic.h>
#include <sinter/Memory.h>
#include <sinter/Weights.h>

#include <gmock/gmock.h>

#include <fstream>

using namespace sinter;
using namespace sinter::weights_test;
using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class StateDictTest : public WeightFiles {
protected:
  std::string path() const {
    StoredTensors stored;
    stored.floats("net.w", {2, 3}, {1, 2, 3, 4, 5, 6})
        .add<int64_t>("net.steps", DType::i64, {}, {7})
        .floats("step", {1}, {9});
    return write(stored, {{"made", "here"}});
  }
};

} // namespace

TEST_F(StateDictTest, TellsWhatTheFileHas) {
  StateDict state = read_state(path());
  EXPECT_EQ(state.format(), "safetensors");
  EXPECT_EQ(state.path(), path());
  EXPECT_THAT(state.names(), ElementsAre("net.steps", "net.w", "step"));
  ASSERT_EQ(state.metadata().size(), 1u);
  EXPECT_EQ(state.metadata()[0].second, "here");
  WeightInfo info = state.info("net.w");
  EXPECT_EQ(info.type, "F32");
  EXPECT_EQ(info.dtype, DType::f32);
  EXPECT_THAT(info.dims, ElementsAre(2, 3));
  EXPECT_EQ(info.bytes, 24u);
  EXPECT_FALSE(info.quantized);
  EXPECT_THAT(problem([&] { state.info("net.v"); }),
              HasSubstr("w.safetensors: no tensor is called 'net.v'"));
}

TEST_F(StateDictTest, GivesTensors) {
  StateDict state = read_state(path());
  EXPECT_THAT(state.at("net.w").to_vector<float>(),
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(state.at("net.steps").item<int64_t>(), 7);
  Tensor half = state.at("net.w", {.dtype = DType::bf16});
  EXPECT_EQ(half.dtype(), DType::bf16);
  EXPECT_EQ(half.to_vector<float>()[5], 6);
  EXPECT_EQ(state.at("net.steps", {.dtype = DType::f32}).item<float>(), 7);
  EXPECT_THAT(problem([&] { state.quantized("net.w"); }),
              HasSubstr("'net.w' holds no blocks but F32"));
}

TEST_F(StateDictTest, ATopLevelKeyIsLeftAway) {
  StateDict state = read_state(path(), {.top_level_key = "net"});
  EXPECT_THAT(state.names(), ElementsAre("steps", "w"));
  EXPECT_EQ(state.at("steps").item<int64_t>(), 7);
  EXPECT_THAT(problem([&] { read_state(path(), {.top_level_key = "ne"}); }),
              HasSubstr("w.safetensors has no tensor below 'ne'"));
}

TEST_F(StateDictTest, Changes) {
  StateDict state = read_state(path());
  StateDict other = state;
  state.set("net.v", ones({2}));
  state.set("net.w", full({1}, 3.f));
  state.rename("step", "net.a");
  EXPECT_TRUE(state.erase("net.steps"));
  EXPECT_FALSE(state.erase("net.steps"));
  EXPECT_THAT(state.names(), ElementsAre("net.w", "net.a", "net.v"));
  EXPECT_EQ(state.at("net.w").item<float>(), 3);
  EXPECT_EQ(state.at("net.a").item<float>(), 9);
  EXPECT_THAT(state.info("net.v").dims, ElementsAre(2));
  EXPECT_THAT(problem([&] { state.rename("net.a", "net.v"); }),
              HasSubstr("'net.v' is taken"));
  EXPECT_THAT(problem([&] { state.set("x", Tensor()); }), HasSubstr("empty"));
  EXPECT_THAT(other.names(), ElementsAre("net.steps", "net.w", "step"));
}

/// A checkpoint of PyTorch's whose tensors all are one: four floats.
static void writeTied(const std::string &path,
                      const std::vector<std::string> &names) {
  auto text = [](const std::string &content) {
    return "X"s + static_cast<char>(content.size()) + "\0\0\0"s + content;
  };
  std::string pickle = "\x80\2}(";
  for (const std::string &name : names)
    pickle += text(name) + "ctorch._utils\n_rebuild_tensor_v2\n((" +
              text("storage") + "ctorch\nFloatStorage\n" + text("0") +
              text("cpu") + "K\4tQK\0K\4\x85K\1\x85\x89)tR"s;
  pickle += "u.";
  std::string storage(16, '\0');
  runtime::ZipWriter writer;
  for (auto [name, content] :
       {std::pair("m/data.pkl", &pickle), std::pair("m/data/0", &storage)}) {
    std::span<const std::byte> bytes = std::as_bytes(std::span(*content));
    ASSERT_TRUE(writer.add(name, {&bytes, 1}, runtime::ZipMethod::stored));
  }
  ASSERT_TRUE(writer.write(path));
}

TEST_F(StateDictTest, TiesFollowNames) {
  std::string path = folder / "tied.pt";
  writeTied(path, {"net.a", "net.b", "c"});
  StateDict state = read_state(path);
  EXPECT_EQ(state.info("net.a").tied_to, "");
  EXPECT_EQ(state.info("net.b").tied_to, "net.a");
  state.rename("net.a", "first");
  EXPECT_EQ(state.info("net.b").tied_to, "first");
  state.rename("net.b", "net.a");
  EXPECT_EQ(state.info("net.a").tied_to, "first");
  EXPECT_EQ(state.info("c").tied_to, "first");
  state.rename("first", "again");
  EXPECT_EQ(state.info("c").tied_to, "again");
  state.set("again", ones({4}));
  EXPECT_EQ(state.info("c").tied_to, "");
  state = read_state(path);
  state.erase("net.a");
  EXPECT_EQ(state.info("net.b").tied_to, "");
  state = read_state(path, {.top_level_key = "net"});
  EXPECT_EQ(state.info("b").tied_to, "a");
}

TEST_F(StateDictTest, ManyTiesAreLookedUp) {
  std::string path = folder / "tied.pt";
  std::vector<std::string> names;
  for (int i = 0; i < 30'000; ++i)
    names.push_back("t" + std::to_string(i));
  writeTied(path, names);
  StateDict state = read_state(path);
  size_t tied = 0;
  for (const std::string &name : names)
    tied += state.info(name).tied_to == "t0";
  EXPECT_EQ(tied, names.size() - 1);
}

TEST_F(StateDictTest, IsTheOwnerOfItsFile) {
  std::string name = path();
  Tensor w;
  {
    StateDict state = read_state(name, {.mmap = true});
    std::filesystem::remove(name);
    size_t before = memory(device("cpu")).in_use;
    w = state.at("net.w", {.device = device("cpu")});
    EXPECT_EQ(memory(device("cpu")).in_use, before);
  }
  EXPECT_THAT(w.to_vector<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(StateDictTest, SaysWhyAFileIsNotRead) {
  std::string missing = folder / "missing.pt";
  EXPECT_THAT(problem([&] { read_state(missing); }),
              testing::AllOf(HasSubstr("io: "), HasSubstr(missing)));
  std::string other = folder / "other";
  std::ofstream(other) << "SINTER";
  EXPECT_THAT(problem([&] { read_state(other); }), HasSubstr("io: " + other));
  EXPECT_TRUE(StateDict().empty());
  EXPECT_THAT(problem([&] { StateDict().at("x"); }),
              HasSubstr("no tensor is called 'x'"));
}

namespace {

void append(std::string &bytes, auto value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
}

/// A GGUF file of one tensor `w`, two rows of a Q8_0 block each: a scale of
/// 0.5 as f16, and -16 to 15.
std::string quantizedFile() {
  std::string bytes = "GGUF";
  append(bytes, uint32_t(3)); // the version
  append(bytes, uint64_t(1)); // tensors
  append(bytes, uint64_t(0)); // keys
  append(bytes, uint64_t(1)); // of its name
  bytes += 'w';
  append(bytes, uint32_t(2));
  append(bytes, uint64_t(32));
  append(bytes, uint64_t(2));
  append(bytes, uint32_t(8)); // Q8_0
  append(bytes, uint64_t(0)); // its offset
  bytes.resize((bytes.size() + 31) / 32 * 32);
  for (int row = 0; row < 2; ++row) {
    append(bytes, uint16_t(0x3800));
    for (int8_t i = -16; i < 16; ++i)
      append(bytes, i);
  }
  return bytes;
}

} // namespace

TEST_F(StateDictTest, QuantizedBlocksAreKept) {
  std::string path = folder / "w.gguf";
  std::ofstream(path, std::ios::binary) << quantizedFile();
  StateDict state = read_state(path);
  WeightInfo info = state.info("w");
  EXPECT_TRUE(info.quantized);
  EXPECT_EQ(info.type, "Q8_0");
  EXPECT_EQ(info.dtype, DType::f32);
  EXPECT_THAT(info.dims, ElementsAre(2, 32));
  EXPECT_EQ(info.bytes, 68u);
  std::optional<QuantizedTensor> w;
  w = state.quantized("w");
  state = {};
  std::filesystem::remove(path);
  EXPECT_EQ(w->type(), "Q8_0");
  EXPECT_EQ(w->numel(), 64);
  EXPECT_EQ(w->block_elements(), 32);
  EXPECT_EQ(w->block_bytes(), 34);
  ASSERT_EQ(w->bytes().size(), 68u);
  EXPECT_EQ(w->bytes()[2], std::byte(0xf0));
  std::vector<float> values = w->dequantize().to_vector<float>();
  ASSERT_EQ(values.size(), 64u);
  EXPECT_EQ(values[0], -8);
  EXPECT_EQ(values[63], 7.5f);
  EXPECT_EQ(w->dequantize({.dtype = DType::bf16}).dtype(), DType::bf16);
  EXPECT_THAT(problem([&] { w->dequantize({.dtype = DType::i32}); }),
              HasSubstr("i32 is no float"));
}

namespace {
struct Half {
  Param w{"w", {2, 32}, init::zeros(), {.dtype = DType::f16}};
  SINTER_MODULE(Half, w)
};
} // namespace

TEST_F(StateDictTest, QuantizedBlocksBecomeFloatsOfModules) {
  std::string path = folder / "w.gguf";
  std::ofstream(path, std::ios::binary) << quantizedFile();
  Half half;
  LoadReport report = load_state(half, path);
  ASSERT_EQ(report.converted.size(), 1u);
  EXPECT_EQ(report.converted[0].from, "Q8_0");
  EXPECT_EQ(half.w.tensor().to_vector<float>()[63], 7.5f);
  EXPECT_THAT(problem([&] { load_state(half, path, {.convert = false}); }),
              HasSubstr("'w' is Q8_0[2,32], the module has f16[2,32]"));
}

TEST_F(StateDictTest, ReadsArchivesOfNumPy) {
  StoredTensors stored;
  stored.floats("a.b", {2}, {1, 2});
  StateDict state = read_state(write(stored, {}, "w.npz"));
  EXPECT_EQ(state.format(), "npz");
  EXPECT_THAT(state.at("a.b").to_vector<float>(), ElementsAre(1, 2));
}
