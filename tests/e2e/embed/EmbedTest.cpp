/// Models in objects give what sessions of their files give.
#include "tests/e2e/embed/EmbeddedRunner.h"
#include "tests/e2e/export/ExportFixture.h"
#include "tests/e2e/export/ShellRun.h"
#include "tests/e2e/export/SmallNet.h"

#include <gmock/gmock.h>
#include <sinter/Basic.h>
#include <sinter/Export.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

namespace sn = sinter;
using sn::test::EmbeddedRunner;
using sn::test::SmallNet;
using testing::HasSubstr;
using List = std::vector<sn::Tensor>;
using Tensors = std::span<const sn::Tensor>;

namespace {

class EmbedTest : public sn::test::ExportFixture {
protected:
  std::string path() const { return folder / "model.sinter"; }
  std::string embed(const std::string &flags, int rc = 0) {
    return sn::test::runIn(folder, SINTER_TOOL " embed " + flags, rc);
  }
};

/// Weights that products pack, and an axis that is open.
struct Layers {
  sn::nn::Linear first{64, 256}, second{256, 48};
  sn::Tensor forward(const sn::Tensor &x) const {
    return sn::softmax(second(sn::gelu(first(x))), -1);
  }
  SINTER_MODULE(Layers, first, second)
};

} // namespace

TEST_F(EmbedTest, OpenAxesGetSizes) {
  Layers model;
  sn::export_model(path(), model, sn::ones({3, 64}).eval(),
                   {.inputs = {"x"}, .dynamic = {"x:0=batch"}});
  EXPECT_THAT(embed("model.sinter -o model.o", 1),
              HasSubstr("give --size batch=N"));
  for (int64_t batch : {1, 5, 64}) {
    EmbeddedRunner runner(path(), "--size batch=" + std::to_string(batch));
    for (int run = 0; run < 3; ++run)
      runner.runBoth("main", {sn::normal({batch, 64}).eval()});
  }
}

TEST_F(EmbedTest, TrainingGoesOn) {
  SmallNet model;
  sn::optim::AdamW adam({.lr = 0.01});
  auto step = [&](const sn::Tensor &x, const sn::Tensor &y) {
    sn::Tensor loss = sn::cross_entropy(model(x), y);
    adam.step(model, loss.backward());
    return loss;
  };
  sn::Tensor x = sn::uniform({12, 16}).eval();
  sn::Tensor y = sn::randint(0, 10, {12}).eval();
  sn::ModelExport exported;
  exported.name(model);
  exported.add("train", step, std::tuple{x, y}, {.inputs = {"x", "y"}});
  model.eval();
  exported.add("predict", model, x, {.inputs = {"x"}});
  exported.write(path());
  EmbeddedRunner runner(path());
  for (int i = 0; i < 4; ++i) {
    runner.runBoth("train", {sn::uniform({12, 16}).eval(),
                             sn::randint(0, 10, {12}).eval()});
    runner.runBoth("predict", {sn::uniform({12, 16}).eval()});
  }
}

TEST_F(EmbedTest, LoopsAndBranches) {
  auto function = [](const sn::Tensor &x) {
    List halved =
        sn::while_loop([](Tensors c) { return sn::sum(sn::abs(c[0])) > 4.0; },
                       [](Tensors c) { return List{c[0] * 0.5}; }, {x});
    auto [sums, rows] = sn::scan(
        [](auto carry, auto row) {
          sn::Tensor next = carry[0] * 0.5 + row[0];
          return sn::ScanStep{{next}, {sn::tanh(next)}};
        },
        {sn::zeros({8})}, {halved[0]});
    sn::Tensor both = rows[0] + sums[0];
    return sn::cond(
        sn::sum(x) > 0.0, [](Tensors a) { return List{a[0] * 2.0}; },
        [](Tensors a) { return List{a[0] - 1.0}; }, List{both})[0];
  };
  sn::export_model(path(), function, sn::ones({5, 8}).eval(),
                   {.inputs = {"x"}});
  EmbeddedRunner runner(path());
  for (double scale : {0.01, 1.0, -3.0, 1000.0})
    runner.runBoth("main", {(sn::normal({5, 8}) * scale).eval()});
}

TEST_F(EmbedTest, RandomNumbersGoOn) {
  SmallNet model;
  sn::export_model(path(), model, sn::ones({6, 16}).eval(), {.inputs = {"x"}});
  EmbeddedRunner runner(path());
  for (int i = 0; i < 3; ++i)
    runner.runBoth("main", {sn::ones({6, 16}).eval()});
}

TEST_F(EmbedTest, AnErrorLeavesStateAndNamesTheElement) {
  SmallNet model;
  sn::optim::Sgd sgd({.lr = 0.5});
  auto step = [&](const sn::Tensor &x, const sn::Tensor &y) {
    sn::Tensor loss = sn::cross_entropy(model(x), y);
    sgd.step(model, loss.backward());
    return loss;
  };
  sn::Tensor x = sn::uniform({2, 16}).eval();
  auto classes = [](int64_t a, int64_t b) {
    return sn::tensor(std::vector<int64_t>{a, b}).eval();
  };
  sn::ModelExport exported;
  exported.name(model);
  exported.add("train", step, std::tuple{x, classes(1, 2)},
               {.inputs = {"x", "y"}});
  exported.write(path());
  EmbeddedRunner runner(path());
  runner.runBoth("train", {x, classes(0, 9)});
  runner.runBoth("train", {x, classes(1, 11)});
  EXPECT_THAT(sinter_embedded_error(runner.session()),
              HasSubstr("index out of range at element"));
  runner.runBoth("train", {x, classes(3, 3)});
}

TEST_F(EmbedTest, OutputsGoWhereTheCallerSays) {
  Layers model;
  sn::export_model(path(), model, sn::ones({3, 64}).eval(), {.inputs = {"x"}});
  EmbeddedRunner runner(path());
  sn::Tensor x = sn::normal({3, 64}).eval();
  std::vector<float> values = x.to_vector<float>();
  const void *inputs[] = {values.data()};
  alignas(64) float places[3 * 48 + 1];
  for (float *place : {places, places + 1}) { // there at once, and copied
    void *outputs[] = {place};
    ASSERT_EQ(sinter_embedded_run(runner.session(), 0, inputs, outputs),
              SINTER_OK);
    std::vector<float> written(place, place + 3 * 48);
    EXPECT_EQ(written, model(x).to_vector<float>());
  }
}

TEST_F(EmbedTest, ThreadsOfTheCallersGiveTheSame) {
  Layers model;
  sn::export_model(path(), model, sn::ones({64, 64}).eval(), {.inputs = {"x"}});
  EmbeddedRunner runner(path());
  sn::Tensor x = sn::normal({64, 64}).eval();
  std::vector<float> values = x.to_vector<float>();
  const void *inputs[] = {values.data()};
  auto run = [&](sinter_embedded_session *session) {
    std::vector<float> given(64 * 48);
    void *outputs[] = {given.data()};
    EXPECT_EQ(sinter_embedded_run(session, 0, inputs, outputs), SINTER_OK);
    return given;
  };
  std::vector<float> expected = run(runner.session());
  // Backwards, one chunk at a time, each on a thread of its own.
  int calls = 0;
  sinter_embedded_options options = {
      sizeof options,
      [](void *user, sinter_embedded_task task, void *context, int64_t chunks) {
        ++*static_cast<int *>(user);
        for (int64_t i = chunks - 1; i >= 0; --i)
          std::thread(task, context, i, i + 1).join();
      },
      &calls};
  size_t bytes = (sinter_embedded_memory(runner.model()) + 63) / 64 * 64;
  for (sinter_embedded_parallel parallel :
       {options.parallel, sinter_embedded_parallel(sinter_embedded_pool)}) {
    options.parallel = parallel;
    std::unique_ptr<void, decltype(&std::free)> memory(
        std::aligned_alloc(64, bytes), &std::free);
    sinter_embedded_session *session = nullptr;
    ASSERT_EQ(sinter_embedded_open(runner.model(), memory.get(), bytes,
                                   &options, &session),
              SINTER_OK);
    EXPECT_EQ(run(session), expected);
    EXPECT_EQ(run(session), expected);
  }
  EXPECT_GT(calls, 0);
}

TEST_F(EmbedTest, FormsOfOneModel) {
  Layers model;
  sn::export_model(path(), model, sn::ones({3, 64}).eval(), {.inputs = {"x"}});
  auto compile = [&](const std::string &flags, int rc = 0) {
    return sn::test::runIn(folder, SINTER_TOOL " compile model.sinter " + flags,
                           rc);
  };
  compile("-o a.o --emit object --name net");
  compile("-o b.a --emit library --name net");
  compile("-o c.h --emit header --name net");
  auto textOf = [&](const char *name) {
    std::ifstream file(folder / name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_THAT(textOf("c.h"),
              HasSubstr("extern const sinter_embedded net_model;"));
  EXPECT_EQ(textOf("a.h"), textOf("b.h"));
  EXPECT_EQ(textOf("a.h"), textOf("c.h"));
  EXPECT_THAT(textOf("b.a"), HasSubstr(textOf("a.o")));
  EXPECT_FALSE(std::filesystem::exists(folder / "c.o"));
  // The same model gives the same bytes.
  compile("-o again.o --emit object --name net");
  EXPECT_EQ(textOf("a.o"), textOf("again.o"));
  EXPECT_THAT(compile("-o a.o --emit object --size n=3", 1),
              HasSubstr("has no open axis 'n'; it has none"));
  EXPECT_THAT(compile("-o a.o --emit object --name 3x", 1),
              HasSubstr("needs letters, digits and _"));
}

TEST_F(EmbedTest, HeadersTakeAnyName) {
  auto function = [](const sn::Tensor &a, const sn::Tensor &b,
                     const sn::Tensor &c) { return a + b * c; };
  sn::Tensor x = sn::ones({2}).eval();
  sn::ModelExport exported;
  int number = 0;
  for (const char *name : {"a.b", "a_b", "main", "/* x */"})
    exported.add(name, function, std::tuple{x, x, x},
                 number++ % 2
                     ? sn::EntryOptions{.inputs = {"class", "NULL", "/a/b"},
                                        .outputs = {"int64_t"}}
                     : sn::EntryOptions{.inputs = {"x.1", "x_1", "session"},
                                        .outputs = {"sinter_inputs"}});
  exported.write(path());
  for (const char *name : {"exp", "memcpy", "int", "Net", "net"}) {
    embed("model.sinter -o " + std::string(name) + ".o");
    std::ofstream(folder / "one.c") << "#include \"" << name << ".h\"\n";
    for (const char *language : {"c -std=c11", "c++ -std=c++17"})
      sn::test::runIn(folder,
                      SINTER_C_COMPILER
                          " -Wall -Wextra -Wpedantic -Wshadow -Wconversion "
                          "-Werror -fsyntax-only -I" SINTER_INCLUDES " -x " +
                          std::string(language) + " one.c");
  }
  // Nothing that a library has; two models in one program.
  std::ofstream(folder / "two.c")
      << "#include \"memcpy.h\"\n#include \"exp.h\"\n#include <math.h>\n"
         "#include <string.h>\nint main(void) { char a[2]; double b = 1;\n"
         "  memcpy(a, \"x\", 2); return &memcpy_model == &exp_model || "
         "exp(b) < 0 || a[0] != 'x'; }\n";
  sn::test::runIn(folder, SINTER_C_COMPILER " -I" SINTER_INCLUDES
                                            " two.c memcpy.o exp.o -lm -o two");
  sn::test::runIn(folder, "./two");
}

TEST_F(EmbedTest, NothingIsWrittenWhereItFails) {
  Layers model;
  sn::export_model(path(), model, sn::ones({3, 64}).eval(), {.inputs = {"x"}});
  std::filesystem::create_directory(folder / "folder.o");
  embed("model.sinter -o folder.o", 1);
  EXPECT_FALSE(std::filesystem::exists(folder / "folder.h"));
  for (const char *wrong : {"--emit object -o a.h", "--emit object -o a.a",
                            "--emit library -o a.o", "--emit header -o a.txt"})
    EXPECT_THAT(sn::test::runIn(folder,
                                std::string(SINTER_TOOL) +
                                    " compile model.sinter " + wrong,
                                2),
                HasSubstr("a file that ends with"));
  EXPECT_FALSE(std::filesystem::exists(folder / "a.h"));
}

/// Another processor's, also where nothing is computed.
TEST_F(EmbedTest, ObjectsAreOfTheirProcessor) {
  sn::export_model(path(), [](const sn::Tensor &x) { return x; },
                   sn::ones({3}).eval(), {.inputs = {"x"}});
  sn::test::runIn(folder, SINTER_TOOL " compile model.sinter -o arm.o --emit "
                                      "object --target cpu:aarch64");
  std::ifstream file(folder / "arm.o", std::ios::binary);
  char header[20] = {};
  file.read(header, sizeof header);
  EXPECT_EQ(header[18], char(183)); // EM_AARCH64
}

TEST_F(EmbedTest, WrongCallsAreRefused) {
  Layers model;
  sn::export_model(path(), model, sn::ones({3, 64}).eval(), {.inputs = {"x"}});
  EmbeddedRunner runner(path());
  size_t bytes = sinter_embedded_memory(runner.model());
  std::vector<char> memory(bytes + 64);
  auto *aligned = memory.data();
  while (reinterpret_cast<uintptr_t>(aligned) % 64)
    ++aligned;
  sinter_embedded_session *session = nullptr;
  const sinter_embedded *none = nullptr;
  EXPECT_EQ(sinter_embedded_open(none, aligned, bytes, nullptr, &session),
            SINTER_INVALID_ARGUMENT);
  EXPECT_EQ(sinter_embedded_open(runner.model(), aligned + 4, bytes - 4,
                                 nullptr, &session),
            SINTER_INVALID_ARGUMENT);
  EXPECT_EQ(sinter_embedded_open(runner.model(), aligned, bytes - 1, nullptr,
                                 &session),
            SINTER_INVALID_ARGUMENT);
  EXPECT_EQ(sinter_embedded_run(nullptr, 0, nullptr, nullptr),
            SINTER_INVALID_ARGUMENT);
  EXPECT_EQ(sinter_embedded_run(runner.session(), 1, nullptr, nullptr),
            SINTER_INVALID_ARGUMENT);
  EXPECT_EQ(sinter_embedded_run(runner.session(), 0, nullptr, nullptr),
            SINTER_INVALID_ARGUMENT);
  EXPECT_THAT(sinter_embedded_error(runner.session()),
              HasSubstr("input `x` is null"));
  const void *own[] = {runner.session()};
  EXPECT_EQ(sinter_embedded_run(runner.session(), 0, own, nullptr),
            SINTER_INVALID_ARGUMENT);
  EXPECT_THAT(sinter_embedded_error(runner.session()),
              HasSubstr("session's own memory"));
  EXPECT_FALSE(sinter_embedded_state(runner.session(), 0));
}

TEST_F(EmbedTest, TheCommandSaysWhatIsWrong) {
  Layers model;
  sn::export_model(
      path(), model, sn::ones({3, 64}).eval(),
      {.inputs = {"x"}, .targets = {"cpu:x86-64-v3", "cpu:scalar"}});
  EXPECT_THAT(embed("model.sinter -o model.o", 1),
              HasSubstr("several programs for cpu"));
  EXPECT_THAT(embed("model.sinter -o model.obj", 2), HasSubstr(".o, .a or .h"));
  EXPECT_THAT(embed("model.mlir -o model.o", 1), HasSubstr("takes a .sinter"));
  EXPECT_THAT(embed("model.sinter -o model.o --size x", 1),
              HasSubstr("--size needs NAME=N"));
  EXPECT_THAT(embed("none.sinter -o model.o", 1), HasSubstr("none.sinter"));
}
