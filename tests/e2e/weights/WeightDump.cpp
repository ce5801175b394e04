/// usage: weight-dump FILE FOLDER     writes the elements of each tensor to
///                                    FOLDER/NUMBER, prints a line of JSON each
///        weight-dump --time FILE     prints the seconds that reading takes
#include "runtime/params/Json.h"
#include "runtime/params/weights/WeightFile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>

using namespace sinter;
using namespace sinter::runtime;

static int fail(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return 1;
}

static int dump(const WeightFile &file, const std::string &folder) {
  size_t number = 0;
  for (const WeightTensor &tensor : file.tensors()) {
    auto bytes = file.read(tensor);
    if (!bytes)
      return fail(bytes.error().message);
    std::ofstream out(folder + "/" + std::to_string(number), std::ios::binary);
    out.write(reinterpret_cast<const char *>(bytes->data()),
              static_cast<std::streamsize>(bytes->size()));
    fmt::print("{{\"name\": {}, \"type\": {}, \"dtype\": \"{}\", "
               "\"dims\": [{}], \"tied_to\": {}, \"number\": {}}}\n",
               json::quote(tensor.name), json::quote(tensor.type),
               name(tensor.dtype), fmt::join(tensor.dims, ", "),
               json::quote(tensor.tiedTo), number++);
  }
  for (const std::string &note : file.notes())
    std::fprintf(stderr, "note: %s\n", note.c_str());
  return 0;
}

/// Opens the file and reads each byte of it once, as a load does.
static int timeLoad(const std::string &path) {
  auto start = std::chrono::steady_clock::now();
  auto file = WeightFile::open(path);
  if (!file)
    return fail(file.error().message);
  for (const WeightTensor &tensor : (*file)->tensors()) {
    Status checked = (*file)->check(tensor);
    if (!checked)
      return fail(checked.error().message);
    if ((*file)->view(tensor).empty())
      if (auto bytes = (*file)->read(tensor); !bytes)
        return fail(bytes.error().message);
  }
  std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - start;
  fmt::print("{:.6f}\n", taken.count());
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return fail("usage: weight-dump FILE FOLDER | --time FILE");
  if (std::string(argv[1]) == "--time")
    return timeLoad(argv[2]);
  auto file = WeightFile::open(argv[1]);
  if (!file)
    return fail(file.error().message);
  return dump(**file, argv[2]);
}
