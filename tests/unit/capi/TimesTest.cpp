/// Prints what the C interface costs. Results are checked, times are not.
#include "runtime/files/MappedFile.h"
#include "runtime/program/FileFormat.h"
#include "tests/unit/capi/Models.h"
#include "tests/unit/program/ModelBuilder.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <unistd.h>

using namespace sinter;
using namespace sinter::capi::test;
using namespace sinter::runtime;
using sinter::runtime::test::bind;
using sinter::runtime::test::bindScalar;
using sinter::runtime::test::bufferOf;
using sinter::runtime::test::ModelBuilder;
using sinter::runtime::test::scaleProgram;

namespace {

/// The least nanoseconds that one of `calls` took, of many rounds.
double nanoseconds(int rounds, int calls, const std::function<void()> &call) {
  double least = 1e18;
  for (int round = 0; round < rounds; ++round) {
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i)
      call();
    std::chrono::duration<double, std::nano> took =
        std::chrono::steady_clock::now() - begin;
    least = std::min(least, took.count() / calls);
  }
  return least;
}

/// picked = table[indices], of a weight of so many bytes.
ModelBuilder tableModel(size_t bytes) {
  auto count = int64_t(bytes / 4);
  ProgramBuilder b;
  uint32_t rows = b.constant(count), n = b.symbol(0);
  uint32_t table = b.input("table", {rows}, graph::InputKind::parameter);
  uint32_t indices =
      b.input("indices", {n}, graph::InputKind::data, DType::i64);
  uint32_t picked = b.output({n});
  uint32_t gather = b.kernel("gather_rows", 2, 1, 2, {"gather"});
  b.launch(gather, {table, indices, picked}, {rows, n});

  ModelBuilder model;
  EntryPoint entry;
  entry.name = "main";
  entry.inputs.resize(2);
  entry.inputs[0].name = "table";
  entry.inputs[0].kind = SlotKind::weight;
  entry.inputs[1].name = "indices";
  entry.outputs = {{"picked", "", -1, false}};
  entry.programs = {0};
  model.programs = {b};
  model.graphs = {"module {}\n"};
  model.info.entries = {entry};
  model.info.tensors = {{"table", DType::f32, {count}}};
  std::vector<float> values(bytes / 4);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(i % 1000);
  model.data = {sinter::runtime::test::bytesOf(values)};
  return model;
}

} // namespace

TEST(CapiTimes, ofARun) {
  Opened opened(scaleProgram());
  Device &cpu = **getDevice({DeviceKind::cpu, 0});
  auto program = *Program::load(scaleProgram().file(), cpu);
  Host x(counting(16)), out(std::vector<float>(16));
  float factor = 2;
  sinter_tensor inputs[] = {x.tensor(), number(factor)};
  std::vector<Binding> bindings = {bind(bufferOf(cpu, x.values), {16}),
                                   bindScalar(factor)};
  double direct = nanoseconds(50, 1000, [&] {
    if (!run(*program, bindings))
      std::abort();
  });
  double capi = nanoseconds(50, 1000, [&] {
    if (sinter_session_run(opened.session, 0, inputs, 2, nullptr, 0, nullptr))
      std::abort();
  });
  sinter_tensor output = sized<sinter_tensor>();
  double views = nanoseconds(50, 1000, [&] {
    output.data = nullptr;
    if (runToViews(opened.session, inputs, 2, &output, 1))
      std::abort();
  });
  EXPECT_EQ(valuesOf(output)[15], 32);
  std::printf("a run: %.0f ns in C++, %.0f ns through the C interface, %.0f ns "
              "with its output's view: %.0f ns more\n",
              direct, capi, views, views - direct);
}

TEST(CapiTimes, fromAFileToItsFirstResult) {
  constexpr size_t bytes = size_t(100) << 20;
  auto path = std::filesystem::temp_directory_path() /
              ("sinter-times-" + std::to_string(::getpid()) + ".sinter");
  {
    std::vector<std::byte> file = tableModel(bytes).file();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(file.data()),
               std::streamsize(file.size()));
  }
  double least = nanoseconds(5, 1, [&] {
    MappedFile mapped = *MappedFile::open(path);
    Digest digest = digestOf(mapped.bytes());
    if (digest == Digest{})
      std::abort();
  });
  std::vector<int64_t> indices = {5, 12'345'678}, dims = {2};
  sinter_tensor input = sized<sinter_tensor>();
  input.data = indices.data();
  input.dtype = SINTER_I64;
  input.ndim = 1;
  input.dims = dims.data();
  auto options = sized<sinter_model_options>();
  options.device = "cpu";
  float found = 0;
  double whole = nanoseconds(5, 1, [&] {
    sinter_model *model = nullptr;
    sinter_session *session = nullptr;
    sinter_tensor output = sized<sinter_tensor>();
    if (sinter_model_open(path.c_str(), &options, &model) ||
        sinter_session_open(model, &session) ||
        runToViews(session, &input, 1, &output, 1))
      std::abort();
    found = static_cast<float *>(output.data)[1];
    sinter_session_close(session);
    sinter_model_close(model);
  });
  std::filesystem::remove(path);
  EXPECT_EQ(found, 678);
  std::printf("a file of 100 MB: %.1f ms to the first result, %.1f ms to map "
              "and digest it: %.2f times\n",
              whole * 1e-6, least * 1e-6, whole / least);
}
