/// Archives whose parts do not fit each other.
#include "frontend/import/torch/Archive.h"
#include "frontend/import/torch/ReadRecords.h"
#include "runtime/files/MappedFile.h"
#include "runtime/params/Zip.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

using namespace sinter;
using namespace sinter::runtime;

static std::span<const std::byte> bytesOf(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// An archive with one weight, which is described by `meta`.
static Result<torch::Archive> archiveOf(const std::string &meta,
                                        size_t storageBytes = 24,
                                        std::string order = "little") {
  std::string program =
      R"({"graph_module": {"graph": {"inputs": [], "outputs": [], "nodes": []},)"
      R"( "signature": {"input_specs": [], "output_specs": []}},)"
      R"( "schema_version": {"major": 8, "minor": 20}})";
  std::string weights =
      R"({"config": {"w": {"path_name": "weight_0", "is_param": true,)"
      R"( "use_pickle": false, "tensor_meta": )" +
      meta + "}}}";
  std::string none = R"({"config": {}})", kind = "pt2";
  std::vector<std::byte> storage(storageBytes, std::byte{1});
  ZipWriter writer;
  auto add = [&](const char *name, std::span<const std::byte> bytes) {
    EXPECT_TRUE(writer.add(name, {&bytes, 1}, ZipMethod::stored).ok());
  };
  add("m/archive_format", bytesOf(kind));
  add("m/byteorder", bytesOf(order));
  add("m/models/model.json", bytesOf(program));
  add("m/data/weights/model_weights_config.json", bytesOf(weights));
  add("m/data/constants/model_constants_config.json", bytesOf(none));
  add("m/data/weights/weight_0", storage);
  std::string path = ::testing::TempDir() + "/archive.pt2";
  EXPECT_TRUE(writer.write(path).ok());
  static std::optional<MappedFile> file;
  file.emplace(*MappedFile::open(path));
  return torch::readArchive(file->bytes(), true);
}

static std::string metaOf(const std::string &sizes, const std::string &strides,
                          const std::string &offset = "0",
                          const std::string &dtype = "7") {
  auto list = [](const std::string &numbers) {
    std::string all = "[";
    for (size_t at = 0; at < numbers.size();) {
      size_t end = std::min(numbers.find(' ', at), numbers.size());
      all += (all.size() > 1 ? ", " : "") +
             ("{\"as_int\": " + numbers.substr(at, end - at) + "}");
      at = end + 1;
    }
    return all + "]";
  };
  return "{\"dtype\": " + dtype + ", \"sizes\": " + list(sizes) +
         ", \"strides\": " + list(strides) +
         ", \"storage_offset\": {\"as_int\": " + offset +
         "}, \"layout\": 7, \"requires_grad\": true, \"device\": {\"type\": "
         "\"cpu\", \"index\": null}}";
}

TEST(Archive, viewsOfStoragesAreMadeDense) {
  auto dense = archiveOf(metaOf("2 3", "3 1"));
  ASSERT_TRUE(dense.ok());
  EXPECT_EQ(dense->weights.at("w").bytes.size(), 24u);
  EXPECT_FALSE(dense->weights.at("w").own);
  auto turned = archiveOf(metaOf("3 2", "1 3"));
  ASSERT_TRUE(turned.ok());
  EXPECT_TRUE(turned->weights.at("w").own);
  auto wide = archiveOf(metaOf("4 3", "0 1"));
  ASSERT_TRUE(wide.ok());
  EXPECT_EQ(wide->weights.at("w").bytes.size(), 48u);
  auto none = archiveOf(metaOf("0 3", "3 1"), 0);
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->weights.at("w").bytes.empty());
}

TEST(Archive, whatDoesNotFitIsRefused) {
  const std::string metas[] = {
      metaOf("2 4", "4 1"),
      metaOf("2 3", "3 1", "1"),
      metaOf("2 3", "3 1", "-1"),
      metaOf("2 3", "3"),
      metaOf("-2 3", "3 1"),
      metaOf("2 3", "-3 1"),
      metaOf("4611686018427387904 4", "4 1"),
      metaOf("4611686018427387904 4", "0 0"),
      metaOf("2 3", "9223372036854775807 1"),
      metaOf("2 3", "3 1", "9223372036854775807"),
      metaOf("2 3", "3 1", "0", "9"),
      metaOf("2 3", "3 1", "0", "99"),
      "null",
      "{}",
      "[]",
  };
  for (const std::string &meta : metas) {
    auto archive = archiveOf(meta);
    bool isLeftOut = archive.ok() && archive->weights.empty();
    EXPECT_TRUE(!archive.ok() || isLeftOut || meta == "{}") << meta;
  }
}

TEST(Archive, valuesThatWouldBeMisreadAreRefused) {
  EXPECT_FALSE(archiveOf(metaOf("2 3", "3 1"), 24, "big").ok());
  // A bool is 0 or 1; the storage is of 1s.
  EXPECT_TRUE(archiveOf(metaOf("24", "1", "0", "12")).ok());
  std::string place = metaOf("2 3", "3 1");
  std::string open = R"("storage_offset": {"as_expr": {"expr_str": "s0"}})";
  place.replace(place.find("\"storage_offset\""),
                std::string(R"("storage_offset": {"as_int": 0})").size(), open);
  EXPECT_FALSE(archiveOf(place).ok());
  // As many elements as no storage has.
  EXPECT_FALSE(archiveOf(metaOf("2147483647 6", "0 1")).ok());
}

TEST(Archive, linesOfPythonAreTheUsers) {
  auto program = torch::readProgram(
      R"({"graph_module": {"graph": {"nodes": [{"target": "t", "metadata": )"
      R"({"stack_trace": "File \"models/net.py\", line 7, in forward\n  x\n)"
      R"(File \"/lib/site-packages/torch/nn/modules/conv.py\", line 5, in f\n)"
      R"(File \"<eval_with_key>.3\", line 8, in forward"}}]}}})");
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->graph.nodes[0].line.file, "models/net.py");
  EXPECT_EQ(program->graph.nodes[0].line.line, 7u);
}

TEST(Archive, numbersOfJsonAreReadAsTheyAre) {
  for (const char *infinity : {"Infinity", "\"Infinity\""}) {
    auto program = torch::readProgram(
        std::string(R"({"graph_module": {"graph": {"nodes": [{"target": "t",)"
                    R"( "inputs": [{"name": "a", "arg": {"as_float": -)") +
        "1.5}}, {\"name\": \"b\", \"arg\": {\"as_float\": " + infinity +
        "}}]}]}}, \"unknown\": NaN}");
    ASSERT_TRUE(program.ok()) << program.error().message;
    const auto &inputs = program->graph.nodes[0].inputs;
    EXPECT_EQ(inputs[0].value.real, -1.5);
    EXPECT_EQ(inputs[1].value.real, std::numeric_limits<double>::infinity());
  }
  EXPECT_FALSE(torch::readProgram("").ok());
  EXPECT_FALSE(torch::readProgram("[]").ok());
  EXPECT_FALSE(torch::readProgram("{} x").ok());
  EXPECT_FALSE(
      torch::readProgram(R"({"schema_version": {"major": 8.5}})").ok());
  EXPECT_FALSE(torch::readProgram(
                   R"({"schema_version": {"major": 9223372036854775808}})")
                   .ok());
  EXPECT_TRUE(torch::readProgram(R"({"unknown": [1, {"a": null}]})").ok());
}
