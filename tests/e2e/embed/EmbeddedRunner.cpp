#include "tests/e2e/embed/EmbeddedRunner.h"

#include "tests/e2e/export/FileRunner.h"
#include "tests/e2e/export/ShellRun.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <numeric>
#include <string_view>

namespace sinter::test {

static constexpr size_t alignment = 64;

EmbeddedRunner::EmbeddedRunner(const std::filesystem::path &path,
                               const std::string &flags)
    : folder(path.parent_path()) {
  std::string name = path.stem();
  std::string object = name + ".o", image = "./" + name + ".so";
  runIn(folder,
        SINTER_TOOL " embed " + path.string() + " -o " + object + " " + flags);
  // What the object has of its own is all that is in the library.
  runIn(folder, SINTER_C_COMPILER " -shared -nostdlib -Wl,-z,defs -o " + image +
                    " " + object);
  library = ::dlopen((folder / image).c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_TRUE(library) << ::dlerror();
  embedded = static_cast<const sinter_embedded *>(
      library ? ::dlsym(library, (name + "_model").c_str()) : nullptr);
  EXPECT_TRUE(embedded);
  size_t bytes = sinter_embedded_memory(embedded);
  EXPECT_GT(bytes, 0u);
  memory.reset(std::aligned_alloc(alignment, (bytes + alignment - 1) /
                                                 alignment * alignment));
  // What a session does not set itself is not zero.
  std::fill_n(static_cast<char *>(memory.get()), bytes, char(0xA5));
  EXPECT_EQ(
      sinter_embedded_open(embedded, memory.get(), bytes, nullptr, &opened),
      SINTER_OK);
  sinter_model_options options{};
  options.struct_size = sizeof options;
  options.device = "cpu";
  EXPECT_EQ(sinter_model_open(path.c_str(), &options, &file), SINTER_OK)
      << sinter_last_error();
  EXPECT_EQ(sinter_session_open(file, &session_of_file), SINTER_OK)
      << sinter_last_error();
}

EmbeddedRunner::~EmbeddedRunner() {
  sinter_session_close(session_of_file);
  sinter_model_close(file);
  if (library)
    ::dlclose(library);
}

static std::string_view bytesOf(const sinter_tensor &tensor) {
  size_t count = std::accumulate(tensor.dims, tensor.dims + tensor.ndim,
                                 size_t(1), std::multiplies<>());
  return {static_cast<const char *>(tensor.data),
          count * byteWidth(DType(tensor.dtype))};
}

static sinter_tensor emptyTensor() {
  sinter_tensor tensor{};
  tensor.struct_size = sizeof tensor;
  return tensor;
}

void EmbeddedRunner::compareOutputs(uint32_t entry) {
  sinter_entry_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(sinter_model_entry(file, entry, &info), SINTER_OK);
  for (uint32_t i = 0; i < info.num_outputs; ++i) {
    sinter_tensor expected = emptyTensor();
    ASSERT_EQ(sinter_session_output(session_of_file, entry, i, &expected),
              SINTER_OK)
        << sinter_last_error();
    const void *got = sinter_embedded_output(opened, entry, i);
    ASSERT_TRUE(got);
    std::string_view bytes = bytesOf(expected);
    EXPECT_EQ(bytes,
              std::string_view(static_cast<const char *>(got), bytes.size()))
        << "output " << i;
  }
  EXPECT_FALSE(sinter_embedded_output(opened, entry, info.num_outputs));
}

void EmbeddedRunner::compareStates() {
  sinter_model_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(sinter_model_get_info(file, &info), SINTER_OK);
  for (uint32_t i = 0; i < info.num_states; ++i) {
    sinter_tensor expected = emptyTensor();
    ASSERT_EQ(sinter_session_state(session_of_file, i, &expected), SINTER_OK);
    std::string_view bytes = bytesOf(expected);
    const void *got = sinter_embedded_state(opened, i);
    ASSERT_TRUE(got);
    EXPECT_EQ(bytes,
              std::string_view(static_cast<const char *>(got), bytes.size()))
        << "state " << i;
  }
}

void EmbeddedRunner::runBoth(const std::string &name,
                             const std::vector<Tensor> &inputs) {
  uint32_t entry = 0;
  ASSERT_EQ(sinter_model_find_entry(file, name.c_str(), &entry), SINTER_OK)
      << sinter_last_error();
  std::vector<Value> values;
  for (const Tensor &input : inputs)
    values.push_back(valueOf(input));
  std::vector<sinter_tensor> tensors;
  std::vector<const void *> pointers;
  for (Value &value : values) {
    sinter_tensor tensor = emptyTensor();
    tensor.data = value.bytes.data();
    tensor.dtype = sinter_dtype(value.dtype);
    tensor.ndim = int32_t(value.dims.size());
    tensor.dims = value.dims.data();
    tensors.push_back(tensor);
    pointers.push_back(value.bytes.data());
  }
  sinter_status expected =
      sinter_session_run(session_of_file, entry, tensors.data(), tensors.size(),
                         nullptr, 0, nullptr);
  ASSERT_EQ(sinter_embedded_run(opened, entry, pointers.data(), nullptr),
            expected)
      << sinter_last_error() << " | " << sinter_embedded_error(opened);
  if (expected == SINTER_OK)
    compareOutputs(entry);
  compareStates();
}

} // namespace sinter::test
