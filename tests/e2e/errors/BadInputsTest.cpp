/// Bad inputs: each is an error of the right kind that shows what is wrong and
/// names the user's line; nothing is lost and the next operation works.
#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <unistd.h>

namespace sn = sinter;

namespace {

struct Case {
  const char *name;
  std::function<void()> mistake;
  sn::ErrorKind kind;
  std::vector<const char *> parts; ///< of the message
};

sn::Tensor f32(const sn::Dims &shape) { return sn::zeros(shape); }
sn::Tensor i64(const sn::Dims &shape) {
  return sn::zeros(shape, {.dtype = sn::DType::i64});
}

constexpr auto invalid = sn::ErrorKind::invalid_argument;

const Case shapeCases[] = {
    {"matmul_inner",
     [] { sn::matmul(f32({4, 8}), f32({16, 2})); },
     invalid,
     {"matmul", "f32[4,8]", "f32[16,2]"}},
    {"matmul_batch",
     [] { sn::matmul(f32({2, 4, 8}), f32({3, 8, 2})); },
     invalid,
     {"matmul", "f32[2,4,8]", "f32[3,8,2]"}},
    {"matmul_scalar",
     [] { sn::matmul(f32({}), f32({8, 2})); },
     invalid,
     {"matmul", "f32[]"}},
    {"add_shapes",
     [] { f32({2, 3}) + f32({2, 4}); },
     invalid,
     {"add", "f32[2,3]", "f32[2,4]"}},
    {"reshape_count",
     [] { sn::reshape(f32({2, 3}), {4, 2}); },
     invalid,
     {"reshape", "f32[2,3]"}},
    {"reshape_two_unknown",
     [] { sn::reshape(f32({2, 3}), {-1, -1}); },
     invalid,
     {"reshape"}},
    {"broadcast_down",
     [] { sn::broadcast(f32({2, 3}), {3}); },
     invalid,
     {"broadcast", "f32[2,3]"}},
    {"concat_shapes",
     [] {
       std::vector<sn::Tensor> both = {f32({2, 3}), f32({2, 4})};
       sn::concat(both, 0);
     },
     invalid,
     {"concat", "f32[2,3]", "f32[2,4]"}},
    {"layer_norm_weight",
     [] { sn::layer_norm(f32({2, 8}), f32({4}), f32({4})); },
     invalid,
     {"layer_norm", "f32[2,8]", "f32[4]"}},
    {"cross_entropy_rows",
     [] { sn::cross_entropy(f32({4, 10}), i64({5})); },
     invalid,
     {"cross_entropy", "f32[4,10]", "i64[5]"}},
    {"negative_size", [] { f32({2, -3}); }, invalid, {"-3"}},
    {"tensor_count",
     [] { sn::tensor(std::vector<float>{1, 2, 3}, {2, 2}); },
     invalid,
     {"3 elements", "f32[2,2]"}},
    {"ragged", [] { sn::tensor({{1.f, 2.f}, {3.f}}); }, invalid, {}},
    {"item_of_many",
     [] { f32({2}).item<float>(); },
     invalid,
     {"item", "f32[2]"}},
    {"pad_cuts",
     [] { sn::pad(f32({4}), {1}, {3}, {0}, 0.0); },
     invalid,
     {"pad", "f32[4]"}},
    {"slice_beyond",
     [] { sn::slice(f32({4}), {0}, {9}, {1}); },
     invalid,
     {"slice", "f32[4]"}},
    {"slice_step",
     [] { sn::slice(f32({4}), {0}, {4}, {0}); },
     invalid,
     {"slice"}},
};

const Case axisCases[] = {
    {"sum_axis",
     [] { sn::sum(f32({2, 3}), {2}); },
     invalid,
     {"sum", "2", "f32[2,3]"}},
    {"sum_axis_twice", [] { sn::sum(f32({2, 3}), {1, -1}); }, invalid, {"sum"}},
    {"softmax_axis",
     [] { sn::softmax(f32({2, 3}), -3); },
     invalid,
     {"softmax", "-3"}},
    {"transpose_not_all",
     [] { sn::transpose(f32({2, 3}), {0}); },
     invalid,
     {"transpose", "f32[2,3]"}},
    {"transpose_twice",
     [] { sn::transpose(f32({2, 3}), {0, 0}); },
     invalid,
     {"transpose"}},
    {"argmax_axis",
     [] { sn::argmax(f32({2, 3}), 5); },
     invalid,
     {"argmax", "5"}},
    {"dim_axis", [] { f32({2, 3}).dim(4); }, invalid, {"4", "f32[2,3]"}},
    {"softmax_of_nothing",
     [] { sn::softmax(f32({3, 0})); },
     invalid,
     {"softmax: axis 1 is empty", "f32[3,0]"}},
    {"log_softmax_of_nothing",
     [] { sn::log_softmax(f32({0, 3}), 0); },
     invalid,
     {"log_softmax: axis 0 is empty", "f32[0,3]"}},
    {"amax_of_nothing",
     [] { sn::amax(f32({0, 3}), {0}); },
     invalid,
     {"amax", "f32[0,3]"}},
};

const Case typeCases[] = {
    {"gather_float_indices",
     [] { sn::gather(f32({4}), f32({2}), 0); },
     invalid,
     {"gather", "f32[2]"}},
    {"cross_entropy_float_labels",
     [] { sn::cross_entropy(f32({4, 10}), f32({4})); },
     invalid,
     {"cross_entropy", "f32[4]"}},
    {"where_condition",
     [] { sn::where(f32({2}), f32({2}), f32({2})); },
     invalid,
     {"where", "f32[2]"}},
    {"backward_of_many",
     [] { (sn::sum(f32({2, 2}).require_grad(), {0})).backward(); },
     invalid,
     {"backward", "f32[2]"}},
    {"grad_of_integers", [] { i64({2}).require_grad(); }, invalid, {"i64[2]"}},
    {"compute_f8e5m2",
     [] {
       std::vector<std::byte> bytes(2);
       sn::Tensor x = sn::from_bytes(bytes, sn::DType::f8e5m2, {2});
       (x + x).eval();
     },
     sn::ErrorKind::unsupported,
     {"f8e5m2"}},
    {"empty_tensor", [] { sn::relu(sn::Tensor()); }, invalid, {"relu"}},
};

const Case deviceCases[] = {
    {"unknown_device", [] { f32({2}).to("tpu"); }, invalid, {"tpu"}},
    {"no_such_gpu",
     [] { f32({2}).to("cuda:200"); },
     sn::ErrorKind::device,
     {"cuda:200"}},
    {"two_devices",
     [] {
       sn::Tensor a = sn::zeros({2}, {.device = sn::device("null")});
       sn::Tensor b = sn::zeros({2}, {.device = sn::device("cpu")});
       a + b;
     },
     invalid,
     {"null", "cpu"}},
    {"index_beyond",
     [] {
       sn::Tensor x = f32({4});
       sn::gather(x, sn::tensor<int64_t>({0, 4}), 0).eval();
     },
     invalid,
     {"gather"}},
    {"missing_weights",
     [] { sn::nn::Linear(2, 2).load("/no/such/file"); },
     sn::ErrorKind::io,
     {"/no/such/file"}},
    {"unwritable_weights",
     [] { sn::nn::Linear(2, 2).save("/no/such/folder/file"); },
     sn::ErrorKind::io,
     {"/no/such/folder/file"}},
    {"no_stage", [] { sn::inspect({f32({2})}, "fold"); }, invalid, {"fold"}},
};

class BadInput : public testing::TestWithParam<Case> {};

TEST_P(BadInput, IsAClearError) {
  const Case &one = GetParam();
  sn::Tensor before = sn::tensor({1.f, 2.f}) * 2.f; // pending meanwhile
  try {
    one.mistake();
    ADD_FAILURE() << one.name << " was accepted";
  } catch (const sn::Error &error) {
    EXPECT_EQ(error.kind(), one.kind) << error.what();
    for (const char *part : one.parts)
      EXPECT_NE(error.message().find(part), std::string::npos)
          << error.what() << " lacks " << part;
    EXPECT_NE(error.site().find("BadInputsTest.cpp"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(before.to_vector<float>(), (std::vector<float>{2, 4}));
  EXPECT_EQ((before + 1.f).to_vector<float>(), (std::vector<float>{3, 5}));
}

std::string nameOf(const testing::TestParamInfo<Case> &info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Shapes, BadInput, testing::ValuesIn(shapeCases),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Axes, BadInput, testing::ValuesIn(axisCases), nameOf);
INSTANTIATE_TEST_SUITE_P(Types, BadInput, testing::ValuesIn(typeCases), nameOf);
INSTANTIATE_TEST_SUITE_P(Devices, BadInput, testing::ValuesIn(deviceCases),
                         nameOf);

} // namespace
