/// What all readers have in common: they are data sets, give items when they
/// are asked for them, and serve several threads at once.
#include "tests/unit/datasets/Folder.h"

#include <sinter/Datasets.h>
#include <sinter/data/DataLoader.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <vector>

using namespace sinter;
using data::Image;

namespace {

struct Person {
  std::string name, note;
  int64_t age = 0;
  double height = 0;
  SINTER_ROW(name, note, age, height)
  bool operator==(const Person &) const = default;
};

class Readers : public FolderTest {
protected:
  /// Each item by four threads at once equals what one thread gets.
  template <data::Dataset D, typename F>
  void expectThreads(const D &dataset, F &&valueOf) {
    using Value = std::invoke_result_t<F, data::ItemOf<D>>;
    std::vector<Value> alone;
    for (int64_t i = 0; i < dataset.size(); ++i)
      alone.push_back(valueOf(dataset.get(i)));
    std::atomic<int64_t> equal = 0;
    constexpr int64_t rounds = 50;
    {
      std::vector<std::jthread> threads;
      for (int64_t thread = 0; thread < 4; ++thread)
        threads.emplace_back([&, thread, copy = dataset] {
          int64_t size = copy.size();
          for (int64_t i = 0; i < rounds * size; ++i) {
            int64_t index = (i * (2 * thread + 1)) % size;
            equal += valueOf(copy.get(index)) == alone[size_t(index)];
          }
        });
    }
    EXPECT_EQ(equal, 4 * rounds * dataset.size());
  }
};

std::string idx(std::initializer_list<int> shape, const std::string &bytes) {
  std::string text("\0\0\x08", 3);
  text += char(shape.size());
  for (int dim : shape)
    text += std::string("\0\0\0", 3) + char(dim);
  return text + bytes;
}

} // namespace

TEST_F(Readers, ServeFourThreadsAtOnce) {
  auto pixels = [](const data::LabeledImage &item) {
    return std::pair(item.image.pixels, item.label);
  };
  auto person = [](const data::Row &row) { return row.as<Person>(); };
  auto same = [](const auto &item) { return item; };

  write("mnist/train-images-idx3-ubyte", idx({3, 1, 2}, "abcdef"));
  write("mnist/train-labels-idx1-ubyte", idx({3}, "\1\2\3"));
  expectThreads(data::Mnist(folder / "mnist"), pixels);

  write("cifar/test_batch.bin", std::string(5 * 3073, '\3'));
  expectThreads(data::Cifar10(folder / "cifar", false), pixels);

  for (const char *name : {"rgb8.png", "rgb16.png", "cmyk.jpg", "gray.jpg"}) {
    std::filesystem::create_directories(folder / "images/a");
    std::filesystem::copy(filesOfTests() / name, folder / "images/a" / name);
  }
  expectThreads(data::ImageFolder(folder / "images"), pixels);

  expectThreads(data::CsvRows(filesOfTests() / "people.csv"), person);
  expectThreads(data::JsonLines(filesOfTests() / "people.jsonl"), person);
  expectThreads(data::Sqlite(filesOfTests() / "people.sqlite"), person);
  expectThreads(data::TextLines(filesOfTests() / "people.csv"), same);

  write("hub/train.jsonl", readAll(filesOfTests() / "people.jsonl"));
  expectThreads(data::HubFolder(folder / "hub"), person);

  write("texts/a/1.txt", "one");
  write("texts/b/2.txt", "two");
  expectThreads(data::TextFolder(folder / "texts"),
                [](const data::LabeledText &item) {
                  return std::pair(item.text, item.label);
                });
}

TEST_F(Readers, GiveTheirSizeAndItemsOneByOneWhenTheyAreAskedFor) {
  write("texts/a/1.txt", "one");
  write("texts/a/2.txt", "two");
  data::TextFolder texts(folder / "texts");
  std::atomic<int64_t> made = 0;
  auto lengths = data::map(texts, [&](const data::LabeledText &item) {
    ++made;
    return int64_t(item.text.size());
  });
  EXPECT_EQ(lengths.size(), 2);
  EXPECT_EQ(made, 0);
  // The file is read now, not when the data set was made.
  write("texts/a/2.txt", "longer");
  EXPECT_EQ(lengths.get(1), 6);
  EXPECT_EQ(made, 1);
}

TEST_F(Readers, MayGiveAnotherItemEachTime) {
  auto calls = std::make_shared<std::atomic<int64_t>>(0);
  write("a.txt", "x\ny\nz\n");
  auto counted = data::map(data::TextLines(write("a.txt", "x\ny\nz\n")),
                           [calls](const std::string &) { return ++*calls; });
  EXPECT_NE(counted.get(0), counted.get(0));
  data::DataLoader loader(counted, {.batch_size = 2, .workers = 2});
  std::map<int64_t, int64_t> seen;
  for (int epoch = 0; epoch < 3; ++epoch)
    for (Tensor &batch : loader)
      for (int64_t item : batch.to_vector<int64_t>())
        ++seen[item];
  EXPECT_EQ(seen.size(), 9U);
}

TEST_F(Readers, FillBatchesOfALoader) {
  for (int i = 0; i < 10; ++i) {
    std::filesystem::create_directories(folder / "cat");
    data::write_png(folder / ("cat/" + std::to_string(i) + ".png"),
                    {2, 3, 1, std::vector<uint8_t>(6, uint8_t(25 * i))});
  }
  auto batcher = [](const std::vector<data::LabeledImage> &items) {
    std::vector<Image> images;
    for (const auto &item : items)
      images.push_back(item.image);
    return data::to_tensor(images);
  };
  data::DataLoader loader(data::ImageFolder(folder, {.image = {.channels = 1}}),
                          data::LoaderOptions{.batch_size = 4, .workers = 2},
                          batcher);
  std::vector<float> first;
  for (Tensor &batch : loader) {
    EXPECT_EQ(batch.rank(), 4);
    auto values = batch.to_vector<float>();
    for (size_t i = 0; i < values.size(); i += 6)
      first.push_back(values[i]);
  }
  ASSERT_EQ(first.size(), 10U);
  for (size_t i = 0; i < 10; ++i)
    EXPECT_EQ(first[i], float(25 * i) / 255);
}
