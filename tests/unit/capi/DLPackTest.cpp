/// DLPack: views of other libraries' tensors, and tensors for them.
#include "runtime/capi/DLPack.h"
#include "tests/unit/capi/Models.h"

#include <array>

using namespace sinter::capi;
using namespace sinter::capi::test;
using sinter::runtime::test::scaleProgram;

namespace {

/// A tensor of another library's.
struct Foreign {
  std::vector<float> values;
  std::array<int64_t, 1> shape{}, strides{1};
  DLManagedTensor managed{};

  explicit Foreign(std::vector<float> elements) : values(std::move(elements)) {
    shape[0] = int64_t(values.size());
    managed.dl_tensor = {
        values.data(), {dlpack::cpu, 0}, 1, {dlpack::real, 32, 1},
        shape.data(),  strides.data(),   0};
  }
};

} // namespace

TEST(CapiDLPack, readsTensorsWhereTheyAre) {
  Opened opened(scaleProgram());
  Foreign x(counting(5));
  x.managed.dl_tensor.byte_offset = 4;
  x.shape[0] = 4;
  float factor = 2;
  sinter_tensor inputs[] = {sized<sinter_tensor>(), number(factor)};
  ASSERT_OK(sinter_tensor_from_dlpack(&x.managed, &inputs[0]));
  EXPECT_EQ(inputs[0].data, x.values.data() + 1);
  EXPECT_EQ(inputs[0].struct_size, sizeof(sinter_tensor));
  auto output = sized<sinter_tensor>();
  ASSERT_OK(runToViews(opened.session, inputs, 2, &output, 1));
  EXPECT_EQ(valuesOf(output), (std::vector<float>{4, 6, 8, 10}));
}

TEST(CapiDLPack, knowsDTypesAndDevices) {
  Foreign x(counting(4));
  auto tensor = sized<sinter_tensor>();
  auto dtypeOf = [&](uint8_t code, uint8_t bits) {
    x.managed.dl_tensor.dtype = {code, bits, 1};
    sinter_status done = sinter_tensor_from_dlpack(&x.managed, &tensor);
    return done == SINTER_OK ? tensor.dtype : -done;
  };
  EXPECT_EQ(dtypeOf(dlpack::real, 64), SINTER_F64);
  EXPECT_EQ(dtypeOf(dlpack::real, 16), SINTER_F16);
  EXPECT_EQ(dtypeOf(dlpack::bfloat, 16), SINTER_BF16);
  EXPECT_EQ(dtypeOf(dlpack::signedInteger, 8), SINTER_I8);
  EXPECT_EQ(dtypeOf(dlpack::signedInteger, 64), SINTER_I64);
  EXPECT_EQ(dtypeOf(dlpack::unsignedInteger, 8), SINTER_U8);
  EXPECT_EQ(dtypeOf(dlpack::boolean, 8), SINTER_BOOL);
  EXPECT_EQ(dtypeOf(dlpack::unsignedInteger, 16), SINTER_U16);
  EXPECT_EQ(dtypeOf(dlpack::unsignedInteger, 32), SINTER_U32);
  EXPECT_EQ(dtypeOf(dlpack::unsignedInteger, 64), SINTER_U64);
  EXPECT_EQ(dtypeOf(dlpack::float8E4m3fn, 8), SINTER_F8E4M3FN);
  EXPECT_EQ(dtypeOf(dlpack::float8E8m0fnu, 8), SINTER_F8E8M0FNU);
  EXPECT_EQ(dtypeOf(dlpack::real, 8), -SINTER_UNSUPPORTED);
  // Packed there, a byte each here.
  EXPECT_EQ(dtypeOf(dlpack::signedInteger, 4), -SINTER_UNSUPPORTED);
  EXPECT_EQ(dtypeOf(dlpack::complex, 64), SINTER_C64);
  EXPECT_EQ(dtypeOf(dlpack::complex, 128), SINTER_C128);
  EXPECT_EQ(dtypeOf(3, 64), -SINTER_UNSUPPORTED); // an opaque handle
  x.managed.dl_tensor.dtype = {dlpack::real, 32, 4};
  EXPECT_FAILS(sinter_tensor_from_dlpack(&x.managed, &tensor),
               SINTER_UNSUPPORTED, "4 lanes");
  x.managed.dl_tensor.dtype = {dlpack::real, 32, 1};
  x.managed.dl_tensor.device = {dlpack::cuda, 1};
  ASSERT_OK(sinter_tensor_from_dlpack(&x.managed, &tensor));
  EXPECT_EQ(tensor.device_kind, SINTER_DEVICE_CUDA);
  EXPECT_EQ(tensor.device_index, 1);
  x.managed.dl_tensor.device = {8, 0}; // Metal
  EXPECT_FAILS(sinter_tensor_from_dlpack(&x.managed, &tensor),
               SINTER_UNSUPPORTED, "type 8");
  x.managed.dl_tensor.device = {dlpack::cpu, 0};
  x.shape[0] = -1;
  EXPECT_FAILS(sinter_tensor_from_dlpack(&x.managed, &tensor),
               SINTER_INVALID_ARGUMENT, "a dim is -1");
  EXPECT_FAILS(sinter_tensor_from_dlpack(nullptr, &tensor),
               SINTER_INVALID_ARGUMENT, "null");
  EXPECT_FAILS(sinter_tensor_from_dlpack(&x.managed, nullptr),
               SINTER_INVALID_ARGUMENT, "null");
}

/// What is given out outlives session and model, and later runs.
TEST(CapiDLPack, givesOutputsThatStay) {
  DLManagedTensor *managed = nullptr;
  {
    Opened opened(scaleProgram());
    Host x(counting(3));
    float factor = 2;
    sinter_tensor inputs[] = {x.tensor(), number(factor)};
    auto output = sized<sinter_tensor>();
    ASSERT_OK(runToViews(opened.session, inputs, 2, &output, 1));
    ASSERT_OK(sinter_session_output_dlpack(opened.session, 0, 0, &managed));
    EXPECT_EQ(managed->dl_tensor.data, output.data);
    factor = 5;
    ASSERT_OK(runToViews(opened.session, inputs, 2, &output, 1));
    EXPECT_NE(managed->dl_tensor.data, output.data);
    EXPECT_FAILS(sinter_session_output_dlpack(opened.session, 0, 0, nullptr),
                 SINTER_INVALID_ARGUMENT, "managed is null");
    EXPECT_FAILS(sinter_session_output_dlpack(opened.session, 0, 1, &managed),
                 SINTER_INVALID_ARGUMENT, "no output 1");
  }
  const DLTensor &tensor = managed->dl_tensor;
  EXPECT_EQ(tensor.device.device_type, dlpack::cpu);
  EXPECT_EQ(tensor.ndim, 1);
  EXPECT_EQ(tensor.shape[0], 3);
  EXPECT_EQ(tensor.strides[0], 1);
  EXPECT_EQ(tensor.dtype.code, dlpack::real);
  EXPECT_EQ(tensor.dtype.bits, 32);
  EXPECT_EQ(tensor.dtype.lanes, 1);
  EXPECT_EQ(tensor.byte_offset, 0u);
  EXPECT_EQ(static_cast<float *>(tensor.data)[2], 6);
  managed->deleter(managed);
}
