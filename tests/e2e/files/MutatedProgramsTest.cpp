/// Compiled programs whose sections say something else than the compiler did,
/// beside code that is what it made: each is refused, or runs within its memory
/// and in time. SINTER_TEST_SEEDS sets how many are tried, SINTER_TEST_SEED the
/// first of a program's.
#include "runtime/files/MappedFile.h"
#include "runtime/graph/Elements.h"
#include "runtime/program/Bind.h"
#include "runtime/program/LoadedProgram.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/ModelWriter.h"
#include "tests/unit/program/FieldMutator.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/Export.h>
#include <sinter/Module.h>
#include <sinter/Pooling.h>
#include <sinter/Random.h>
#include <sinter/Scan.h>
#include <sinter/Transforms.h>
#include <sinter/generated/functions/Activations.h>
#include <sinter/generated/functions/Arithmetic.h>
#include <sinter/generated/functions/Contraction.h>
#include <sinter/generated/functions/Gather.h>
#include <sinter/generated/functions/Nn.h>
#include <sinter/generated/functions/Reduce.h>
#include <sinter/generated/functions/Scan.h>
#include <sinter/generated/functions/View.h>
#include <sinter/nn/Attention.h>
#include <sinter/nn/Conv.h>
#include <sinter/nn/Dropout.h>
#include <sinter/nn/Linear.h>
#include <sinter/nn/Losses.h>
#include <sinter/nn/Recurrent.h>
#include <sinter/optim/Sgd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sn = sinter;
using namespace sinter::runtime;
using sinter::runtime::test::MutatedParts;
using sinter::runtime::test::mutateFields;
using sn::Tensor;

namespace {

using File = std::vector<std::byte>;

//===- Programs -----------------------------------------------------------===//

/// What a function compiles to, with no more than a program needs.
template <typename F, typename Inputs>
File compiled(F &&function, const Inputs &inputs,
              std::vector<std::string> dynamic = {}) {
  std::string path = "/tmp/sinter-mutated-" + std::to_string(::getpid());
  sn::export_model(path, function, inputs, {.dynamic = std::move(dynamic)});
  auto bytes = MappedFile::open(path);
  auto model = readModel(bytes->bytes());
  auto copyOf = [&](SectionKind kind) {
    const Section *section = model->find(kind);
    return section ? File(section->bytes.begin(), section->bytes.end())
                   : File();
  };
  ModelWriter writer;
  writer.addProgram(copyOf(SectionKind::program), copyOf(SectionKind::image));
  writer.setConstants(copyOf(SectionKind::constants));
  std::filesystem::remove(path);
  return *writer.finish();
}

struct Layers {
  sn::nn::Linear first{16, 24}, second{24, 10};
  Tensor forward(const Tensor &x) const {
    return sn::softmax(second(sn::relu(first(x))), -1);
  }
  SINTER_MODULE(Layers, first, second)
};

File training() {
  Layers model;
  sn::optim::Sgd sgd({.lr = 0.1, .momentum = 0.9});
  return compiled(
      [&](const Tensor &x, const Tensor &y) {
        Tensor loss = sn::cross_entropy(model(x), y);
        sgd.step(model, loss.backward());
        return loss;
      },
      std::tuple{sn::zeros({6, 16}), sn::zeros({6}, {.dtype = sn::DType::i64})},
      {"input0:0=n", "input1:0=n"});
}

File recurrence() {
  sn::nn::LSTM lstm(5, 7);
  return compiled([&](const Tensor &x) { return lstm(x).output; },
                  sn::zeros({4, 3, 5}), {"input0:0=t", "input0:1=n"});
}

File partialSums() {
  return compiled(
      [](const Tensor &x) {
        auto [carries, ys] = sn::scan(
            [](std::span<const Tensor> c, std::span<const Tensor> each) {
              Tensor next = c[0] * 0.5 + each[0];
              return sn::ScanStep{{next}, {sn::sum(next) + each[0]}};
            },
            {sn::zeros({3})}, {x});
        return std::tuple{carries[0], ys[0]};
      },
      sn::zeros({4, 3}), {"input0:0=t"});
}

File rows() {
  return compiled(
      [](const Tensor &x, const Tensor &index) {
        return std::tuple{sn::sort(x, 0).values,
                          sn::topk(x, 2).values,
                          sn::index_select(x, index, 0),
                          sn::cumsum(x, 0),
                          sn::argmax(x, 0),
                          sn::sum(sn::exp(x))};
      },
      std::tuple{sn::zeros({40, 6}), sn::zeros({5}, {.dtype = sn::DType::i64})},
      {"input0:0=n", "input1:0=m"});
}

File images() {
  sn::nn::Conv2d conv(3, 8, 3, {.padding = 1});
  return compiled(
      [&](const Tensor &x) {
        return sn::max_pool2d(sn::relu(conv(x)), {2, 2});
      },
      sn::zeros({2, 3, 8, 8}), {"input0:0=n"});
}

File attention() {
  sn::nn::MultiHeadAttention heads(16, 2);
  return compiled([&](const Tensor &x) { return heads(x); },
                  sn::zeros({2, 9, 16}), {"input0:0=n", "input0:1=t"});
}

File products() {
  return compiled(
      [](const Tensor &x, const Tensor &y) {
        return std::tuple{sn::matmul(x, y), sn::matmul(x, y.to(sn::DType::f64)),
                          sn::concat({x, x}, 1)};
      },
      std::tuple{sn::zeros({64, 64}), sn::zeros({64, 96})}, {"input0:0=n"});
}

File draws() {
  sn::nn::Dropout dropout(0.5);
  return compiled(
      [&](const Tensor &x) {
        return std::tuple{dropout(x), sn::normal({7, 3})};
      },
      sn::zeros({33, 5}), {"input0:0=n"});
}

struct Named {
  const char *name;
  File (*make)();
};
constexpr Named all[] = {
    {"training", training},
    {"recurrence", recurrence},
    {"partial sums", partialSums},
    {"rows", rows},
    {"images", images},
    {"attention", attention},
    {"products", products},
    {"draws", draws},
};

//===- Runs ---------------------------------------------------------------===//

/// Bindings of the dims that the program's own expressions have for `extent`.
std::vector<Binding> bindingsFor(const Program &program, int64_t extent,
                                 Device &device) {
  std::vector<int64_t> symbols(program.numSymbols(), extent), values;
  evaluateAll(program.exprs(), symbols, values);
  std::vector<Binding> bindings;
  for (const Port &port : program.inputs()) {
    Binding binding;
    for (uint32_t dim : port.dims)
      binding.dims.push_back(values[dim]);
    std::optional<size_t> count = sn::elementsOf(binding.dims);
    if (count && port.kind != sn::graph::InputKind::scalar)
      if (auto buffer = device.allocate(*count * byteWidth(port.dtype))) {
        binding.buffer = *buffer;
        std::memset((*buffer)->data(), 0, (*buffer)->bytes());
      }
    binding.donate = extent % 2 == 0;
    bindings.push_back(std::move(binding));
  }
  return bindings;
}

/// What a child process tells of itself.
struct Progress {
  std::atomic<int64_t> seed{0};
  std::atomic<uint64_t> tried{0}, loaded{0}, ran{0};
};

void tryOne(std::span<const std::byte> file, Device &device, Progress &told) {
  ++told.tried;
  auto program = Program::load(file, device);
  if (!program)
    return;
  ++told.loaded;
  for (int64_t extent : {0, 1, 4, 300}) {
    // The system takes its time for gigabytes of inputs, which is not ours.
    unsigned left = ::alarm(0);
    std::vector<Binding> bindings = bindingsFor(**program, extent, device);
    if (left > 0)
      ::alarm(left);
    told.ran += run(**program, bindings).ok();
  }
}

/// Tries seeds from `told.seed` on in a process of their own: how it ended.
int tryFrom(const File &file, int64_t end, Progress &told) {
  pid_t child = ::fork();
  if (child == 0) {
    Device &device = **getDevice({sn::DeviceKind::cpu, 0});
    for (; told.seed < end; ++told.seed) {
      ::alarm(20); // of time
      tryOne(
          mutateFields(file, uint64_t(told.seed), MutatedParts::exceptKernels),
          device, told);
    }
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

class MutatedPrograms : public testing::TestWithParam<Named> {};

} // namespace

TEST_P(MutatedPrograms, areRefusedOrRun) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer lets no child process start threads";
#endif
  File file = GetParam().make();
  void *shared = ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto &told = *new (shared) Progress;
  Device &device = **getDevice({sn::DeviceKind::cpu, 0});
  tryOne(file, device, told);
  EXPECT_GE(told.ran, 2u) << "as it is";
  const char *text = std::getenv("SINTER_TEST_SEEDS");
  int64_t seeds =
      (text ? std::strtoll(text, nullptr, 10) : 1600) / int64_t(std::size(all));
  if (const char *first = std::getenv("SINTER_TEST_SEED"))
    told.seed = std::strtoll(first, nullptr, 10);
  int64_t end = told.seed + seeds;
  int failures = 0;
  while (told.seed < end && failures < 20)
    if (int signal = tryFrom(file, end, told)) {
      ADD_FAILURE() << "seed " << told.seed << ": "
                    << (signal == SIGALRM ? "too slow" : ::strsignal(signal));
      ++told.seed;
      ++failures;
    }
  EXPECT_GT(told.loaded * 10, told.tried);
  EXPECT_GT(told.ran * 10, told.tried);
  std::cout << told.tried << " tried, " << told.loaded << " loaded, "
            << told.ran << " runs\n";
  ::munmap(shared, sizeof(Progress));
}

INSTANTIATE_TEST_SUITE_P(Of, MutatedPrograms, testing::ValuesIn(all),
                         [](const auto &info) {
                           std::string name = info.param.name;
                           std::ranges::replace(name, ' ', '_');
                           return name;
                         });
