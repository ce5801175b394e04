/// Optimizers, schedules, random numbers and data cursors in records: a run
/// goes on from one as if it had never ended.
#include "tests/unit/record/SmallModels.h"

#include <gtest/gtest.h>

using namespace record_test;

namespace {

using Row = std::pair<std::vector<float>, int64_t>;

sn::data::InMemory<Row> rows() {
  std::vector<Row> all;
  for (int i = 0; i < 37; ++i) {
    auto at = float(i);
    all.push_back({{std::sin(at), std::cos(at), at / 37, 1}, i % 3});
  }
  return sn::data::InMemory(std::move(all));
}

template <typename Optimizer> struct Training {
  Mlp model;
  Optimizer optimizer;
  sn::optim::Scheduler schedule{optimizer,
                                sn::optim::cosine_annealing_lr({.T_max = 50})};
  sn::data::DataLoader<sn::data::InMemory<Row>> loader{
      rows(),
      {.batch_size = 8, .workers = 2, .sampler = sn::data::random_sampler(5)}};

  /// Steps across the ends of epochs; each is a batch of the loader.
  void steps(int count) {
    while (count > 0)
      for (auto &[x, labels] : loader) {
        sn::Tensor loss = sn::cross_entropy(model.forward(x), labels);
        optimizer.step(model, loss.backward());
        schedule.step();
        loss.eval();
        if (--count == 0)
          break;
      }
  }
  sn::Record record() const {
    sn::Record record;
    record.put("model", model);
    record.put("optimizer", optimizer);
    record.put("schedule", schedule);
    record.put("data", loader);
    record.put("random", sn::default_generator());
    return record;
  }
  void load(const sn::Record &record) {
    record.get("model", model);
    record.get("optimizer", optimizer, model);
    record.get("schedule", schedule);
    record.get("data", loader);
    record.get("random", sn::default_generator());
  }
};

template <typename Optimizer> void goesOn() {
  for (int before : {0, 1, 4, 7}) { // the epoch has 5 batches
    sn::manual_seed(8);
    Training<Optimizer> whole;
    whole.steps(before);
    std::vector<sn::Record::Bytes> kept;
    for (sn::RecordFormat format : fileFormats)
      kept.push_back(
          whole.record().to_bytes(sn::SaveRecordOptions{.format = format}));
    whole.steps(9);
    auto expected = valuesOf(whole.model);
    for (const sn::Record::Bytes &bytes : kept) {
      sn::manual_seed(99);
      Training<Optimizer> rest;
      rest.load(sn::Record::from_bytes(bytes));
      rest.steps(9);
      EXPECT_EQ(valuesOf(rest.model), expected) << before;
      EXPECT_EQ(rest.schedule.lr(), whole.schedule.lr());
      EXPECT_EQ(rest.loader.cursor(), whole.loader.cursor());
    }
  }
}

} // namespace

TEST(StateRecord, ARunWithAdamGoesOnBitForBit) { goesOn<sn::optim::Adam>(); }

TEST(StateRecord, ARunWithMomentumGoesOnBitForBit) {
  struct Momentum : sn::optim::Sgd {
    Momentum() : Sgd({.lr = 0.05, .momentum = 0.9}) {}
  };
  goesOn<Momentum>();
}

TEST(StateRecord, APlateauAndItsInfiniteBestComeBack) {
  sn::optim::Adam adam{{.lr = 0.1}};
  sn::optim::ReduceLROnPlateau plateau(adam, {.patience = 0});
  for (sn::RecordFormat format : fileFormats) {
    sn::Record record;
    record.put("plateau", plateau); // first with a best of infinity
    sn::optim::Adam other{{.lr = 1}};
    sn::optim::ReduceLROnPlateau loaded(other, {.patience = 0});
    sn::Record::from_bytes(
        record.to_bytes(sn::SaveRecordOptions{.format = format}))
        .get("plateau", loaded);
    plateau.step(1);
    loaded.step(1);
    EXPECT_EQ(loaded.lr(), plateau.lr());
  }
}

TEST(StateRecord, AHalfRecordOfAnOptimizerIsWidened) {
  sn::manual_seed(8);
  Training<sn::optim::Adam> run;
  run.steps(3);
  sn::Record half = sn::Record::from_bytes(
      run.record().to_bytes(sn::RecordPrecision::half_precision));
  Training<sn::optim::Adam> other;
  other.load(half);
  other.steps(1);
  EXPECT_EQ(half.at("optimizer").at("parameters").size(), 4u);
}

TEST(StateRecord, StateOfAnotherKindOrModelIsAnError) {
  sn::manual_seed(8);
  Training<sn::optim::Adam> run;
  run.steps(1);
  sn::Record record = run.record();
  sn::optim::Sgd sgd{{.lr = 0.1}};
  EXPECT_EQ(errorOf([&] { record.get("optimizer", sgd, run.model); }),
            "record: 'optimizer' is state of adam, not of sgd");
  Mlp wide(6);
  std::vector<uint64_t> ids;
  run.model.visit([&](const std::string &, const sn::Param &param) {
    ids.push_back(param.record_id());
  });
  size_t next = 0;
  wide.visit([&](const std::string &, sn::Param &param) {
    param.set_record_id(ids[next++]);
  });
  EXPECT_NE(errorOf([&] {
              record.get("optimizer", run.optimizer, wide);
            }).find("of 'fc1.weight' is missing or of another shape"),
            std::string::npos);
  sn::data::DataLoader other(rows(), {.batch_size = 9});
  EXPECT_NE(errorOf([&] {
              record.get("data", other);
            }).find("the record is a cursor for 37 items in batches of 8"),
            std::string::npos);
  sn::optim::Scheduler step(sgd, sn::optim::step_lr({.step_size = 2}));
  EXPECT_NE(errorOf([&] { record.get("schedule", step); }).find("is state of"),
            std::string::npos);
}
