/// Checkpoints: folders `epoch-0005`, each with all that a run consists of.
#include "examples/03_iris/Checkpoint.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <string>
#include <vector>

namespace sn = sinter;
namespace fs = std::filesystem;

static constexpr const char *unfinished = ".unfinished";

Checkpoints::Checkpoints(Folder path) : folder(std::move(path)) {
  fs::create_directories(folder);
  fs::remove_all(folder / unfinished);
}

/// The whole checkpoints, the oldest first.
static std::vector<fs::path> finished(const fs::path &folder) {
  std::vector<fs::path> found;
  for (const auto &entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("epoch-"))
      found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

void Checkpoints::save(int64_t epoch, const Write &write) const {
  constexpr size_t kept = 2;
  char name[32];
  std::snprintf(name, sizeof(name), "epoch-%06lld",
                static_cast<long long>(epoch));
  fs::create_directory(folder / unfinished);
  write(folder / unfinished);
  fs::remove_all(folder / name); // of an earlier run
  fs::rename(folder / unfinished, folder / name);
  std::vector<fs::path> all = finished(folder);
  for (size_t i = 0; i + kept < all.size(); ++i)
    fs::remove_all(all[i]);
}

std::optional<fs::path> Checkpoints::last() const {
  std::vector<fs::path> all = finished(folder);
  return all.empty() ? std::nullopt : std::optional(all.back());
}

void saveRandom(const fs::path &file) {
  const sn::Generator &random = sn::default_generator();
  std::vector<int64_t> numbers;
  for (uint64_t number :
       {random.key_low(), random.key_high(), random.counter()})
    numbers.push_back(std::bit_cast<int64_t>(number));
  sn::data::write_npy(file, sn::tensor(numbers));
}

void loadRandom(const fs::path &file) {
  auto numbers = sn::data::read_npy(file).to_vector<int64_t>();
  auto number = [&](size_t i) {
    return std::bit_cast<uint64_t>(numbers.at(i));
  };
  sn::default_generator() = sn::Generator(number(0), number(1), number(2));
}
