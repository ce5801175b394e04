/// A loader's batch axis is symbolic: batches of every size run one program.
#include <sinter/data/DataLoader.h>

#include <sinter/Basic.h>
#include <sinter/nn/Linear.h>
#include <sinter/optim/Adam.h>

#include <gtest/gtest.h>

using namespace sinter;

namespace {

/// A struct that names nothing: no SINTER_MODULE is needed.
struct Batch {
  Tensor x, y;
};

using Row = std::pair<std::array<float, 3>, int64_t>;

data::InMemory<Row> rows(int64_t count) {
  std::vector<Row> items;
  for (int64_t i = 0; i < count; ++i)
    items.push_back({{float(i), 1, 2}, i % 2});
  return data::InMemory(items);
}

Batch toBatch(std::vector<Row> items) {
  std::vector<float> x;
  std::vector<int64_t> y;
  for (const auto &[row, label] : items) {
    x.insert(x.end(), row.begin(), row.end());
    y.push_back(label);
  }
  auto count = static_cast<int64_t>(items.size());
  // What is computed from the batch has its axis, too.
  return {tensor(x, {count, 3}) / 10.0, tensor(y, {count})};
}

uint64_t programsMade() {
  Stats now = stats();
  return now.compiles + now.disk_hits;
}

} // namespace

TEST(BatchAxis, IsSymbolicFromTheFirstBatchOn) {
  data::DataLoader loader(rows(7), {.batch_size = 4}, toBatch);
  for (Batch &batch : loader) {
    EXPECT_FALSE(batch.x.dim(0).isConstant());
    EXPECT_FALSE(batch.y.dim(0).isConstant());
    EXPECT_TRUE(batch.x.dim(1).isConstant());
  }
}

TEST(BatchAxis, AShortLastBatchCompilesNothing) {
  for (int64_t workers : {0, 2}) {
    nn::Linear model(3, 2 + workers);
    optim::Adam adam({.lr = 0.1});
    data::DataLoader loader(rows(10), {.batch_size = 4, .workers = workers},
                            toBatch);
    uint64_t after = 0;
    std::vector<int64_t> sizes;
    for (int epoch = 0; epoch < 2; ++epoch)
      for (Batch &batch : loader) {
        Tensor loss = cross_entropy(model(batch.x), batch.y);
        adam.step(model, loss.backward());
        loss.item<float>();
        if (sizes.empty())
          after = programsMade();
        sizes.push_back(batch.x.dim(0).value);
      }
    EXPECT_EQ(sizes, (std::vector<int64_t>{4, 4, 2, 4, 4, 2}));
    EXPECT_EQ(programsMade(), after) << "workers: " << workers;
  }
}

TEST(BatchAxis, TwoLoadersShareAProgram) {
  data::DataLoader train(rows(8), {.batch_size = 4}, toBatch);
  data::DataLoader valid(rows(3), {.batch_size = 8}, toBatch);
  auto total = [](Batch &batch) { return sum(batch.x * 3.25).item<float>(); };
  total(*train.begin());
  uint64_t made = programsMade();
  total(*valid.begin());
  EXPECT_EQ(programsMade(), made);
}

TEST(BatchAxis, OnlyTensorsOfTheBatchAreTouched) {
  data::DataLoader loader(rows(8), {.batch_size = 4},
                          [](const std::vector<Row> &) {
                            return tensor(std::vector<float>{1, 2, 3}, {3});
                          });
  for (Tensor &other : loader)
    EXPECT_TRUE(other.dim(0).isConstant());
  EXPECT_TRUE(tensor(std::vector<float>{1, 2, 3, 4}, {4}).dim(0).isConstant())
      << "the scope outlived the batch";
}

TEST(BatchAxis, TensorsAreMadeOnTheDeviceOfTheLoop) {
  DeviceId before = default_device();
  data::DataLoader loader(rows(8), {.batch_size = 4, .workers = 2}, toBatch);
  set_default_device("null");
  for (Batch &batch : loader)
    EXPECT_EQ(batch.y.device(), device("null"));
  set_default_device(before);
}
