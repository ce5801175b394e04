/// The C interface on a GPU: memory of callers, copies, their streams.
#include "runtime/capi/DLPack.h"
#include "runtime/device/cuda/Driver.h"
#include "sinter/c_api.h"
#include "tests/unit/cuda/CudaPrograms.h"

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

namespace {

/// x * scale on cuda:0, through the C interface.
class CapiCuda : public testing::Test {
protected:
  void SetUp() override {
    ProgramBuilder builder = scaleProgram();
    builder.targetCuda(sinter::test::fakePtx);
    std::vector<std::byte> file = builder.file();
    sinter_model_options options{};
    options.struct_size = sizeof(options);
    options.device = "cuda:0";
    ASSERT_EQ(
        sinter_model_open_memory(file.data(), file.size(), &options, &model),
        SINTER_OK)
        << sinter_last_error();
    ASSERT_EQ(sinter_session_open(model, &session), SINTER_OK);
  }
  void TearDown() override {
    EXPECT_EQ(sinter_session_close(session), SINTER_OK);
    EXPECT_EQ(sinter_model_close(model), SINTER_OK);
  }

  sinter_tensor tensor(void *data, sinter_device_kind kind) {
    sinter_tensor tensor{};
    tensor.struct_size = sizeof(tensor);
    tensor.data = data;
    tensor.dtype = SINTER_F32;
    tensor.device_kind = kind;
    tensor.ndim = 1;
    tensor.dims = dims;
    return tensor;
  }
  sinter_status run(sinter_tensor x, sinter_tensor &output,
                    const sinter_run_options *options = nullptr) {
    sinter_tensor scale{};
    scale.struct_size = sizeof(scale);
    scale.data = &factor;
    scale.dtype = SINTER_F32;
    sinter_tensor inputs[] = {x, scale};
    bool isPlaced = output.data != nullptr;
    sinter_status done = sinter_session_run(
        session, 0, inputs, 2, isPlaced ? &output : nullptr, 1, options);
    return done || isPlaced ? done
                            : sinter_session_output(session, 0, 0, &output);
  }

  sinter_model *model = nullptr;
  sinter_session *session = nullptr;
  float factor = 2;
  int64_t dims[1] = {4};
  std::vector<float> values = {1, 2, 3, 4}, doubled = {2, 4, 6, 8};
};

} // namespace

TEST_F(CapiCuda, copiesTheHostsMemory) {
  std::vector<float> out(4);
  sinter_tensor output = tensor(out.data(), SINTER_DEVICE_CPU);
  for (int i = 0; i < 3; ++i) {
    out.assign(4, 0);
    ASSERT_EQ(run(tensor(values.data(), SINTER_DEVICE_CPU), output), SINTER_OK)
        << sinter_last_error();
    EXPECT_EQ(out, doubled);
  }
}

/// Memory of the device is read and written where it is; all is done then.
TEST_F(CapiCuda, usesMemoryOfTheDevice) {
  BufferRef x = bufferOf(gpu(), values), out = bufferOf(gpu(), values);
  sinter_tensor output = tensor(out->data(), SINTER_DEVICE_CUDA);
  uint64_t in = driver().copiesIn;
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(run(tensor(x->data(), SINTER_DEVICE_CUDA), output), SINTER_OK)
        << sinter_last_error();
  EXPECT_LE(driver().copiesIn, in + 3); // of the number, if it changed
  EXPECT_EQ(valuesOf<float>(*out), doubled);

  sinter_tensor own = tensor(nullptr, SINTER_DEVICE_CPU);
  ASSERT_EQ(run(tensor(x->data(), SINTER_DEVICE_CUDA), own), SINTER_OK);
  EXPECT_EQ(own.device_kind, SINTER_DEVICE_CUDA);
  EXPECT_EQ(driver().queued, 0u);
  DLManagedTensor *managed = nullptr;
  ASSERT_EQ(sinter_session_output_dlpack(session, 0, 0, &managed), SINTER_OK);
  EXPECT_EQ(managed->dl_tensor.data, own.data);
  EXPECT_EQ(managed->dl_tensor.device.device_type, capi::dlpack::cuda);
  sinter_tensor view = tensor(nullptr, SINTER_DEVICE_CPU);
  ASSERT_EQ(sinter_tensor_from_dlpack(managed, &view), SINTER_OK);
  EXPECT_EQ(view.device_kind, SINTER_DEVICE_CUDA);
  managed->deleter(managed);
}

TEST_F(CapiCuda, copiesWhatIsNotAligned) {
  BufferRef x = bufferOf(gpu(), std::vector<float>{0, 1, 2, 3, 4});
  BufferRef out = bufferOf(gpu(), std::vector<float>(5));
  sinter_tensor output =
      tensor(static_cast<float *>(out->data()) + 1, SINTER_DEVICE_CUDA);
  ASSERT_EQ(run(tensor(static_cast<float *>(x->data()) + 1, SINTER_DEVICE_CUDA),
                output),
            SINTER_OK)
      << sinter_last_error();
  EXPECT_EQ(valuesOf<float>(*out), (std::vector<float>{0, 2, 4, 6, 8}));
}

TEST_F(CapiCuda, refusesOtherMemory) {
  BufferRef x = bufferOf(gpu(1), values);
  sinter_tensor output = tensor(nullptr, SINTER_DEVICE_CPU);
  sinter_tensor input = tensor(x->data(), SINTER_DEVICE_CUDA);
  input.device_index = 1;
  EXPECT_EQ(run(input, output), SINTER_INVALID_ARGUMENT);
  EXPECT_STREQ(sinter_last_error(),
               "input 'x': it lies on cuda:1, the model is on cuda:0");
  int64_t strides[] = {2};
  input.device_index = 0;
  input.strides = strides;
  EXPECT_EQ(run(input, output), SINTER_UNSUPPORTED);
}

/// Between work of the caller's stream, and without a wait of the host.
TEST_F(CapiCuda, keepsToTheCallersStream) {
  const cuda::Driver &api = **cuda::Driver::open();
  cuda::Context other = nullptr; // this driver's context is its one stream
  ASSERT_EQ(api.retainContext(&other, 1), cuda::success);
  auto stream = reinterpret_cast<cuda::Stream>(other);
  auto addressOf = [](const BufferRef &buffer) {
    return reinterpret_cast<cuda::Address>(buffer->data());
  };
  BufferRef source = bufferOf(gpu(), values);
  BufferRef x = bufferOf(gpu(), std::vector<float>(4));
  BufferRef out = bufferOf(gpu(), std::vector<float>(4));
  sinter_run_options options{};
  options.struct_size = sizeof(options);
  options.stream = stream;
  options.use_stream = 1;
  sinter_tensor output = tensor(out->data(), SINTER_DEVICE_CUDA);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(gpu().synchronize());
    uint64_t waits = driver().waits;
    ASSERT_EQ(api.copy(addressOf(x), addressOf(source), 16, stream),
              cuda::success);
    ASSERT_EQ(run(tensor(x->data(), SINTER_DEVICE_CUDA), output, &options),
              SINTER_OK)
        << sinter_last_error();
    std::vector<float> seen(4);
    ASSERT_EQ(api.copyOut(seen.data(), addressOf(out), 16, stream),
              cuda::success);
    EXPECT_EQ(driver().waits, waits);
    EXPECT_GT(driver().queued, 0u);
    ASSERT_EQ(api.synchronize(stream), cuda::success);
    EXPECT_EQ(seen, doubled);
  }
}
