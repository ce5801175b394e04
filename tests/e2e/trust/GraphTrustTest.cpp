/// A stranger's file, of which the graph alone is trusted: whatever it says, it
/// is refused, or compiled and computed, at once. SINTER_TEST_SEEDS sets how
/// many altered files are tried; for 500 of them one is compiled and computed.
#include "tests/e2e/export/ExportFixture.h"
#include "tests/unit/program/FieldMutator.h"
#include "tests/unit/program/Reseal.h"

#include "runtime/files/MappedFile.h"
#include "runtime/model/Session.h"
#include "runtime/program/CompilerHook.h"
#include "runtime/reference/Reference.h"

#include <sinter/Basic.h>
#include <sinter/Export.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>

namespace sn = sinter;
using namespace sn::runtime;
using Bytes = std::vector<std::byte>;
using Clock = std::chrono::steady_clock;

namespace {

struct Net {
  sn::nn::Linear first{6, 8}, second{8, 3};
  sn::Tensor forward(const sn::Tensor &x) const {
    return sn::softmax(second(sn::relu(first(x))), -1);
  }
  SINTER_MODULE(Net, first, second)
};

class GraphTrustTest : public sn::test::ExportFixture {
protected:
  void SetUp() override {
    ExportFixture::SetUp();
    if (!IsSkipped() && sn::default_device() != sn::device("cpu"))
      GTEST_SKIP() << "files are of one device";
  }
  Bytes exported() {
    Net net;
    std::string path = folder / "net.sinter";
    sn::export_model(path, net, sn::ones({4, 6}).eval(),
                     {.inputs = {"x"}, .dynamic = {"x:0=batch"}});
    auto file = MappedFile::open(path);
    return {file->bytes().begin(), file->bytes().end()};
  }
};

int64_t seedCount() {
  const char *text = std::getenv("SINTER_TEST_SEEDS");
  return text ? std::strtoll(text, nullptr, 10) : 3000;
}

/// Other letters in the text of the graph.
Bytes mutateGraph(const Bytes &file, uint64_t seed) {
  constexpr std::string_view letters = "0123456789%<>x,:()[]{}=-\" abeft_\n";
  Bytes altered = file;
  std::mt19937_64 random(seed);
  for (const SectionEntry &entry : test::tableOf(file)) {
    if (entry.kind != SectionKind::graph)
      continue;
    for (uint64_t i = 0; i <= random() % 3; ++i) {
      std::byte &at = altered[entry.offset + random() % entry.bytes];
      // A digit for a digit gives other sizes, which is a graph more often.
      bool isDigit = at >= std::byte('0') && at <= std::byte('9');
      at = std::byte(letters[random() % (isDigit ? 10 : letters.size())]);
    }
  }
  test::reseal(altered);
  return altered;
}

struct Counts {
  int64_t tried = 0, accepted = 0, compiled = 0, computed = 0;
};

/// By the plain loops of the null device.
void compute(const ModelFile &model, uint32_t entry, Counts &counts) {
  const Section *text = model.find(SectionKind::graph, entry);
  if (!text)
    return;
  auto graph =
      (*compilerHook())
          ->readGraph({reinterpret_cast<const char *>(text->bytes.data()),
                       text->bytes.size()});
  if (!graph) {
    EXPECT_FALSE(graph.error().message.empty());
    return;
  }
  graph->symbolValues.resize(graph->numSymbols, 4);
  std::vector<int64_t> sizes;
  evaluateAll(graph->exprs, graph->symbolValues, sizes);
  std::vector<sn::reference::HostTensor> inputs;
  size_t bytes = 0;
  for (const sn::graph::Input &input : graph->inputs) {
    const sn::graph::Value &value = graph->values[input.value];
    sn::reference::HostTensor tensor;
    tensor.dtype = value.dtype;
    size_t count = 1;
    for (uint32_t dim : value.dims) {
      tensor.dims.push_back(sizes[dim]);
      if (__builtin_mul_overflow(
              count, size_t(std::max<int64_t>(0, sizes[dim])), &count))
        return;
    }
    bytes += count * sn::byteWidth(value.dtype);
    if (bytes > size_t(1) << 24)
      return; // a size that takes its time
    tensor.data.resize(count * sn::byteWidth(value.dtype));
    inputs.push_back(std::move(tensor));
  }
  auto outputs = sn::reference::evaluate(*graph, inputs);
  counts.computed += outputs.ok();
}

void tryFile(const Bytes &file, bool compiles, Counts &counts) {
  ++counts.tried;
  Device *cpu = *getDevice({sn::DeviceKind::cpu, 0});
  auto model =
      Model::openMemory(file, {.device = cpu, .trust = ModelTrust::graph});
  if (!model) {
    EXPECT_FALSE(model.error().message.empty());
    return;
  }
  ++counts.accepted;
  if (!compiles)
    return;
  ModelFile sections = *readModel(file, ModelCheck::untilUse);
  for (uint32_t entry = 0; entry < (*model)->info().numPublic(); ++entry) {
    auto program = (*model)->program(entry);
    if (!program) {
      EXPECT_FALSE(program.error().message.empty());
    }
    counts.compiled += program.ok();
    compute(sections, entry, counts);
  }
}

} // namespace

TEST_F(GraphTrustTest, alteredFilesAreRefusedOrComputed) {
  sn::set_log([](sn::LogLevel, std::string_view) {}); // of what was compiled
  const Bytes file = exported();
  Counts counts;
  tryFile(file, true, counts);
  ASSERT_EQ(counts.compiled, 1);
  ASSERT_EQ(counts.computed, 1);
  int64_t seeds = seedCount(), toCompile = std::max<int64_t>(1, seeds / 500);
  double slowest = 0;
  for (int64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Bytes altered = seed % 2 ? mutateGraph(file, uint64_t(seed))
                             : test::mutateFields(file, uint64_t(seed));
    bool compiles = counts.computed < toCompile;
    auto begin = Clock::now();
    tryFile(altered, compiles, counts);
    std::chrono::duration<double> took = Clock::now() - begin;
    slowest = std::max(slowest, took.count());
    ASSERT_LT(took.count(), 20);
  }
  std::printf("%ld tried, %ld accepted, %ld compiled, %ld computed, the "
              "slowest %.2f s\n",
              long(counts.tried), long(counts.accepted), long(counts.compiled),
              long(counts.computed), slowest);
  EXPECT_GT(counts.accepted * 10, counts.tried);
  EXPECT_GT(counts.computed, 0);
  sn::set_log({});
}
