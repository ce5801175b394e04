/// Regression: a number from a table of numbers. How a diabetes has gone on a
/// year later, from ten measures of a patient; any other CSV file goes as well.
#include <sinter/Config.h>
#include <sinter/Train.h>
#include <sinter/sinter.h>

#include <cstdio>

namespace sn = sinter;

struct Config {
  std::string data = DIABETES_CSV, folder = "regression", device;
  int64_t epochs = 40, batch = 32, hidden = 64, seed = 1;
  double lr = 2e-3, weight_decay = 0.1, dropout = 0.4, required_r2 = -1;
  SINTER_DOC(data, "a CSV file of numbers with a header; the last is predicted")
  SINTER_DOC(folder, "for checkpoints, logs and the report")
  SINTER_DOC(device, "cpu, cuda:0, vulkan:0; without it the default one")
  SINTER_CONFIG(Config, data, folder, device, epochs, batch, hidden, seed, lr,
                weight_decay, dropout, required_r2)
};

/// Measures and what is to be predicted of them; batches are pairs of tensors.
using Row = std::pair<std::vector<float>, float>;
using Batch = std::pair<sn::Tensor, sn::Tensor>;

/// A network between scales: it takes and gives numbers as the file has them.
/// The scales are parameters that are not trained, so they are saved with it.
struct Model {
  sn::Param mean, deviation; ///< of the columns
  sn::Param middle, width;   ///< of what is predicted
  sn::nn::Linear fc1, fc2, fc3;
  sn::nn::Dropout dropout;

  /// For data such as x [n,columns] and y [n].
  Model(const sn::Tensor &x, const sn::Tensor &y, const Config &config)
      : mean(sn::mean(x, {0}), "mean", false),
        deviation(sn::std(x, {0}), "deviation", false),
        middle(sn::mean(y), "middle", false), width(sn::std(y), "width", false),
        fc1(x.dim(1).value, config.hidden), fc2(config.hidden, config.hidden),
        fc3(config.hidden, 1), dropout(config.dropout) {}

  sn::Tensor forward(const sn::Tensor &columns) const {
    sn::Tensor x = (columns - mean) / deviation;
    x = dropout(sn::relu(fc1(x)));
    x = dropout(sn::relu(fc2(x)));
    return sn::squeeze(fc3(x), {1}) * width + middle;
  }
  SINTER_MODULE(Model, mean, deviation, middle, width, fc1, fc2, fc3, dropout)
};

static int run(const Config &config) {
  if (!config.device.empty())
    sn::set_default_device(config.device);
  sn::manual_seed(config.seed);
  auto rows = sn::data::map(sn::data::CsvDataset(config.data),
                            [](std::span<const double> row) {
                              return Row({row.begin(), row.end() - 1},
                                         static_cast<float>(row.back()));
                            });
  auto [learned, held] = sn::data::split_every(rows, 5);
  sn::data::DataLoader train(
      learned, {.batch_size = config.batch,
                .workers = 1,
                .sampler = sn::data::random_sampler(config.seed)});
  sn::data::DataLoader valid(held, {.batch_size = 256});

  sn::data::DataLoader whole(learned, {.batch_size = learned.size()});
  auto [x, y] = *whole.begin();
  Model model(x, y, config);

  // The error in the target's own widths, whatever its unit.
  auto step = [](const Model &model, const Batch &batch) {
    sn::Tensor predicted = model.forward(batch.first);
    sn::Tensor loss = sn::mse_loss(predicted / model.width.tensor(),
                                   batch.second / model.width.tensor());
    return sn::metrics::RegressionOutput{loss, predicted, batch.second};
  };
  sn::optim::AdamW adamw(
      {.lr = config.lr, .weight_decay = config.weight_decay});
  sn::train::Learner learner(
      model, adamw, step,
      {.name = "regression",
       .folder = config.folder,
       .epochs = config.epochs,
       .log_every = 10,
       .config = config.to_json(),
       .checkpoints = {.keep_best = {{.metric = "r2"}}},
       .early_stopping = {{.metric = "r2", .patience = 10}}});
  learner.metric(sn::metrics::MeanLoss())
      .metric(sn::metrics::MeanAbsoluteError())
      .metric(sn::metrics::R2Score())
      .monitors();
  auto outcome = learner.fit(train, valid);
  sn::save_model(model, config.folder + "/model");
  std::printf("after %lld epochs: R2 %.4f, mean absolute error %.2f\n",
              static_cast<long long>(outcome.epochs), outcome("r2"),
              outcome("mae"));
  return outcome("r2") >= config.required_r2 ? 0 : 1;
}

int main(int argc, char **argv) try {
  return run(sn::parse_config<Config>(argc, argv));
} catch (const sn::Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
