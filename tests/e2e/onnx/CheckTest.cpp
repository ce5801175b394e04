/// `sinter check` on folders that are made here: right, wrong and unsupported.
#include "runtime/files/MappedFile.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/Numerics.h"
#include "runtime/program/VerifyProgram.h"
#include "tests/unit/onnx/ModelWriter.h"
#include "tools/sinter/Command.h"
#include "tools/sinter/Model.h"
#include "tools/sinter/OnnxCases.h"

#include <sinter/Creation.h>
#include <sinter/Error.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>

#include <unistd.h>

using namespace sinter;
using namespace sinter::cli;
using namespace sinter::onnx_test;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

class OnnxCheck : public testing::Test {
protected:
  void TearDown() override { fs::remove_all(folder); }

  static void write(const fs::path &path, const Message &message) {
    std::ofstream(path, std::ios::binary) << message.bytes;
  }

  /// A case of y = OP(x) on {-1, 2}.
  void addCase(const std::string &name, const char *op,
               const std::vector<float> &want) {
    fs::path own = folder / name, data = own / "test_data_set_0";
    fs::create_directories(data);
    Message graph = Message()
                        .message(11, valueMessage("x", 1, {2}))
                        .message(12, valueMessage("y", 1, {2}))
                        .message(1, nodeMessage(op, {"x"}, {"y"}));
    write(own / "model.onnx", modelMessage(graph));
    std::vector<float> x{-1, 2};
    write(data / "input_0.pb", tensorMessage("x", 1, {2}, x));
    write(data / "output_0.pb", tensorMessage("y", 1, {2}, want));
  }

  CaseResult run(const OnnxCase &one) {
    return runOnnxCase(one, device("null"));
  }

  fs::path folder =
      fs::temp_directory_path() / ("sinter-check-" + std::to_string(getpid()));
};

} // namespace

TEST_F(OnnxCheck, tellsRightFromWrongAndUnsupported) {
  addCase("a_right", "Relu", {0, 2});
  addCase("b_wrong", "Relu", {0, 3});
  addCase("c_unknown", "Fancy", {0, 2});
  addCase("d_shape", "Relu", {0, 2, 3});
  std::vector<OnnxCase> cases = findOnnxCases(folder.string());
  ASSERT_EQ(cases.size(), 4u);
  CaseResult right = run(cases[0]), wrong = run(cases[1]),
             unknown = run(cases[2]);
  EXPECT_EQ(right.verdict, Verdict::passed) << right.why;
  EXPECT_EQ(right.op, "Relu");
  EXPECT_EQ(wrong.verdict, Verdict::failed);
  EXPECT_THAT(wrong.why, HasSubstr("output 'y': element 1 is 2, not 3"));
  EXPECT_EQ(unknown.verdict, Verdict::unsupported);
  EXPECT_THAT(unknown.why, HasSubstr("Fancy (opset 17)"));
  // Two dims for three elements is no tensor.
  EXPECT_EQ(run(cases[3]).verdict, Verdict::failed);
}

/// Files older than NumPy's floats of 16 bits and fewer hold those as integers.
TEST_F(OnnxCheck, bitsOfFloatsAreFloats) {
  for (auto [name, last] :
       {std::pair("a_right", 0x4000), {"b_wrong", 0x4040}}) {
    addCase(name, "Identity", {0, 0});
    fs::path own = folder / name, data = own / "test_data_set_0";
    Message cast = nodeMessage("Neg", {"x"}, {"y"});
    write(own / "model.onnx",
          modelMessage(Message()
                           .message(11, valueMessage("x", 16, {2}))
                           .message(12, valueMessage("y", 16, {2}))
                           .message(1, cast)));
    std::vector<uint16_t> x{0x3f80, 0xc000}, want{0xbf80, uint16_t(last)};
    write(data / "input_0.pb", tensorMessage("x", 4, {2}, x));
    write(data / "output_0.pb", tensorMessage("y", 4, {2}, want));
  }
  std::vector<OnnxCase> cases = findOnnxCases(folder.string());
  CaseResult right = run(cases[0]), wrong = run(cases[1]);
  EXPECT_EQ(right.verdict, Verdict::passed) << right.why;
  EXPECT_THAT(wrong.why, HasSubstr("element 1 is 2, not 3"));
}

TEST_F(OnnxCheck, infinityIsNearNothing) {
  float infinity = std::numeric_limits<float>::infinity();
  addCase("a_wanted", "Relu", {0, infinity});
  addCase("b_given", "Log", {std::numeric_limits<float>::quiet_NaN(), 0.6931f});
  for (const OnnxCase &one : findOnnxCases(folder.string()))
    EXPECT_EQ(run(one).verdict,
              one.id == "a_wanted" ? Verdict::failed : Verdict::passed);
}

TEST_F(OnnxCheck, casesThatCompareNothingFail) {
  addCase("a_no_output", "Relu", {0, 2});
  addCase("b_no_data", "Relu", {0, 2});
  fs::remove(folder / "a_no_output/test_data_set_0/output_0.pb");
  fs::remove_all(folder / "b_no_data/test_data_set_0");
  for (const OnnxCase &one : findOnnxCases(folder.string())) {
    CaseResult result = run(one);
    EXPECT_EQ(result.verdict, Verdict::failed) << one.id;
    EXPECT_THAT(result.why, HasSubstr("no output to compare with"));
  }
}

TEST_F(OnnxCheck, takesOperatorsAndTolerancesFromBesideTheCases) {
  addCase("one", "Relu", {0, 2.5});
  std::ofstream(folder / "index.json") << R"([{"id": "one", "op": "Other"}])";
  EXPECT_EQ(run(findOnnxCases(folder.string())[0]).op, "Other");
  std::ofstream(folder / "one/info.json") << R"({"rtol": 0, "atol": 0.5})";
  // One without a list says nothing.
  std::ofstream(folder / "index.json") << R"({"name": "cases"})";
  EXPECT_EQ(run(findOnnxCases(folder.string())[0]).op, "Relu");
  OnnxCase one = findOnnxCases((folder / "one").string())[0];
  EXPECT_EQ(run(one).verdict, Verdict::passed);
}

TEST_F(OnnxCheck, foldersWithoutCasesAreErrors) {
  EXPECT_THROW(findOnnxCases("/no/such/folder"), Error);
  fs::create_directories(folder);
  EXPECT_THROW(findOnnxCases(folder.string()), Error);
}

TEST_F(OnnxCheck, errorsBesideCasesNameTheirFile) {
  addCase("a_right", "Relu", {0, 2});
  fs::path info = folder / "a_right/info.json";
  std::ofstream(info) << R"({"atol": Infinity})";
  try {
    findOnnxCases(folder.string());
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(error.message(), HasSubstr(info.string() + ": json: "));
  }
}

//===- Every command ------------------------------------------------------===//

/// The exit code of a command, and in `said` what it prints.
static int command(const std::vector<std::string> &words, std::string &said) {
  std::vector<char *> argv;
  for (const std::string &word : words)
    argv.push_back(const_cast<char *>(word.c_str()));
  for (const Command &each : commands())
    if (words[0] == each.name) {
      testing::internal::CaptureStdout();
      testing::internal::CaptureStderr();
      int code = each.run(int(argv.size()), argv.data());
      std::fflush(stdout);
      said = testing::internal::GetCapturedStdout() +
             testing::internal::GetCapturedStderr();
      return code;
    }
  return -1;
}

TEST_F(OnnxCheck, timesWhatPasses) {
  addCase("a_right", "Relu", {0, 2});
  addCase("b_wrong", "Relu", {0, 3});
  addCase("c_unknown", "Fancy", {0, 2});
  std::string said;
  auto check = [&](const char *seconds) {
    return command(
        {"check", folder.string(), "--device", "null", "--times", seconds},
        said);
  };
  EXPECT_EQ(check("0"), exitFailed);
  EXPECT_THAT(said, testing::ContainsRegex(
                        "a_right: load [0-9.]+ ms, first run [0-9.]+ ms, later "
                        "[0-9.]+ ms .3 runs."));
  EXPECT_THAT(said, Not(HasSubstr("b_wrong: load")));
  EXPECT_THAT(said, Not(HasSubstr("c_unknown: load")));
  EXPECT_EQ(check("soon"), exitUsage);
  EXPECT_THAT(said, HasSubstr("--times needs a number of seconds, got 'soon'"));
}

TEST_F(OnnxCheck, commandsTakeModels) {
  fs::create_directories(folder);
  std::vector<float> two{2};
  write(folder / "net.onnx",
        modelMessage(Message()
                         .message(11, valueMessage("x", 1, {-1, 3}))
                         .message(12, valueMessage("y", 1, {-1, 3}))
                         .message(5, tensorMessage("w", 1, {1}, two))
                         .message(1, nodeMessage("Mul", {"x", "w"}, {"y"}))));
  std::string net = folder / "net.onnx", out = folder / "net.sinter", said;
  EXPECT_EQ(command({"inspect", net}, said), exitOk) << said;
  EXPECT_THAT(said, HasSubstr("input x: f32[s1,3]\noutput y: f32[s1,3]\n"
                              "1 nodes:\n      1 Mul\n1 initializers, 1 "
                              "elements, 4 bytes\n0 nodes are not supported"));
  EXPECT_EQ(command({"compile", net, "-o", out}, said), exitOk) << said;
  EXPECT_EQ(command({"inspect", out}, said), exitOk) << said;
  EXPECT_THAT(said, HasSubstr("input x: f32[s1,3]"));
  EXPECT_THAT(said, HasSubstr("weight w: f32[1]"));
  EXPECT_EQ(
      command({"run", net, "--random-inputs", "1", "--size", "s1=5"}, said),
      exitOk)
      << said;
  EXPECT_THAT(said, HasSubstr("y: f32[5,3]"));
  EXPECT_EQ(command({"run", net, "--size", "s2=5"}, said), exitFailed);
  EXPECT_THAT(said, HasSubstr("--size s2: no open axis has that name"));
}

/// An input or output of f32 whose axes have these names.
static Message openMessage(std::string_view name,
                           std::initializer_list<std::string_view> axes) {
  Message shape, tensor, kind, value;
  for (std::string_view axis : axes)
    shape.message(1, Message().text(2, axis));
  tensor.integer(1, 1).message(2, shape);
  kind.message(1, tensor);
  return value.text(1, name).message(2, kind);
}

/// Names that are no words, the same name at axes of several numbers, none, and
/// sizes that a window has to fit into.
TEST_F(OnnxCheck, openAxesHaveAnyNames) {
  fs::create_directories(folder);
  std::string net = folder / "net.onnx", out = folder / "net.sinter", said;
  Message product = nodeMessage("MatMul", {"x", "z"}, {"y"});
  write(net, modelMessage(Message()
                              .message(11, openMessage("x", {"n.0", "k/1"}))
                              .message(11, openMessage("z", {"k/1", "n.0"}))
                              .message(12, openMessage("y", {"n.0", "n.0"}))
                              .message(1, product)));
  EXPECT_EQ(command({"compile", net, "-o", out}, said), exitOk) << said;
  EXPECT_EQ(command({"inspect", out}, said), exitOk) << said;
  EXPECT_THAT(said, HasSubstr("input x: f32[n_0,k_1]"));
  EXPECT_THAT(said, HasSubstr("input z: f32[k_1,n_0]"));
  for (const char *size : {"k/1=7", "k_1=7"}) {
    EXPECT_EQ(command({"compile", net, "-o", out, "--size", size}, said),
              exitOk)
        << said;
    EXPECT_EQ(command({"inspect", out}, said), exitOk) << said;
    EXPECT_THAT(said, HasSubstr("input x: f32[n_0,7]"));
  }

  Message pool = nodeMessage("MaxPool", {"x"}, {"y"},
                             {attributeMessage("kernel_shape", {1, 200})});
  write(net,
        modelMessage(Message()
                         .message(11, openMessage("x", {"?", "?", "?", "?"}))
                         .message(12, openMessage("y", {"?", "?", "?", "?"}))
                         .message(1, pool)));
  EXPECT_EQ(command({"compile", net, "-o", out, "--size", "x.1=3"}, said),
            exitOk)
      << said;
  EXPECT_EQ(command({"inspect", out}, said), exitOk) << said;
  EXPECT_THAT(said, HasSubstr("input x: f32[x_0,3,x_2,x_3]"));
}

/// Every command compiles a model as its flags say.
TEST_F(OnnxCheck, modelsAreCompiledAsAsked) {
  addCase("net", "Relu", {0, 2});
  std::string net = folder / "net/model.onnx";
  constexpr Flag known[] = {targetFlag, numericsFlag, fusionFlag};
  const Interface interface{"test MODEL", "", "", known, 1, 1};
  auto programOf = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"test", net});
    std::vector<char *> argv;
    for (std::string &word : words)
      argv.push_back(word.data());
    Arguments arguments(int(argv.size()), argv.data(), interface);
    auto model = readModelFile(net, arguments);
    if (!model)
      throw Error(model.error());
    auto mapped = runtime::MappedFile::open(model->path);
    auto file = runtime::readModel(mapped->bytes());
    return *runtime::verifyProgram(*file, 0);
  };
  EXPECT_EQ(programOf({}).numerics, *runtime::parseNumerics("", "default"));
  EXPECT_EQ(programOf({"--numerics", "exact"}).numerics,
            *runtime::parseNumerics("", "exact"));
  EXPECT_EQ(programOf({}).target, "cpu");
  EXPECT_EQ(programOf({"--target", "vulkan"}).target, "vulkan");
}

/// Inputs of dtypes that are stored and not computed with.
TEST_F(OnnxCheck, commandsTakeStoredTypes) {
  fs::create_directories(folder);
  std::string net = folder / "net.onnx", out = folder / "net.sinter", said;
  for (auto [type, name] : {std::pair(19, "f8e5m2"), std::pair(22, "i4")}) {
    Message cast =
        nodeMessage("Cast", {"x"}, {"y"}, {attributeMessage("to", int64_t(1))});
    write(net, modelMessage(Message()
                                .message(11, valueMessage("x", type, {-1, 3}))
                                .message(12, valueMessage("y", 1, {-1, 3}))
                                .message(1, cast),
                            24));
    EXPECT_EQ(command({"compile", net, "-o", out}, said), exitOk) << said;
    EXPECT_EQ(command({"inspect", out}, said), exitOk) << said;
    EXPECT_THAT(said, HasSubstr("input x: " + std::string(name) + "[s1,3]"));
  }
}

/// A file of several programs, as values decide sizes in it, is run, measured
/// and told about as any other.
TEST_F(OnnxCheck, commandsRunEveryProgramOfAFile) {
  fs::create_directories(folder);
  std::string net = folder / "net.onnx", out = folder / "net.sinter", said;
  Message found = valueMessage("y", 7, {1, -1});
  write(net,
        modelMessage(Message()
                         .message(11, valueMessage("x", 1, {6}))
                         .message(12, found)
                         .message(1, nodeMessage("Relu", {"x"}, {"r"}))
                         .message(1, nodeMessage("NonZero", {"r"}, {"y"}))));
  EXPECT_EQ(command({"compile", net, "-o", out}, said), exitOk) << said;
  for (const std::string &model : {net, out}) {
    std::vector<std::string> head{"run", model, "--random-inputs", "1"};
    auto with = [&](std::vector<std::string> more) {
      more.insert(more.begin(), head.begin(), head.end());
      return command(more, said);
    };
    EXPECT_EQ(with({}), exitOk) << said;
    EXPECT_THAT(said, testing::ContainsRegex(R"(y: i64.1,[1-6]])"));
    EXPECT_EQ(with({"--repeat", "3", "--json"}), exitOk) << said;
    // One launch finds what is counted, one takes it.
    EXPECT_THAT(said, testing::ContainsRegex(R"("launches": [2-9])"));
    EXPECT_EQ(with({"--memory"}), exitOk) << said;
    size_t first = said.find("peak ");
    ASSERT_NE(first, said.npos) << said;
    EXPECT_NE(said.find("peak ", first + 1), said.npos) << said;
    EXPECT_EQ(command({"bench", model, "--seconds", "0", "--json"}, said),
              exitOk);
    EXPECT_THAT(said, testing::ContainsRegex(R"("launches": [2-9])"));
    EXPECT_EQ(command({"profile", model, "--repeat", "2"}, said), exitOk);
    EXPECT_THAT(said, HasSubstr("sort_")) << said;
  }
}

TEST_F(OnnxCheck, inspectNamesWhatIsUnsupported) {
  addCase("a", "Fancy", {0, 2});
  std::string said;
  EXPECT_EQ(command({"inspect", folder / "a/model.onnx"}, said), exitOk);
  EXPECT_THAT(said,
              HasSubstr("1 nodes are not supported:\n  Fancy (opset 17)"));
}
