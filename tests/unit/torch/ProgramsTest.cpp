/// Programs of torch.export: what the module is, and what goes wrong.
#include "frontend/import/torch/Operators.h"
#include "tests/unit/torch/ProgramMutator.h"
#include "tests/unit/torch/RunOnOnes.h"

#include "runtime/files/MappedFile.h"
#include "runtime/params/Zip.h"

#include <sinter/BasicOps.h>
#include <sinter/Error.h>
#include <sinter/Weights.h>
#include <sinter/optim/Sgd.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace sinter;
namespace fs = std::filesystem;

static const fs::path cases = SINTER_TORCH_CASES;

static std::string pathOf(const char *name) {
  return (cases / name / "model.pt2").string();
}

static std::string messageOf(const std::function<void()> &work) {
  try {
    work();
  } catch (const Error &error) {
    return error.message();
  }
  return "";
}

TEST(Program, isAModule) {
  torch::Model model = torch::load(pathOf("tied_weights"));
  EXPECT_GT(model.num_params(), 0);
  ASSERT_EQ(model.inputs().size(), 1u);
  torch::Model copy = model;
  detail::Fields fields = detail::fieldsOf(model);
  ASSERT_FALSE(fields.params.empty());
  // Tied weights are one parameter under two names.
  bool isTied = false;
  for (const auto &[path, param] : fields.params)
    for (const auto &[other, same] : fields.params)
      isTied |= path != other && param->cell() == same->cell();
  EXPECT_TRUE(isTied);
  model.require_grad(false);
  EXPECT_TRUE(detail::fieldsOf(copy).params[0].value->requires_grad());
}

TEST(Program, isSavedAndLoaded) {
  torch::Model model = torch::load(pathOf("conv2d"));
  std::string file = ::testing::TempDir() + "/program.safetensors";
  model.save(file);
  torch::Model other = torch::load(pathOf("conv2d"));
  EXPECT_TRUE(load_state(other, file).complete());
}

TEST(Program, inputsAreChecked) {
  torch::Model model = torch::load(pathOf("derived_sizes"));
  std::string why = messageOf([&] { model.run({}); });
  EXPECT_NE(why.find("is missing"), std::string::npos) << why;
  torch::NamedTensors inputs;
  for (const torch::ValueInfo &info : model.inputs())
    inputs[info.name] =
        zeros(Dims(info.shape.size(), Dim(4)), {info.dtype, {}});
  why = messageOf([&] { model.run(inputs); });
  EXPECT_NE(why.find("but "), std::string::npos) << why;
  inputs["none"] = zeros({1});
  why = messageOf([&] { model.run(inputs); });
  EXPECT_NE(why.find("no input 'none'"), std::string::npos) << why;
}

TEST(Program, unknownOperatorsAreListedWhenLoaded) {
  std::string why = messageOf([] { torch::load(pathOf("custom_operator")); });
  EXPECT_NE(why.find("operators that are not supported"), std::string::npos);
  EXPECT_NE(why.find(".py:"), std::string::npos) << why;
}

TEST(Program, everyRowIsNamedOnce) {
  auto rows = torch::operators();
  for (size_t i = 1; i < rows.size(); ++i)
    EXPECT_STRNE(rows[i - 1].name, rows[i].name);
}

TEST(Program, pageOfOperatorsIsUpToDate) {
  std::ifstream file(SINTER_TORCH_PAGE);
  std::stringstream text;
  text << file.rdbuf();
  if (std::getenv("SINTER_WRITE_PAGES"))
    std::ofstream(SINTER_TORCH_PAGE) << torch::operatorsPage();
  EXPECT_TRUE(text.str() == torch::operatorsPage())
      << "SINTER_WRITE_PAGES=1 torch-test writes it";
}

//===- Damaged and altered files ------------------------------------------===//

static std::vector<std::byte> bytesOf(const std::string &path) {
  auto file = runtime::MappedFile::open(path);
  std::span<const std::byte> bytes = file->bytes();
  return {bytes.begin(), bytes.end()};
}

/// A cut or altered byte is an Error, or does not matter.
TEST(Program, damagedFilesAreRefused) {
  for (const char *name : {"tied_weights", "weight_views_2_8",
                           "weight_views_2_6", "tensor_constants"}) {
    std::vector<std::byte> bytes = bytesOf(pathOf(name));
    ASSERT_NO_THROW(torch::load(std::span<const std::byte>(bytes)));
    for (size_t size = 0; size < bytes.size(); size += 97)
      EXPECT_THROW(torch::load(std::span<const std::byte>(bytes).first(size)),
                   Error)
          << name << " " << size;
    for (size_t at = 0; at < bytes.size(); at += 13) {
      std::vector<std::byte> altered = bytes;
      altered[at] ^= std::byte{0x55};
      try {
        torch::load(std::span<const std::byte>(altered));
      } catch (const Error &error) {
        EXPECT_FALSE(error.message().empty());
      }
    }
  }
}

static std::string programOf(const std::string &path) {
  std::vector<std::byte> bytes = bytesOf(path);
  auto zip = runtime::ZipArchive::parse(bytes);
  for (const runtime::ZipEntry &each : zip->entries())
    if (each.name.ends_with("models/model.json") ||
        each.name == "serialized_exported_program.json") {
      auto text = zip->read(each);
      return {reinterpret_cast<const char *>(text->data()), text->size()};
    }
  return "";
}

static std::vector<std::string> programsOfCases() {
  std::vector<std::string> programs;
  for (const auto &entry : fs::directory_iterator(cases))
    programs.push_back(programOf((entry.path() / "model.pt2").string()));
  std::ranges::sort(programs);
  return programs;
}

/// What a program with the first `from` after `after` as `to` says.
static std::string messageOfChanged(std::string program,
                                    const std::string &after,
                                    const std::string &from,
                                    const std::string &to) {
  size_t at = program.find(from, program.find(after));
  EXPECT_NE(at, program.npos) << after;
  program.replace(at, from.size(), to);
  return messageOf([&] { torch_test::runOnOnes(program); });
}

/// Older releases write of the states of an LSTM that they have an axis more
/// than they have; what else does not fit is refused as anywhere.
TEST(Program, misstatedStatesAreReadAsTheyAre) {
  std::string program = programOf(pathOf("lstm_states_of_2_11"));
  EXPECT_EQ(messageOf([&] { torch_test::runOnOnes(program); }), "");
  auto changed = [&](const char *value, const char *from, const char *to) {
    return messageOfChanged(
        program, std::string("\"") + value + "\": {\"dtype\"", from, to);
  };
  const char *states = "{\"as_int\": 4}], \"requires_grad\"";
  const char *more = "{\"as_int\": 5}], \"requires_grad\"";
  std::string why = changed("getitem_1", states, more);
  EXPECT_NE(why.find("the file says f32[1,1,s33,5]"), why.npos) << why;
  why = changed("getitem_1", "{\"as_int\": 1}, {\"as_int\": 1}",
                "{\"as_int\": 1}, {\"as_int\": 2}");
  EXPECT_NE(why.find("the file says f32[1,2,s33,4]"), why.npos) << why;
  // Of what follows from a state the dtype is held to.
  why = changed("select", "\"dtype\": 7", "\"dtype\": 8");
  EXPECT_NE(why.find("the file says f64[1,s33,4]"), why.npos) << why;
  // What does not follow from one is as ever.
  why = changed("getitem", states, more);
  EXPECT_NE(why.find("the file says f32["), why.npos) << why;
}

TEST(Program, alteredOnesAreRefusedOrRecorded) {
  std::vector<std::string> programs = programsOfCases();
  ASSERT_FALSE(programs.empty());
  const char *text = std::getenv("SINTER_TEST_SEEDS");
  uint64_t count = text ? std::strtoull(text, nullptr, 10) : 3000;
  size_t recorded = 0;
  for (uint64_t seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(seed);
    std::string altered = torch_test::mutateProgram(
        programs[size_t(seed % programs.size())], seed);
    try {
      recorded += torch_test::runOnOnes(altered);
    } catch (const Error &error) {
      EXPECT_FALSE(error.message().empty());
    }
  }
  EXPECT_GT(recorded, count / 20);
}
