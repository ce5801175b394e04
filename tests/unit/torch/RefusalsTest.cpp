/// Operators of programs whose numbers cannot be meant: each is an Error, and
/// none takes memory or time.
#include "tests/unit/torch/RunOnOnes.h"

#include <sinter/Error.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

using namespace sinter;

namespace {
/// One node of a program. Its arguments are those of the file, in JSON, where
/// `x` and `k` stand for tensors of the program.
struct Refused {
  const char *target;
  const char *arguments;
  const char *shape;        ///< of x
  const char *dtype = "7";  ///< of x
  const char *places = "1"; ///< the shape of k, which is i64
  const char *outputs = R"({"as_tensor":{"name":"y"}})";
};
} // namespace

/// "2,3" as the sizes of a file.
static std::string sizesOf(const std::string &shape) {
  std::string all, number;
  for (char letter : shape + ",")
    if (letter != ',') {
      number += letter;
    } else if (!number.empty()) {
      all += fmt::format("{}{{\"as_int\":{}}}", all.empty() ? "" : ",", number);
      number.clear();
    }
  return "[" + all + "]";
}

static std::string tensorOf(const std::string &name, const char *dtype,
                            const std::string &shape) {
  std::string sizes = sizesOf(shape);
  return fmt::format(
      R"("{}":{{"dtype":{},"sizes":{},"requires_grad":false,"device":)"
      R"({{"type":"cpu","index":null}},"strides":{},"storage_offset":)"
      R"({{"as_int":0}},"layout":7}})",
      name, dtype, sizes, sizes);
}

static std::string programOf(const Refused &each) {
  std::string arguments = each.arguments;
  auto replace = [&](const std::string &from, const std::string &to) {
    for (size_t at = 0; (at = arguments.find(from, at)) != arguments.npos;
         at += to.size())
      arguments.replace(at, from.size(), to);
  };
  replace("$x", R"({"as_tensor":{"name":"x"}})");
  replace("$k", R"({"as_tensor":{"name":"k"}})");
  std::string inputs;
  // name=value;name=value
  for (size_t at = 0; at < arguments.size();) {
    size_t end = std::min(arguments.find(';', at), arguments.size());
    size_t middle = arguments.find('=', at);
    inputs += fmt::format(R"({}{{"name":"{}","arg":{},"kind":1}})",
                          inputs.empty() ? "" : ",",
                          arguments.substr(at, middle - at),
                          arguments.substr(middle + 1, end - middle - 1));
    at = end + 1;
  }
  const char *tensors =
      R"({"as_tensor":{"name":"x"}},{"as_tensor":{"name":"k"}})";
  const char *specs = R"({"user_input":{"arg":{"as_tensor":{"name":"x"}}}},)"
                      R"({"user_input":{"arg":{"as_tensor":{"name":"k"}}}})";
  return fmt::format(
      R"({{"graph_module":{{"graph":{{"inputs":[{}],"outputs":)"
      R"([{{"as_tensor":{{"name":"y"}}}}],"nodes":[{{"target":"torch.ops.{}",)"
      R"("inputs":[{}],"outputs":[{}],"metadata":{{}}}}],"tensor_values":)"
      R"({{{},{},{}}},"sym_int_values":{{}},"sym_bool_values":{{}},)"
      R"("is_single_tensor_return":false,"custom_obj_values":{{}},)"
      R"("sym_float_values":{{}}}},"signature":{{"input_specs":[{}],)"
      R"("output_specs":[{{"user_output":{{"arg":{{"as_tensor":)"
      R"({{"name":"y"}}}}}}}}]}},"module_call_graph":[],"metadata":{{}}}},)"
      R"("opset_version":{{"aten":10}},"range_constraints":{{}},)"
      R"("schema_version":{{"major":8,"minor":20}},"verifiers":["TRAINING"],)"
      R"("torch_version":"2.15.0","guards_code":[]}})",
      tensors, each.target, inputs, each.outputs,
      tensorOf("x", each.dtype, each.shape), tensorOf("k", "5", each.places),
      tensorOf("y", each.dtype, each.shape), specs);
}

static const Refused all[] = {
    {"aten.movedim.intlist",
     R"(self=$x;source={"as_ints":[0,1]};destination={"as_ints":[0,0]})",
     "2,3"},
    {"aten.movedim.intlist",
     R"(self=$x;source={"as_ints":[0]};destination={"as_ints":[5]})", ""},
    {"aten.index_copy.default",
     R"(self=$x;dim={"as_int":0};index=$k;source=$x)", ""},
    {"aten.index_add.default", R"(self=$x;dim={"as_int":0};index=$k;source=$x)",
     ""},
    {"aten.index_reduce.default",
     R"(self=$x;dim={"as_int":0};index=$k;source=$x;reduce={"as_string":"amax"})",
     ""},
    {"aten.index_fill.int_Scalar",
     R"(self=$x;dim={"as_int":0};index=$k;value={"as_int":1})", ""},
    {"aten.linalg_solve.default", "A=$x;B=$x", "3"},
    {"aten.cholesky_solve.default", "self=$x;input2=$x", "3"},
    {"aten.diagonal_scatter.default",
     R"(self=$x;src=$x;dim1={"as_int":0};dim2={"as_int":0})", ""},
    {"aten.max_pool2d_with_indices_backward.default",
     R"(grad_output=$x;self=$x;kernel_size={"as_ints":[1,1]};indices=$k)", "3"},
    {"aten.fft_rfftn.default", "self=$x", ""},
    {"aten.fft_irfftn.default", "self=$x", ""},
    {"aten.fft_fft.default", R"(self=$x;n={"as_int":1099511627776})", "3"},
    {"aten.tril_indices.default",
     R"(row={"as_int":9223372036854775807};col={"as_int":4})", "3"},
    {"aten.split.Tensor", R"(self=$x;split_size={"as_int":1})", "4000", "7",
     "1", R"({"as_tensors":[{"name":"y"}]})"},
    {"aten.chunk.default", R"(self=$x;chunks={"as_int":9223372036854775807})",
     "40", "7", "1", R"({"as_tensors":[{"name":"y"}]})"},
    {"aten.tensor_split.sections",
     R"(self=$x;sections={"as_int":1125899906842624})", "3", "7", "1",
     R"({"as_tensors":[{"name":"y"}]})"},
    {"aten.hsplit.int", R"(self=$x;sections={"as_int":1125899906842624})", "0",
     "7", "1", R"({"as_tensors":[{"name":"y"}]})"},
    {"aten.adaptive_max_pool1d.default",
     R"(self=$x;output_size={"as_ints":[1099511627776]})", "1,2,3"},
    {"aten.diff.default", R"(self=$x;n={"as_int":1000000})", "3"},
    {"aten.hann_window.default", R"(window_length={"as_int":268435456})", "3"},
    {"aten.logspace.default",
     R"(start={"as_float":0.0};end={"as_float":1.0};steps={"as_int":268435456})",
     "3"},
    {"aten.combinations.default",
     R"(self=$x;r={"as_int":5};with_replacement={"as_bool":true})", "85"},
    {"aten.renorm.default",
     R"(self=$x;p={"as_int":2};dim={"as_int":0};maxnorm={"as_int":1})", "3"},
    {"aten.polygamma.default", R"(n={"as_int":10000000};self=$x)", "3"},
};

TEST(Refusals, ofNumbersThatCannotBeMeant) {
  for (const Refused &each : all) {
    SCOPED_TRACE(std::string(each.target) + " of " + each.shape);
    try {
      torch_test::runOnOnes(programOf(each));
      ADD_FAILURE() << "not refused";
    } catch (const Error &error) {
      std::string target = error.message();
      EXPECT_NE(target.find(each.target), std::string::npos) << target;
    }
  }
}

/// The programs of this test are read, so that refusals are of operators.
TEST(Refusals, ofNoOtherPrograms) {
  EXPECT_TRUE(torch_test::runOnOnes(programOf(
      {"aten.movedim.intlist",
       R"(self=$x;source={"as_ints":[0,1]};destination={"as_ints":[1,0]})",
       "3,3"})));
}
