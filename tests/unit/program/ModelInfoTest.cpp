/// Entry points, weights and state of a file: what is written is read, and
/// what does not fit is refused.
#include "runtime/program/LoadedProgram.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/VerifyModel.h"
#include "tests/unit/program/ModelBuilder.h"

#include <cstring>
#include <functional>
#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

namespace {

Device &cpu() { return **getDevice({DeviceKind::cpu, 0}); }

ModelInfo infoOf(const std::vector<std::byte> &file) {
  auto model = readModel(file);
  EXPECT_TRUE(model) << model.error().message;
  auto info = readModelInfo(*model);
  EXPECT_TRUE(info) << info.error().message;
  return info ? *info : ModelInfo();
}

/// Why a changed model is not written: the writer checks as a reader does.
std::string refusal(const std::function<void(ModelBuilder &)> &change) {
  ModelBuilder b = smallModel();
  change(b);
  auto file = b.writer().finish();
  return file ? "" : file.error().message;
}

} // namespace

TEST(ModelInfo, isReadAsItWasWritten) {
  ModelBuilder b = smallModel();
  std::vector<std::byte> file = b.file();
  EXPECT_EQ(file, smallModel().file()) << "the same contents, the same bytes";
  ModelInfo info = infoOf(file);
  EXPECT_EQ(info.entries, b.info.entries);
  EXPECT_EQ(info.states, b.info.states);
  EXPECT_EQ(info.metadata, b.info.metadata);
  ASSERT_EQ(info.tensors.size(), 4u);
  EXPECT_EQ(info.numWeights(), 3u);
  EXPECT_EQ(info.findEntry("train"), 1);
  EXPECT_EQ(info.findEntry("nothing"), -1);
  EXPECT_EQ(info.entries[0].findInput("x"), 0);
  EXPECT_EQ(info.entries[0].findInput("weight"), -1) << "not given";
}

TEST(ModelInfo, equalTensorsAreStoredOnceAndZerosNotAtAll) {
  ModelInfo info = infoOf(smallModel().file());
  EXPECT_EQ(info.tensors[0].offset, info.tensors[1].offset);
  EXPECT_EQ(info.tensors[2].offset, 256u);
  EXPECT_FALSE(info.tensors[2].zeros);
  EXPECT_TRUE(info.tensors[3].zeros);
  auto model = *readModel(smallModel().file());
  EXPECT_EQ(model.find(SectionKind::weights)->bytes.size(), 256u + 12);
}

TEST(ModelInfo, everyEntryHasItsProgramGraphAndLines) {
  auto file = std::make_shared<const FileBytes>(
      *FileBytes::copyOf(smallModel().file()));
  const char *names[] = {"x", "x", "x"};
  size_t inputs[] = {3, 3, 5};
  for (uint32_t entry = 0; entry < 3; ++entry) {
    auto program = loadEntry(file, entry, cpu());
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_EQ((*program)->inputs().size(), inputs[entry]);
    EXPECT_EQ((*program)->inputs()[0].name, names[entry]);
    EXPECT_EQ((*program)->graphText(), smallModel().graphs[entry]);
  }
  EXPECT_EQ((*loadEntry(file, 2, cpu()))->siteOf(0), "c.cpp:1");
  auto none = loadEntry(file, 3, cpu());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "model file: entry 3 of 3");
}

TEST(ModelInfo, drawsDependOnDims) {
  ModelInfo info = infoOf(smallModel().file());
  auto draws = randomDraws(
      info.entries[2], std::vector<std::vector<int64_t>>{{29}, {}, {}, {}, {}});
  ASSERT_TRUE(draws);
  EXPECT_EQ(draws->total, 8u);
  EXPECT_EQ(draws->offsets, std::vector<uint64_t>(5));
  EXPECT_EQ(randomDraws(info.entries[0], {})->total, 0u);
  EXPECT_FALSE(randomDraws(info.entries[2], {}));
  EXPECT_FALSE(randomDraws(info.entries[2], std::vector<std::vector<int64_t>>{
                                                {-29}, {}, {}, {}, {}}));
  // What is drawn begins among what is drawn in all.
  info.entries[2].exprs[3].value = 8;
  std::vector<std::vector<int64_t>> dims = {{29}, {}, {}, {}, {}};
  EXPECT_EQ(randomDraws(info.entries[2], dims)->offsets[4], 8u);
  info.entries[2].exprs[3].value = 9;
  EXPECT_FALSE(randomDraws(info.entries[2], dims));
}

TEST(ModelInfo, aFileWithoutModelHasOneEntry) {
  ModelInfo info = infoOf(fullProgram().file());
  ASSERT_EQ(info.entries.size(), 1u);
  EXPECT_EQ(info.entries[0].name, "main");
  EXPECT_EQ(info.entries[0].inputs[1].name, "factor");
  EXPECT_EQ(info.entries[0].inputs[1].kind, SlotKind::given);
  EXPECT_EQ(info.entries[0].outputs[1].name, "output1");
  EXPECT_TRUE(info.tensors.empty());
}

TEST(ModelInfo, namesAreUniqueAndPlain) {
  EXPECT_EQ(refusal([](auto &b) { b.info.entries[1].name = "predict"; }),
            "model file: two of the entries are named 'predict'");
  EXPECT_EQ(refusal([](auto &b) { b.info.tensors[1].name = "weight"; }),
            "model file: two of the tensors are named 'weight'");
  EXPECT_EQ(refusal([](auto &b) { b.info.tensors[1].name = "a\nb"; }),
            "model file: the name of a tensor 'a\\x0ab' is too long or holds "
            "control characters");
  EXPECT_EQ(refusal([](auto &b) { b.info.entries[0].outputs[0].name = ""; }),
            "model file: the outputs has no name");
  EXPECT_EQ(refusal([](auto &b) { b.info.entries[2].inputs[1].name = "x"; }),
            "model file: two of the given inputs are named 'x'");
  EXPECT_EQ(refusal([](auto &b) {
              std::swap(b.info.metadata[0], b.info.metadata[1]);
            }),
            "model file: the metadata's keys are not in order");
}

/// The same of an entry with a part.
static std::string
refusalOfParts(const std::function<void(ModelBuilder &)> &change) {
  ModelBuilder b = partsModel();
  change(b);
  auto file = b.writer().finish();
  return file ? "" : file.error().message;
}

TEST(ModelInfo, partsComeLastAndPassValuesOn) {
  ModelInfo info = infoOf(partsModel().file());
  EXPECT_EQ(info.numPublic(), 1u);
  EXPECT_EQ(info.entries[0].inputs[2].count, 1);
  EXPECT_EQ(info.findEntry("main.part0"), -1) << "no caller's";
  auto entryOf = [](ModelBuilder &b) -> EntryPoint & {
    return b.info.entries[0];
  };
  const std::string passed = "model file: an input of entry 'main' is passed ";
  EXPECT_EQ(refusalOfParts([&](auto &b) { entryOf(b).inputs[2].number = 2; }),
            passed + "value 2, counted by 1, of 2");
  EXPECT_EQ(refusalOfParts([&](auto &b) { entryOf(b).inputs[2].count = 2; }),
            passed + "value 0, counted by 2, of 2");
  EXPECT_EQ(refusalOfParts([&](auto &b) { entryOf(b).inputs[0].count = 0; }),
            passed + "value 0, counted by 0, of 2");
  EXPECT_EQ(refusalOfParts([&](auto &b) { entryOf(b).parts = {}; }),
            passed + "value 0, counted by 1, of 0");
  for (std::vector<uint32_t> parts :
       {std::vector<uint32_t>{0}, {2}, {1, 1}, {~0u}})
    EXPECT_EQ(refusalOfParts([&](auto &b) { entryOf(b).parts = parts; }),
              "model file: entry 'main' has part " +
                  std::to_string(parts.back()) + " of 2");
  EXPECT_EQ(refusalOfParts([](auto &b) {
              b.info.entries.push_back(b.info.entries[0]);
              b.info.entries[2].name = "other";
            }),
            "model file: entry 'other' has part 1 of 3");
  EXPECT_EQ(refusalOfParts([](auto &b) { b.info.entries[1].parts = {1}; }),
            "model file: entry 'main.part0' has part 1 of 2");
  EXPECT_EQ(refusalOfParts(
                [](auto &b) { b.info.entries[1].inputs[0].name = "another"; }),
            "model file: part 'main.part0' of entry 'main' has parts, draws, "
            "changes state, or is given something else");
}

TEST(ModelInfo, typesFitThePrograms) {
  EXPECT_EQ(refusal([](auto &b) { b.info.tensors[0].dims = {2, 4}; }),
            "model file: entry 'predict': input 2 is f32[8], tensor 'weight' "
            "is f32[2,4]");
  EXPECT_EQ(refusal([](auto &b) { b.info.tensors[0].dtype = DType::i32; }),
            "model file: entry 'predict': input 2 is f32[8], tensor 'weight' "
            "is i32[8]");
  EXPECT_EQ(refusal([](auto &b) {
              b.info.entries[1].inputs[1] = b.info.entries[1].inputs[0];
              b.info.entries[1].inputs[1].name = "w";
              b.info.tensors[3].dims = {4, 2};
            }),
            "model file: entry 'train': input 2 is f32[8], tensor 'total' is "
            "f32[4,2]");
  EXPECT_EQ(refusal([](auto &b) {
              b.info.entries[0].inputs[2].kind = SlotKind::constant;
            }),
            "model file: entry 'predict': input 2 is constant and no scalar");
  EXPECT_EQ(refusal([](auto &b) {
              b.info.entries[0].inputs[1].scalarBits = uint64_t(1) << 32;
            }),
            "model file: entry 'predict': input 1 has more bits than f32");
  EXPECT_EQ(refusal([](auto &b) { b.info.entries[0].inputs.pop_back(); }),
            "model file: entry 'predict': a program has 3 inputs and 1 "
            "outputs, the entry has 2 and 1");
}

TEST(ModelInfo, sizesFitThePrograms) {
  auto longer = [](ModelBuilder &b, size_t tensor) {
    b.info.tensors[tensor].dims = {9};
    b.data[tensor] = bytesOf(std::vector<float>(9, 1));
  };
  EXPECT_EQ(refusal([&](auto &b) { longer(b, 0); }),
            "model file: entry 'predict': input 2 is f32[8], tensor 'weight' "
            "is f32[9]");
  EXPECT_EQ(refusal([&](auto &b) { longer(b, 3); }),
            "model file: entry 'train': input 2 is f32[8], tensor 'total' is "
            "f32[9]");
  // Of what is updated and not read, too.
  EXPECT_EQ(refusal([&](auto &b) {
              longer(b, 2);
              b.info.entries[1].outputs[0].updates = 2;
            }),
            "model file: entry 'train': output 0 is f32[8], tensor 'bias' is "
            "f32[9]");
}

TEST(ModelInfo, numbersAreInRange) {
  EXPECT_EQ(refusal([](auto &b) { b.info.entries[0].inputs[2].number = 3; }),
            "model file: input 2 of entry 'predict' is weight 3 of 3");
  EXPECT_EQ(refusal([](auto &b) { b.info.entries[1].outputs[1].updates = 1; }),
            "model file: output 1 of entry 'train' becomes state 1 of 1");
  EXPECT_EQ(refusal([](auto &b) { b.info.states[0].initial = 2; }),
            "model file: state 'total' begins with tensor 2, expected 3");
  EXPECT_EQ(refusal([](auto &b) { b.info.entries[1].programs = {0}; }),
            "model file: entry 'train' has program 0 of 3");
  EXPECT_EQ(refusal([](auto &b) { b.info.entries[2].programs.clear(); }),
            "model file: entry 'draw' has no program");
  EXPECT_EQ(refusal([](auto &b) { b.info.entries[2].dims[0].axis = 1; }),
            "model file: entry 'draw': dim 'n' is axis 1 of input 0, which is "
            "no axis of a given or passed input");
  EXPECT_EQ(
      refusal([](auto &b) { b.info.entries[2].inputs[4].randomExpr = 4; }),
      "model file: entry 'draw' draws expr 4 of 4");
  EXPECT_EQ(refusal([](auto &b) {
              b.info.entries[0].dims = {{"n", 2, 0}}; // a weight's
            }),
            "model file: entry 'predict': dim 'n' is axis 0 of input 2, which "
            "is no axis of a given or passed input");
  EXPECT_EQ(refusal([](auto &b) { b.info.entries[2].randomExpr = -1; }),
            "model file: input 4 of entry 'draw': only counters have a place "
            "among random numbers");
  EXPECT_EQ(refusal([](auto &b) {
              b.info.entries[1].outputs[2] = b.info.entries[1].outputs[1];
            }),
            "model file: entry 'train' updates state 0 twice");
  EXPECT_EQ(refusal([](auto &b) { b.graphs.pop_back(); }),
            "model file: 2 graph sections for 3 entries");
}

namespace {

/// The error of a section whose tables say something else, below a writer's
/// checks.
std::string misplaced(const std::function<void(fb::StoredTensorT &)> &change,
                      uint64_t weightBytes = 1024) {
  fb::ModelT model;
  for (const char *name : {"a", "b"}) {
    auto tensor = std::make_unique<fb::StoredTensorT>();
    tensor->name = name;
    tensor->dtype = uint8_t(DType::f32);
    tensor->dims = {8};
    tensor->bytes = 32;
    model.tensors.push_back(std::move(tensor));
  }
  model.tensors[1]->offset = 256;
  change(*model.tensors[1]);
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fb::Model::Pack(builder, &model));
  auto *data = reinterpret_cast<const std::byte *>(builder.GetBufferPointer());
  auto info = verifyModel({data, builder.GetSize()}, weightBytes);
  return info ? "" : info.error().message;
}

} // namespace

TEST(ModelInfo, tensorsLieInTheirSection) {
  using T = fb::StoredTensorT;
  EXPECT_EQ(misplaced([](T &) {}), "");
  EXPECT_EQ(misplaced([](T &) {}, 287),
            "model file: tensor 'b' is not in the weights section");
  EXPECT_EQ(misplaced([](T &t) { t.offset = 128; }),
            "model file: tensor 'b' is not aligned to 256 bytes");
  EXPECT_EQ(misplaced([](T &t) { t.offset = ~uint64_t(255); }),
            "model file: tensor 'b' is not in the weights section");
  EXPECT_EQ(misplaced([](T &t) { t.dims = {INT64_MAX, 4}; }),
            "model file: tensor 'b' has 32 bytes, its dims say otherwise");
  EXPECT_EQ(misplaced([](T &t) { t.dims = {int64_t(1) << 61, 4}; }),
            "model file: tensor 'b' has 32 bytes, its dims say otherwise");
  EXPECT_EQ(misplaced([](T &t) { t.dims = {-8}; }),
            "model file: tensor 'b' has 32 bytes, its dims say otherwise");
  EXPECT_EQ(misplaced([](T &t) {
              t.offset = 0;
              t.dims = {4};
              t.bytes = 16;
            }),
            "model file: tensors 'b' and 'a' overlap");
  EXPECT_EQ(misplaced([](T &t) { t.offset = 0; }), "") << "the same tensor";
  EXPECT_EQ(misplaced([](T &t) { t.zeros = true; }),
            "model file: tensor 'b' is at two places");
  EXPECT_EQ(misplaced([](T &t) { t.external = 0; }),
            "model file: tensor 'b' is in external file 0 of 0");
  EXPECT_EQ(misplaced([](T &t) { t.dtype = 200; }),
            "model file: tensor 'b' has dtype code 200");
}

TEST(ModelInfo, sectionsMayBeLargerThanFourGigabytes) {
  constexpr uint64_t large = uint64_t(6) << 30;
  EXPECT_EQ(misplaced(
                [](fb::StoredTensorT &t) {
                  t.offset = uint64_t(5) << 30;
                  t.dims = {int64_t(1) << 28};
                  t.bytes = uint64_t(1) << 30;
                },
                large),
            "");
}

TEST(ModelInfo, externalFilesLieBeside) {
  auto named = [](const char *name) {
    ModelBuilder b = smallModel();
    b.info.externals = {{name, 10, {}}};
    auto file = b.writer().finish();
    return file ? "" : file.error().message;
  };
  EXPECT_EQ(named("weights.safetensors"), "");
  for (const char *name : {"../w", "/etc/passwd", "..", "."})
    EXPECT_NE(named(name), "") << name;
}

//===- Files of one model -------------------------------------------------===//

TEST(ModelInfo, joinsProgramsOfEntries) {
  ModelBuilder other = smallModel();
  for (ProgramBuilder &program : other.programs)
    program.program.target = "cuda";
  std::vector<std::vector<std::byte>> files = {smallModel().file(),
                                               other.file()};
  auto joined = joinModels(files);
  ASSERT_TRUE(joined) << joined.error().message;
  ModelInfo info = infoOf(*joined);
  ModelInfo one = infoOf(files[0]);
  EXPECT_EQ(info.entries[1].programs, (std::vector<uint32_t>{1, 4}));
  EXPECT_EQ(info.tensors, one.tensors);
  EXPECT_EQ(info.metadata, one.metadata);
  auto weights = [](const std::vector<std::byte> &file) {
    auto bytes = readModel(file)->find(SectionKind::weights)->bytes;
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  EXPECT_EQ(weights(*joined), weights(files[0]));

  other.data[0][0] ^= std::byte(1);
  files[1] = other.file();
  auto refused = joinModels(files);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "model files: they are not of one model");
}

TEST(ModelInfo, stripsLinesOnly) {
  ModelBuilder b = smallModel();
  std::vector<std::byte> full = b.file();
  b.sites.clear();
  EXPECT_EQ(*stripModel(full), b.file());
  EXPECT_EQ(readModel(full)->contentDigest, readModel(b.file())->contentDigest);
}

//===- Sections that this build does not know -----------------------------===//

namespace {

/// The file with one more section behind the others.
std::vector<std::byte> withSection(const char *name, bool optional) {
  auto file = smallModel().file();
  FileHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  std::vector<SectionEntry> table(header.numSections);
  std::memcpy(table.data(), file.data() + sizeof(header),
              table.size() * sizeof(SectionEntry));
  std::vector<std::byte> content(100, std::byte(7));
  SectionEntry extra;
  extra.kind = SectionKind(99);
  extra.alignment = 64;
  extra.bytes = content.size();
  extra.digest = sectionDigest(content);
  std::memcpy(extra.name.data(), name, std::strlen(name));
  extra.optional = optional;
  std::vector<std::byte> result(sizeof(FileHeader) +
                                (table.size() + 1) * sizeof(SectionEntry));
  table.push_back(extra);
  for (SectionEntry &entry : table) {
    auto bytes = &entry == &table.back()
                     ? std::span<const std::byte>(content)
                     : std::span(file).subspan(entry.offset, entry.bytes);
    entry.offset = (result.size() + entry.alignment - 1) / entry.alignment *
                   entry.alignment;
    result.resize(entry.offset);
    result.insert(result.end(), bytes.begin(), bytes.end());
  }
  header.numSections = uint32_t(table.size());
  header.fileBytes = result.size();
  header.contentDigest = contentDigest(table);
  header.headerDigest = headerDigest(header, table);
  std::memcpy(result.data(), &header, sizeof(header));
  std::memcpy(result.data() + sizeof(header), table.data(),
              table.size() * sizeof(SectionEntry));
  return result;
}

} // namespace

TEST(ModelInfo, unknownSectionsAreSkippedOrRefusedByName) {
  std::vector<std::byte> file = withSection("sparkles", true);
  EXPECT_EQ(infoOf(file), infoOf(smallModel().file()));
  auto model = readModel(file);
  ASSERT_EQ(model->others.size(), 1u);
  EXPECT_EQ(nameOf(model->others[0].entry), "sparkles");
  EXPECT_TRUE(Program::load(file, cpu()));
  auto stripped = stripModel(file);
  ASSERT_TRUE(stripped) << stripped.error().message;
  EXPECT_EQ(readModel(*stripped)->others.size(), 1u);
  EXPECT_EQ(readModel(*stripped)->contentDigest, model->contentDigest);

  auto refused = readModel(withSection("sparkles", false));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "model file: it needs a reader that knows its section 'sparkles'; "
            "a newer release wrote it");
  auto nameless = readModel(withSection("Sparkles!", true));
  ASSERT_FALSE(nameless);
  EXPECT_EQ(nameless.error().message, "model file: section 14 has no name");
}
