/// Runs a model file from C++ without the compiler: what it takes and gives,
/// what a run needs, runs of two sizes, and one in the background.
#include <sinter/model.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace deploy = sinter::deploy;

/// Images of the table that 02_digits reads, and the digits on them.
struct Images {
  std::vector<float> pixels;
  std::vector<int64_t> digits;
};

static Images readImages(const char *path) {
  std::ifstream file(path);
  std::string cell;
  std::getline(file, cell); // names of columns
  Images images;
  for (size_t column = 0; std::getline(file, cell, column < 64 ? ',' : '\n');
       column = (column + 1) % 65)
    if (column < 64)
      images.pixels.push_back(std::strtof(cell.c_str(), nullptr));
    else
      images.digits.push_back(std::strtoll(cell.c_str(), nullptr, 10));
  return images;
}

static void print(const char *what, const std::vector<deploy::Port> &ports) {
  for (const deploy::Port &port : ports) {
    std::printf("%s %s:", what, port.name.c_str());
    for (const std::string &dim : port.dim_names)
      std::printf(" %s", dim.c_str());
    std::printf("\n");
  }
}

static int64_t countRight(const deploy::Tensor &found, const Images &images) {
  int64_t right = 0;
  for (size_t i = 0; int64_t digit : found.values<int64_t>())
    right += digit == images.digits[i++];
  return right;
}

static int run(const char *file, const char *csv) {
  Images images = readImages(csv);
  auto all = static_cast<int64_t>(images.digits.size());
  deploy::Model model(file);
  print("input", model.inputs());
  print("output", model.outputs());

  deploy::Session session(model);
  for (int64_t count : {int64_t(29), all}) {
    std::span<const float> pixels(images.pixels.data(), size_t(count) * 64);
    deploy::Tensor batch(pixels, {count, 1, 8, 8});
    sinter_memory_info memory = session.memory({&batch, 1});
    auto outputs = session.run({batch});
    std::printf("%lld of %lld digits are right, with %llu bytes of "
                "temporaries\n",
                static_cast<long long>(countRight(outputs[0], images)),
                static_cast<long long>(count),
                static_cast<unsigned long long>(memory.temporary_bytes));
  }

  deploy::Tensor whole(images.pixels, {all, 1, 8, 8});
  deploy::Event event = session.run_async({&whole, 1});
  event.wait();
  int64_t right = countRight(session.outputs()[0], images);
  std::printf("in the background: %lld\n", static_cast<long long>(right));
  return right * 10 > all * 9 ? 0 : 1;
}

int main(int argc, char **argv) try {
  if (argc != 3) {
    std::fprintf(stderr, "usage: 07_deploy_cpp MODEL.sinter IMAGES.csv\n");
    return 2;
  }
  return run(argv[1], argv[2]);
} catch (const std::exception &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
