/// Models: opened from files and memory, asked for their signature.
#include "tests/unit/capi/Models.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace sinter::capi::test;
using sinter::runtime::test::fullProgram;
using sinter::runtime::test::scaleProgram;

namespace {

/// A file that is gone at the end.
class TempFile {
public:
  explicit TempFile(const std::vector<std::byte> &bytes)
      : path(std::filesystem::temp_directory_path() /
             ("sinter-capi-" + std::to_string(::getpid()) + ".sinter")) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()),
               std::streamsize(bytes.size()));
  }
  ~TempFile() { std::filesystem::remove(path); }
  const std::filesystem::path path;
};

sinter_model_options optionsFor(const char *device) {
  auto options = sized<sinter_model_options>();
  options.device = device;
  return options;
}

} // namespace

TEST(CapiModel, opensFiles) {
  TempFile file(scaleProgram().file());
  sinter_model_options options = optionsFor("cpu");
  for (int32_t check : {SINTER_CHECK_WHEN_USED, SINTER_CHECK_NOW}) {
    options.check = check;
    sinter_model *model = nullptr;
    ASSERT_OK(sinter_model_open(file.path.c_str(), &options, &model));
    auto info = sized<sinter_model_info>();
    ASSERT_OK(sinter_model_get_info(model, &info));
    EXPECT_STREQ(info.device, "cpu");
    EXPECT_EQ(info.num_entries, 1u);
    EXPECT_EQ(info.num_metadata, 0u);
    EXPECT_OK(sinter_model_close(model));
  }
}

TEST(CapiModel, saysWhatIsWrongWithAFile) {
  sinter_model *model = nullptr;
  EXPECT_FAILS(sinter_model_open("nowhere.sinter", nullptr, &model), SINTER_IO,
               "nowhere.sinter");
  EXPECT_FAILS(sinter_model_open(nullptr, nullptr, &model),
               SINTER_INVALID_ARGUMENT, "path is null");
  EXPECT_FAILS(sinter_model_open("x", nullptr, nullptr),
               SINTER_INVALID_ARGUMENT, "model is null");
  EXPECT_FAILS(sinter_model_open_memory(nullptr, 5, nullptr, &model),
               SINTER_INVALID_ARGUMENT, "data is null");
  EXPECT_FAILS(sinter_model_open_memory("12345", 5, nullptr, &model), SINTER_IO,
               "too few");
  EXPECT_FAILS(sinter_model_open_memory(nullptr, 0, nullptr, &model), SINTER_IO,
               "too few");
  sinter_model_options options = optionsFor("cpu");
  options.threads = -1;
  sinter_model *none = nullptr;
  EXPECT_FAILS(sinter_model_open_memory("", 0, &options, &none),
               SINTER_INVALID_ARGUMENT, "threads is -1");
  options = optionsFor("gpu");
  EXPECT_FAILS(sinter_model_open("x", &options, &model),
               SINTER_INVALID_ARGUMENT, "device `gpu`");
  options = optionsFor("cuda:200");
  EXPECT_FAILS(sinter_model_open("x", &options, &model), SINTER_DEVICE,
               "cuda:200");
  options = optionsFor("cpu");
  options.check = 7;
  EXPECT_FAILS(sinter_model_open("x", &options, &model),
               SINTER_INVALID_ARGUMENT, "check 7");
  options.check = 0;
  options.in_place = -1;
  EXPECT_FAILS(sinter_model_open("x", &options, &model),
               SINTER_INVALID_ARGUMENT, "in_place");
  options.in_place = 0;
  options.never_compile = 3;
  EXPECT_FAILS(sinter_model_open("x", &options, &model),
               SINTER_INVALID_ARGUMENT, "never_compile");
  options.never_compile = 1;
  options.trust = SINTER_TRUST_GRAPH;
  EXPECT_FAILS(sinter_model_open("x", &options, &model),
               SINTER_INVALID_ARGUMENT, "never_compile");
  options.trust = 3;
  EXPECT_FAILS(sinter_model_open("x", &options, &model),
               SINTER_INVALID_ARGUMENT, "trust 3");
  EXPECT_EQ(model, nullptr);
}

/// Whatever is cut off or changed, it is an error and no crash.
TEST(CapiModel, refusesBrokenFiles) {
  const std::vector<std::byte> whole = fullProgram().file();
  sinter_model_options options = optionsFor("cpu");
  sinter_model *model = nullptr;
  for (size_t size = 0; size < whole.size(); size += 97)
    EXPECT_EQ(sinter_model_open_memory(whole.data(), size, &options, &model),
              SINTER_IO);
  for (size_t at = 0; at < whole.size(); at += 61) {
    std::vector<std::byte> altered = whole;
    altered[at] ^= std::byte(0x21);
    EXPECT_EQ(sinter_model_open_memory(altered.data(), altered.size(), &options,
                                       &model),
              SINTER_IO)
        << at;
  }
  EXPECT_EQ(model, nullptr);
}

TEST(CapiModel, usesBytesInPlaceOrCopiesThem) {
  std::vector<std::byte> file = scaleProgram().file();
  size_t bytes = file.size();
  auto *block = static_cast<std::byte *>(
      std::aligned_alloc(64, (bytes + 64 + 63) / 64 * 64));
  float factor = 2;
  Host x(counting(2));
  sinter_tensor inputs[] = {x.tensor(), number(factor)};
  for (int32_t inPlace : {0, 1})
    for (size_t offset : {size_t(0), size_t(1)}) {
      std::memcpy(block + offset, file.data(), bytes);
      sinter_model_options options = optionsFor("cpu");
      options.in_place = inPlace;
      sinter_model *model = nullptr;
      sinter_session *session = nullptr;
      ASSERT_OK(
          sinter_model_open_memory(block + offset, bytes, &options, &model));
      if (!inPlace)
        std::memset(block, 0, bytes + 64);
      ASSERT_OK(sinter_session_open(model, &session));
      auto output = sized<sinter_tensor>();
      ASSERT_OK(runToViews(session, inputs, 2, &output, 1));
      EXPECT_EQ(valuesOf(output), (std::vector<float>{2, 4}));
      EXPECT_OK(sinter_session_close(session));
      EXPECT_OK(sinter_model_close(model));
    }
  std::free(block);
}

TEST(CapiModel, tellsItsSignature) {
  ProgramBuilder builder = scaleProgram();
  builder.program.outputs[0]->name = "scaled";
  Opened opened(builder);
  auto entry = sized<sinter_entry_info>();
  ASSERT_OK(sinter_model_entry(opened.model, 0, &entry));
  EXPECT_STREQ(entry.name, "main");
  EXPECT_STREQ(entry.description, "");
  EXPECT_EQ(entry.num_inputs, 2u);
  EXPECT_EQ(entry.num_outputs, 1u);

  auto port = sized<sinter_port_info>();
  ASSERT_OK(sinter_model_input(opened.model, 0, 0, &port));
  EXPECT_STREQ(port.name, "x");
  EXPECT_EQ(port.dtype, SINTER_F32);
  ASSERT_EQ(port.ndim, 1);
  EXPECT_EQ(port.dims[0], -1);
  EXPECT_STREQ(port.dim_names[0], "s0");
  EXPECT_EQ(port.is_scalar, 0);
  ASSERT_OK(sinter_model_input(opened.model, 0, 1, &port));
  EXPECT_STREQ(port.name, "scale");
  EXPECT_EQ(port.ndim, 0);
  EXPECT_EQ(port.is_scalar, 1);
  ASSERT_OK(sinter_model_output(opened.model, 0, 0, &port));
  EXPECT_STREQ(port.name, "scaled");
  EXPECT_STREQ(port.dim_names[0], "s0");

  EXPECT_FAILS(sinter_model_input(opened.model, 0, 2, &port),
               SINTER_INVALID_ARGUMENT, "no input 2");
  EXPECT_FAILS(sinter_model_output(opened.model, 0, 1, &port),
               SINTER_INVALID_ARGUMENT, "no output 1");
  EXPECT_FAILS(sinter_model_input(opened.model, 1, 0, &port),
               SINTER_INVALID_ARGUMENT, "no entry point 1");
  EXPECT_FAILS(sinter_model_entry(opened.model, 7, &entry),
               SINTER_INVALID_ARGUMENT, "no entry point 7");
  const char *key = nullptr, *value = nullptr;
  EXPECT_FAILS(sinter_model_metadata(opened.model, 0, &key, &value),
               SINTER_INVALID_ARGUMENT, "no metadata 0");
  EXPECT_FAILS(sinter_model_metadata(opened.model, 0, nullptr, &value),
               SINTER_INVALID_ARGUMENT, "key is null");
}

TEST(CapiModel, findsEntriesByName) {
  Opened opened(scaleProgram());
  uint32_t number = 9;
  ASSERT_OK(sinter_model_find_entry(opened.model, "main", &number));
  EXPECT_EQ(number, 0u);
  EXPECT_FAILS(sinter_model_find_entry(opened.model, "train\n", &number),
               SINTER_INVALID_ARGUMENT,
               "there is no entry point 'train\\x0a', only main");
  EXPECT_FAILS(sinter_model_find_entry(opened.model, nullptr, &number),
               SINTER_INVALID_ARGUMENT, "name is null");
}

/// Of another device the model can be opened, its programs cannot.
TEST(CapiModel, saysThatNoProgramFits) {
  std::vector<std::byte> file = scaleProgram().file();
  sinter_model_options options = optionsFor("null");
  sinter_model *model = nullptr;
  ASSERT_OK(
      sinter_model_open_memory(file.data(), file.size(), &options, &model));
  auto port = sized<sinter_port_info>();
  EXPECT_FAILS(sinter_model_input(model, 0, 0, &port), SINTER_UNSUPPORTED,
               "no program runs on null");
  sinter_session *session = nullptr;
  ASSERT_OK(sinter_session_open(model, &session));
  EXPECT_FAILS(sinter_session_run(session, 0, nullptr, 0, nullptr, 0, nullptr),
               SINTER_UNSUPPORTED, "no program runs on null");
  EXPECT_OK(sinter_session_close(session));
  EXPECT_OK(sinter_model_close(model));
}
