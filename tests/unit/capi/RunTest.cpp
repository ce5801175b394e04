/// Runs: inputs and outputs of every kind, and what is refused.
#include "runtime/device/Device.h"
#include "tests/unit/capi/Models.h"

#include <cstdlib>
#include <cstring>
#include <memory>

using namespace sinter;
using namespace sinter::capi::test;
using sinter::runtime::test::copyProgram;
using sinter::runtime::test::gatherProgram;
using sinter::runtime::test::scaleProgram;

namespace sinter::capi::test {

ProgramBuilder pairProgram() {
  ProgramBuilder b;
  uint32_t n = b.symbol(0);
  uint32_t x = b.input("x", {n}), y = b.input("y", {n});
  uint32_t sum = b.output({n}), doubled = b.output({n});
  uint32_t add = b.kernel("map_add", 2, 1, 1, {"add"});
  b.launch(add, {x, y, sum}, {n});
  b.launch(add, {x, x, doubled}, {n});
  b.program.outputs[0]->name = "sum";
  b.program.outputs[1]->name = "doubled";
  return b;
}

} // namespace sinter::capi::test

namespace {

/// Floats that begin at a multiple of 64 bytes, and so many more.
class Aligned {
public:
  explicit Aligned(size_t count, size_t offset = 0)
      : block(static_cast<float *>(
            std::aligned_alloc(64, (count + offset) * 4 / 64 * 64 + 64))),
        first(block.get() + offset) {
    std::fill(first, first + count, 0.0f);
  }
  float *data() const { return first; }

private:
  struct Free {
    void operator()(float *memory) const { std::free(memory); }
  };
  std::unique_ptr<float, Free> block;
  float *first;
};

sinter_tensor placeAt(float *data, std::vector<int64_t> &dims) {
  auto tensor = sized<sinter_tensor>();
  tensor.data = data;
  tensor.dtype = SINTER_F32;
  tensor.ndim = int32_t(dims.size());
  tensor.dims = dims.data();
  return tensor;
}

} // namespace

TEST(CapiRun, computesForEverySize) {
  Opened opened(scaleProgram());
  for (size_t n : {5, 0, 1, 300, 5}) {
    Host x(counting(n));
    float factor = 3;
    sinter_tensor inputs[] = {x.tensor(), number(factor)};
    auto output = sized<sinter_tensor>();
    ASSERT_OK(runToViews(opened.session, inputs, 2, &output, 1));
    EXPECT_EQ(output.dtype, SINTER_F32);
    EXPECT_EQ(output.device_kind, SINTER_DEVICE_CPU);
    EXPECT_EQ(output.strides, nullptr);
    ASSERT_EQ(output.ndim, 1);
    EXPECT_EQ(output.dims[0], int64_t(n));
    for (float &value : x.values)
      value *= 3;
    EXPECT_EQ(valuesOf(output), x.values);
    auto again = sized<sinter_tensor>();
    ASSERT_OK(sinter_session_output(opened.session, 0, 0, &again));
    EXPECT_EQ(again.data, output.data);
  }
}

TEST(CapiRun, outputsMayBeLeftOut) {
  Opened opened(pairProgram());
  Host x(counting(3));
  sinter_tensor inputs[] = {x.tensor(), x.tensor()};
  auto output = sized<sinter_tensor>();
  EXPECT_FAILS(sinter_session_output(opened.session, 0, 0, &output),
               SINTER_INVALID_ARGUMENT, "was not run");
  ASSERT_OK(
      sinter_session_run(opened.session, 0, inputs, 2, nullptr, 0, nullptr));
  ASSERT_OK(sinter_session_output(opened.session, 0, 1, &output));
  EXPECT_EQ(valuesOf(output), (std::vector<float>{2, 4, 6}));
  EXPECT_FAILS(sinter_session_output(opened.session, 0, 2, &output),
               SINTER_INVALID_ARGUMENT, "no output 2");
  EXPECT_FAILS(sinter_session_output(opened.session, 3, 0, &output),
               SINTER_INVALID_ARGUMENT, "no entry point 3");
}

/// Strides of every kind are packed; those of single elements say nothing.
TEST(CapiRun, readsStrides) {
  ProgramBuilder b;
  uint32_t n = b.symbol(0), m = b.symbol(1);
  uint32_t size = b.times(n, m);
  uint32_t x = b.input("x", {n, m}), y = b.input("y", {n, m});
  uint32_t out = b.output({n, m});
  b.launch(b.kernel("map_add", 2, 1, 1, {"add"}), {x, y, out}, {size});
  Opened opened(b);
  std::vector<float> zeros(6);
  std::vector<int64_t> dims = {2, 3};
  Host none(zeros, dims);
  std::vector<float> values = counting(12);
  auto sumOf = [&](float *first, std::vector<int64_t> strides) {
    sinter_tensor inputs[] = {placeAt(first, dims), none.tensor()};
    inputs[0].strides = strides.data();
    auto output = sized<sinter_tensor>();
    EXPECT_OK(runToViews(opened.session, inputs, 2, &output, 1));
    return valuesOf(output);
  };
  EXPECT_EQ(sumOf(values.data(), {3, 1}), counting(6));
  EXPECT_EQ(sumOf(values.data(), {1, 2}),
            (std::vector<float>{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(sumOf(values.data(), {6, 2}),
            (std::vector<float>{1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(sumOf(values.data() + 5, {-3, -1}),
            (std::vector<float>{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(sumOf(values.data(), {0, 0}), std::vector<float>(6, 1));
}

TEST(CapiRun, readsUnalignedMemory) {
  Opened opened(scaleProgram());
  std::vector<float> values = counting(4);
  std::vector<char> bytes(17);
  std::memcpy(bytes.data() + 1, values.data(), 16);
  std::vector<int64_t> dims = {4};
  float factor = 1;
  sinter_tensor inputs[] = {
      placeAt(reinterpret_cast<float *>(bytes.data() + 1), dims),
      number(factor)};
  auto output = sized<sinter_tensor>();
  ASSERT_OK(runToViews(opened.session, inputs, 2, &output, 1));
  EXPECT_EQ(valuesOf(output), values);
}

/// Aligned memory becomes the result's own; other memory gets a copy.
TEST(CapiRun, writesToMemoryOfTheCallers) {
  Opened opened(pairProgram());
  Host x(counting(100));
  sinter_tensor inputs[] = {x.tensor(), x.tensor()};
  for (size_t offset : {0, 1}) {
    Aligned first(100, offset), second(100);
    sinter_tensor outputs[] = {placeAt(first.data(), x.dims),
                               placeAt(second.data(), x.dims)};
    ASSERT_OK(
        sinter_session_run(opened.session, 0, inputs, 2, outputs, 2, nullptr));
    EXPECT_EQ(outputs[0].data, first.data());
    EXPECT_EQ(first.data()[99], 200);
    EXPECT_EQ(second.data()[0], 2);
    auto view = sized<sinter_tensor>();
    ASSERT_OK(sinter_session_output(opened.session, 0, 0, &view));
    EXPECT_EQ(view.data == first.data(), offset == 0);
    DLManagedTensor *managed = nullptr;
    if (offset == 0)
      EXPECT_FAILS(sinter_session_output_dlpack(opened.session, 0, 0, &managed),
                   SINTER_INVALID_ARGUMENT, "memory of the caller's");
  }
}

TEST(CapiRun, refusesWrongPlaces) {
  Opened opened(pairProgram());
  Host x(counting(100));
  sinter_tensor inputs[] = {x.tensor(), x.tensor()};
  Aligned memory(320);
  auto run = [&](sinter_tensor first, sinter_tensor second) {
    sinter_tensor outputs[] = {first, second};
    return sinter_session_run(opened.session, 0, inputs, 2, outputs, 2,
                              nullptr);
  };
  sinter_tensor own = sized<sinter_tensor>(),
                good = placeAt(memory.data(), x.dims);
  std::vector<int64_t> dims = {99};
  EXPECT_FAILS(run(placeAt(memory.data(), dims), own), SINTER_INVALID_ARGUMENT,
               "output 'sum': it is f32[100], its place is for [99]");
  EXPECT_FAILS(run(placeAt(memory.data() + 1, dims), own),
               SINTER_INVALID_ARGUMENT, "its place is for [99]");
  dims = {10, 10};
  EXPECT_FAILS(run(placeAt(memory.data(), dims), own), SINTER_INVALID_ARGUMENT,
               "output 'sum': expected f32[s0], got f32[10,10]");
  sinter_tensor other = good;
  other.dtype = SINTER_I32;
  EXPECT_FAILS(run(own, other), SINTER_INVALID_ARGUMENT,
               "output 'doubled': expected f32[s0], got i32[100]");
  other = good;
  std::vector<int64_t> strides = {2};
  other.strides = strides.data();
  EXPECT_FAILS(run(other, own), SINTER_UNSUPPORTED,
               "output 'sum': an output has to be dense");
  EXPECT_FAILS(run(good, good), SINTER_INVALID_ARGUMENT,
               "output 'doubled': its place has a part in that of output "
               "'sum'");
  // Also where both are copied to.
  EXPECT_FAILS(run(placeAt(memory.data() + 1, x.dims),
                   placeAt(memory.data() + 100, x.dims)),
               SINTER_INVALID_ARGUMENT,
               "output 'doubled': its place has a part in that of output "
               "'sum'");
  EXPECT_OK(run(placeAt(memory.data() + 1, x.dims),
                placeAt(memory.data() + 101, x.dims)));
  EXPECT_OK(run(own, own));
}

/// The result is copied there when the inputs have been read.
TEST(CapiRun, placesMayLieOverInputs) {
  Opened opened(pairProgram());
  Aligned memory(320);
  std::vector<int64_t> dims = {100};
  for (size_t offset : {0, 16, 1, 96, 200}) {
    std::iota(memory.data(), memory.data() + 320, 1.0f);
    // Both outputs read x; the first one's place is over x, over y or both.
    sinter_tensor inputs[] = {placeAt(memory.data(), dims),
                              placeAt(memory.data() + 100, dims)};
    sinter_tensor outputs[] = {placeAt(memory.data() + offset, dims),
                               sized<sinter_tensor>()};
    ASSERT_OK(
        sinter_session_run(opened.session, 0, inputs, 2, outputs, 2, nullptr));
    auto sum = sized<sinter_tensor>(), doubled = sized<sinter_tensor>();
    ASSERT_OK(sinter_session_output(opened.session, 0, 0, &sum));
    ASSERT_OK(sinter_session_output(opened.session, 0, 1, &doubled));
    for (size_t i : {0, 1, 50, 99}) {
      EXPECT_EQ(memory.data()[offset + i], float(2 * i + 102)) << offset;
      EXPECT_EQ(valuesOf(doubled)[i], float(2 * i + 2)) << offset;
    }
    EXPECT_EQ(valuesOf(sum)[99], 300);
  }
}

TEST(CapiRun, refusesWrongInputs) {
  Opened opened(scaleProgram());
  Host x(counting(4));
  float factor = 2;
  auto run = [&](sinter_tensor first, sinter_tensor second, size_t count = 2) {
    sinter_tensor inputs[] = {first, second};
    auto output = sized<sinter_tensor>();
    return runToViews(opened.session, inputs, count, &output, 1);
  };
  EXPECT_FAILS(run(x.tensor(), number(factor), 1), SINTER_INVALID_ARGUMENT,
               "the entry point takes 2 inputs, got 1");
  EXPECT_FAILS(
      sinter_session_run(opened.session, 0, nullptr, 2, nullptr, 0, nullptr),
      SINTER_INVALID_ARGUMENT, "inputs is null");
  auto change = [&](auto alter) {
    sinter_tensor tensor = x.tensor();
    alter(tensor);
    return run(tensor, number(factor));
  };
  EXPECT_FAILS(change([](auto &t) { t.dtype = SINTER_F64; }),
               SINTER_INVALID_ARGUMENT,
               "input 'x': expected f32[s0], got f64[4]");
  EXPECT_FAILS(change([](auto &t) { t.dtype = SINTER_C64; }),
               SINTER_INVALID_ARGUMENT,
               "input 'x': expected f32[s0], got c64[4]");
  EXPECT_FAILS(change([](auto &t) { t.dtype = -1; }), SINTER_INVALID_ARGUMENT,
               "no dtype -1");
  EXPECT_FAILS(change([](auto &t) { t.ndim = 0; }), SINTER_INVALID_ARGUMENT,
               "input 'x': expected f32[s0], got f32[]");
  EXPECT_FAILS(change([](auto &t) { t.ndim = -1; }), SINTER_INVALID_ARGUMENT,
               "-1 dims");
  EXPECT_FAILS(change([](auto &t) { t.ndim = 33; }), SINTER_INVALID_ARGUMENT,
               "33 dims");
  EXPECT_FAILS(change([](auto &t) { t.dims = nullptr; }),
               SINTER_INVALID_ARGUMENT, "dims is null");
  EXPECT_FAILS(change([](auto &t) { t.data = nullptr; }),
               SINTER_INVALID_ARGUMENT, "input 'x': data is null");
  EXPECT_FAILS(change([](auto &t) { t.device_kind = 9; }),
               SINTER_INVALID_ARGUMENT, "no device of kind 9");
  EXPECT_FAILS(change([](auto &t) { t.device_index = 1; }),
               SINTER_INVALID_ARGUMENT, "index 1");
  EXPECT_FAILS(change([](auto &t) { t.device_kind = SINTER_DEVICE_CUDA; }),
               SINTER_INVALID_ARGUMENT,
               "input 'x': it lies on cuda:0, the model is on cpu");
  EXPECT_FAILS(change([](auto &t) { t.device_kind = SINTER_DEVICE_VULKAN; }),
               SINTER_UNSUPPORTED, "vulkan");
  for (int64_t dim : {int64_t(-1), int64_t(1) << 31, INT64_MAX}) {
    EXPECT_EQ(change([&](auto &t) { t.dims = &dim; }), SINTER_INVALID_ARGUMENT)
        << dim;
  }
  sinter_tensor null = number(factor);
  null.data = nullptr;
  EXPECT_FAILS(run(x.tensor(), null), SINTER_INVALID_ARGUMENT,
               "input 'scale': data is null");
  EXPECT_FAILS(
      sinter_session_run(opened.session, 5, nullptr, 0, nullptr, 0, nullptr),
      SINTER_INVALID_ARGUMENT, "no entry point 5");
  sinter_tensor outputs[2] = {sized<sinter_tensor>(), sized<sinter_tensor>()};
  sinter_tensor inputs[] = {x.tensor(), number(factor)};
  EXPECT_FAILS(
      sinter_session_run(opened.session, 0, inputs, 2, outputs, 2, nullptr),
      SINTER_INVALID_ARGUMENT, "gives 1 outputs, got structs for 2");
  auto options = sized<sinter_run_options>();
  options.use_stream = 1;
  EXPECT_FAILS(
      sinter_session_run(opened.session, 0, inputs, 2, nullptr, 0, &options),
      SINTER_UNSUPPORTED, "cpu: it has no streams of others");
  options.use_stream = 2;
  EXPECT_FAILS(
      sinter_session_run(opened.session, 0, inputs, 2, nullptr, 0, &options),
      SINTER_INVALID_ARGUMENT, "use_stream");
  EXPECT_OK(run(x.tensor(), number(factor))); // nothing is left of all that
}

/// A view that is used again as a place is found out.
TEST(CapiRun, refusesItsOwnOutputsAsPlaces) {
  Opened opened(pairProgram());
  Host x(counting(100));
  sinter_tensor inputs[] = {x.tensor(), x.tensor()};
  sinter_tensor views[] = {sized<sinter_tensor>(), sized<sinter_tensor>()};
  ASSERT_OK(runToViews(opened.session, inputs, 2, views, 2));
  EXPECT_FAILS(
      sinter_session_run(opened.session, 0, inputs, 2, views, 2, nullptr),
      SINTER_INVALID_ARGUMENT,
      "output 'sum': its place is an output of the session's own");
  EXPECT_EQ(valuesOf(views[0])[99], 200);
}

/// Dense memory is read and written where it is: nothing is taken for it.
TEST(CapiRun, takesNoMemoryForWhatLiesRight) {
  Opened opened(scaleProgram());
  constexpr size_t count = size_t(1) << 20;
  Host x(counting(count));
  Aligned out(count);
  float factor = 2;
  sinter_tensor inputs[] = {x.tensor(), number(factor)};
  sinter_tensor place = placeAt(out.data(), x.dims);
  runtime::Device &cpu = **runtime::getDevice({DeviceKind::cpu, 0});
  cpu.resetPeakMemory();
  size_t before = cpu.memoryInfo().peak;
  ASSERT_OK(
      sinter_session_run(opened.session, 0, inputs, 2, &place, 1, nullptr));
  EXPECT_LT(cpu.memoryInfo().peak - before, count);
  EXPECT_EQ(out.data()[count - 1], 2 * float(count));
}

/// What a device cannot read as it lies is copied, for as long as the run.
TEST(CapiRun, copiesForTheRunAlone) {
  Opened opened(scaleProgram());
  constexpr size_t count = size_t(1) << 20;
  std::vector<char> bytes(count * 4 + 1);
  Aligned out(count);
  std::vector<int64_t> dims = {count};
  float factor = 2;
  sinter_tensor inputs[] = {
      placeAt(reinterpret_cast<float *>(bytes.data() + 1), dims),
      number(factor)};
  sinter_tensor place = placeAt(out.data(), dims);
  runtime::Device &cpu = **runtime::getDevice({DeviceKind::cpu, 0});
  cpu.resetPeakMemory();
  size_t before = cpu.memoryInfo().inUse;
  ASSERT_OK(
      sinter_session_run(opened.session, 0, inputs, 2, &place, 1, nullptr));
  EXPECT_GE(cpu.memoryInfo().peak, before + count * 4);
  EXPECT_LT(cpu.memoryInfo().inUse, before + count);
}

/// The stride of an axis with one element says nothing.
TEST(CapiRun, placesOfOneElementAreDense) {
  Opened opened(scaleProgram());
  Host x({5});
  Aligned out(1);
  float factor = 2;
  sinter_tensor inputs[] = {x.tensor(), number(factor)};
  sinter_tensor place = placeAt(out.data(), x.dims);
  int64_t stride = 7;
  place.strides = &stride;
  ASSERT_OK(
      sinter_session_run(opened.session, 0, inputs, 2, &place, 1, nullptr));
  EXPECT_EQ(out.data()[0], 10);
}

/// After an error the results of the run before are still there.
TEST(CapiRun, anIndexOutOfRangeChangesNothing) {
  Opened opened(gatherProgram());
  Host x(counting(4));
  std::vector<int64_t> indices = {0, 3}, count = {2};
  auto index = sized<sinter_tensor>();
  index.data = indices.data();
  index.dtype = SINTER_I64;
  index.ndim = 1;
  index.dims = count.data();
  sinter_tensor inputs[] = {x.tensor(), index};
  sinter_tensor outputs[] = {sized<sinter_tensor>(), sized<sinter_tensor>()};
  ASSERT_OK(runToViews(opened.session, inputs, 2, outputs, 2));
  EXPECT_EQ(valuesOf(outputs[0])[0], 10);
  indices[1] = 4;
  EXPECT_FAILS(
      sinter_session_run(opened.session, 0, inputs, 2, nullptr, 0, nullptr),
      SINTER_INVALID_ARGUMENT, "index out of range at element 1");
  auto again = sized<sinter_tensor>();
  ASSERT_OK(sinter_session_output(opened.session, 0, 0, &again));
  EXPECT_EQ(again.data, outputs[0].data);
  EXPECT_EQ(valuesOf(again)[0], 10);
}

TEST(CapiRun, tellsMemoryBeforeIt) {
  Opened opened(gatherProgram());
  std::vector<int64_t> many = {1000}, few = {10};
  sinter_tensor inputs[] = {placeAt(nullptr, many), placeAt(nullptr, few)};
  inputs[1].dtype = SINTER_I64;
  sinter_tensor outputs[] = {sized<sinter_tensor>(), sized<sinter_tensor>()};
  auto info = sized<sinter_memory_info>();
  ASSERT_OK(
      sinter_session_memory(opened.session, 0, inputs, 2, outputs, 2, &info));
  EXPECT_EQ(info.input_bytes, 4080u);
  EXPECT_EQ(info.output_bytes, 44u);
  EXPECT_GT(info.temporary_bytes, 0u);
  EXPECT_EQ(info.kept_bytes, 0u);
  EXPECT_EQ(outputs[0].ndim, 0);
  ASSERT_EQ(outputs[1].ndim, 1);
  EXPECT_EQ(outputs[1].dims[0], 10);
  EXPECT_EQ(outputs[1].data, nullptr);
  EXPECT_EQ(outputs[1].dtype, SINTER_F32);
  inputs[1].dtype = SINTER_F32;
  EXPECT_FAILS(
      sinter_session_memory(opened.session, 0, inputs, 2, nullptr, 0, &info),
      SINTER_INVALID_ARGUMENT, "input 'indices'");
  EXPECT_FAILS(
      sinter_session_memory(opened.session, 0, inputs, 2, nullptr, 0, nullptr),
      SINTER_INVALID_ARGUMENT, "sinter_memory_info is null");
}

/// A device that reads no memory of the host's, and that DLPack does not know.
TEST(CapiRun, runsOnNull) {
  Opened opened(copyProgram(), "null");
  Host xs(counting(6), {3, 2}), init({7, 8});
  sinter_tensor inputs[] = {xs.tensor(), init.tensor()};
  std::vector<sinter_tensor> outputs(3, sized<sinter_tensor>());
  ASSERT_OK(runToViews(opened.session, inputs, 2, outputs.data(), 3));
  EXPECT_EQ(valuesOf(outputs[0]), (std::vector<float>{5, 6}));
  EXPECT_EQ(outputs[0].device_kind, SINTER_DEVICE_NULL);
  Host last({0, 0});
  for (sinter_tensor &each : outputs)
    each.data = nullptr;
  outputs[0] = last.tensor();
  ASSERT_OK(sinter_session_run(opened.session, 0, inputs, 2, outputs.data(), 3,
                               nullptr));
  EXPECT_EQ(last.values, (std::vector<float>{5, 6}));
  DLManagedTensor *managed = nullptr;
  EXPECT_FAILS(sinter_session_output_dlpack(opened.session, 0, 1, &managed),
               SINTER_UNSUPPORTED, "memory of null");
}
