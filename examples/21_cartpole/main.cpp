/// Cart and pole: a policy learns by playing. Batches are what the policy has
/// just played; they are learned from by proximal policy optimization (Schulman
/// et al., 2017): REINFORCE with a learned baseline, and steps that are
/// bounded.
#include "examples/21_cartpole/CartPole.h"

#include <sinter/Config.h>
#include <sinter/Train.h>
#include <sinter/sinter.h>

#include <cmath>
#include <cstdio>
#include <iterator>
#include <limits>

namespace sn = sinter;

struct Config {
  std::string folder = "cartpole", device;
  int64_t epochs = 20, updates = 25, games = 16, steps = 32, passes = 4,
          seed = 1;
  double lr = 5e-3, discount = 0.99, lambda = 0.95, entropy = 0.01, clip = 0.2;
  double required_return = 0;
  SINTER_DOC(folder, "for checkpoints, logs and the report")
  SINTER_DOC(device, "cpu, cuda:0, vulkan:0; without it the default one")
  SINTER_DOC(updates, "batches in an epoch")
  SINTER_DOC(games, "that are played side by side")
  SINTER_DOC(steps, "of each game in a batch")
  SINTER_DOC(passes, "updates by one batch")
  SINTER_DOC(clip, "how far the chance of an action may move by one batch")
  SINTER_CONFIG(Config, folder, device, epochs, updates, games, steps, passes,
                seed, lr, discount, lambda, entropy, clip, required_return)
};

/// What to do, and what is still to be won.
struct Policy {
  sn::nn::Linear fc1{CartPoles::measures, 64}, action{64, CartPoles::actions};
  sn::nn::Linear fc2{CartPoles::measures, 64}, value{64, 1};

  struct Output {
    sn::Tensor logits; ///< f32[n,2]
    sn::Tensor value;  ///< f32[n]
  };
  Output forward(const sn::Tensor &observations) const {
    return {action(sn::tanh(fc1(observations))),
            100 * sn::squeeze(value(sn::tanh(fc2(observations))), {1})};
  }
  SINTER_MODULE(Policy, fc1, action, fc2, value)
};

/// Steps of all games, as the policy played them.
struct Batch {
  sn::Tensor observations; ///< f32[n,4]
  sn::Tensor actions;      ///< i64[n]
  sn::Tensor advantages;   ///< f32[n]
  sn::Tensor returns;      ///< f32[n]
  double won = 0;          ///< the returns of games that ended
  int64_t ended = 0;
};

/// Plays, and is a loader of what was played: anything with begin() and end().
/// It has a cursor, too, so that a run goes on within an epoch.
class Player {
public:
  Player(const Policy &policy, CartPoles &games, const Config &config)
      : policy(policy), games(games), config(config) {}

  struct Iterator {
    Player *player;
    Batch batch = player->play();
    bool over = false;
    Batch &operator*() { return batch; }
    Iterator &operator++() {
      over = player->given == player->size();
      if (!over)
        batch = player->play();
      return *this;
    }
    bool operator==(std::default_sentinel_t) const { return over; }
  };
  Iterator begin() {
    given %= size();
    return {this};
  }
  std::default_sentinel_t end() const { return {}; }
  /// Batches of an epoch, and how many of it were given.
  int64_t size() const { return config.updates; }
  int64_t cursor() const { return given; }

  SINTER_RECORD(Player, given)

private:
  Batch play();

  const Policy &policy;
  CartPoles &games;
  Config config;
  int64_t given = 0;
};

Batch Player::play() {
  sn::no_grad guard;
  ++given;
  Batch batch;
  std::vector<float> seen, values;
  std::vector<int64_t> actions, lengths; // of games that ended, else 0
  for (int64_t step = 0; step <= config.steps; ++step) {
    std::vector<float> now = games.observations();
    auto [logits, value] =
        policy.forward(sn::tensor(now, {games.size(), CartPoles::measures}));
    sn::eval({logits, value});
    std::vector<float> worth = value.to_vector<float>();
    values.insert(values.end(), worth.begin(), worth.end());
    if (step == config.steps)
      break;
    std::vector<float> scores = logits.to_vector<float>();
    std::vector<int64_t> chosen;
    for (int64_t i = 0; i < games.size(); ++i) {
      double right = 1 / (1 + std::exp(scores[2 * i] - scores[2 * i + 1]));
      chosen.push_back(games.draw() < right);
    }
    games.step(chosen);
    seen.insert(seen.end(), now.begin(), now.end());
    actions.insert(actions.end(), chosen.begin(), chosen.end());
    for (int64_t i = 0; i < games.size(); ++i) {
      lengths.push_back(games.ended(i) ? games.lastLength(i) : 0);
      batch.won += static_cast<double>(lengths.back());
      batch.ended += games.ended(i);
    }
  }
  // Backwards in time: what came of each step, against what was expected.
  int64_t count = games.size(), total = config.steps * count;
  std::vector<float> advantages(total), returns(total);
  std::vector<double> next(count);
  for (int64_t i = total - 1; i >= 0; --i) {
    // A game that was stopped could have gone on about as it was.
    double after = lengths[i] == 0                    ? values[i + count]
                   : lengths[i] == CartPoles::longest ? values[i]
                                                      : 0;
    double &later = next[i % count];
    later = lengths[i] == 0 ? config.discount * config.lambda * later : 0;
    later += 1 + config.discount * after - values[i];
    advantages[i] = static_cast<float>(later);
    returns[i] = advantages[i] + values[i];
  }
  batch.observations = sn::tensor(seen, {total, CartPoles::measures});
  batch.actions = sn::tensor(actions);
  batch.advantages = sn::tensor(advantages);
  batch.returns = sn::tensor(returns);
  return batch;
}

struct Output {
  sn::Tensor loss, entropy;
  double won = 0;
  int64_t ended = 0;
};

/// The mean return of games that ended; numbers of the host.
class MeanReturn {
public:
  sn::metrics::MetricInfo info() const {
    return {.name = "return", .higher_is_better = true, .digits = 1};
  }
  void update(const Output &output) {
    won += output.won;
    ended += output.ended;
  }
  double value() const {
    return ended == 0 ? std::numeric_limits<double>::quiet_NaN()
                      : won / static_cast<double>(ended);
  }
  void reset() { won = 0, ended = 0; }
  /// For checkpoints within an epoch.
  sn::metrics::StateMap state() const {
    return {{"games", sn::tensor({won, static_cast<double>(ended)})}};
  }
  void load_state(const sn::metrics::StateMap &from) {
    auto games = from.at("games").to_vector<double>();
    won = games[0];
    ended = static_cast<int64_t>(games[1]);
  }

private:
  double won = 0;
  int64_t ended = 0;
};

/// The mean return where the better action is always taken.
static double playWell(const Policy &policy, int64_t count, uint64_t seed) {
  sn::no_grad guard;
  CartPoles games(count, seed);
  std::vector<int64_t> returns(count);
  int64_t playing = count;
  while (playing > 0) {
    sn::Tensor seen =
        sn::tensor(games.observations(), {count, CartPoles::measures});
    games.step(sn::argmax(policy.forward(seen).logits, 1).to_vector<int64_t>());
    for (int64_t i = 0; i < count; ++i)
      if (games.ended(i) && returns[i] == 0) {
        returns[i] = games.lastLength(i);
        --playing;
      }
  }
  double sum = 0;
  for (int64_t each : returns)
    sum += static_cast<double>(each);
  return sum / static_cast<double>(count);
}

static int run(const Config &config) {
  if (!config.device.empty())
    sn::set_default_device(config.device);
  sn::manual_seed(config.seed);
  Policy policy;
  CartPoles games(config.games, config.seed);
  Player player(policy, games, config);
  sn::optim::Adam adam({.lr = config.lr});

  // Each batch is learned from several times, until the policy has moved.
  auto step = [&](Policy &policy, Batch &batch, sn::train::Updates &update) {
    sn::Tensor advantages = (batch.advantages - sn::mean(batch.advantages)) /
                            (sn::std(batch.advantages) + 1e-6);
    sn::Tensor before, loss, entropy;
    for (int64_t pass = 0; pass < config.passes; ++pass) {
      auto [logits, value] = policy.forward(batch.observations);
      sn::Tensor chances = sn::log_softmax(logits, 1);
      sn::Tensor taken = sn::squeeze(
          sn::gather(chances, sn::unsqueeze(batch.actions, 1), 1), {1});
      if (pass == 0)
        before = taken.detach();
      sn::Tensor ratio = sn::exp(taken - before);
      sn::Tensor gain = sn::minimum(
          ratio * advantages,
          sn::clamp(ratio, 1 - config.clip, 1 + config.clip) * advantages);
      entropy = -sn::mean(sn::sum(sn::exp(chances) * chances, 1));
      loss = 0.5 * sn::mse_loss(value / 100, batch.returns / 100) -
             sn::mean(gain) - config.entropy * entropy;
      update(adam, policy, loss);
    }
    return Output{loss, entropy, batch.won, batch.ended};
  };
  sn::train::Learner learner(policy, adam, step,
                             {.name = "cartpole",
                              .folder = config.folder,
                              .epochs = config.epochs,
                              .clip_norm = 0.5,
                              .log_every = 5,
                              .config = config.to_json()});
  learner.metric(MeanReturn())
      .metric(sn::metrics::MeanLoss(),
              [](const Output &output) {
                return sn::metrics::LossInput{output.loss};
              })
      .metric(sn::metrics::MeanLoss("entropy"),
              [](const Output &output) {
                return sn::metrics::LossInput{output.entropy};
              })
      .schedule(sn::optim::linear_lr(
          {.start_factor = 1,
           .end_factor = 0.05,
           .total_iters = config.epochs * config.updates * config.passes}))
      .keep("games", games)
      .monitors();
  learner.fit(player);
  sn::save_model(policy, config.folder + "/policy");
  double mean = playWell(policy, 20, config.seed + 1);
  std::printf("mean return of 20 games: %.1f of %lld\n", mean,
              static_cast<long long>(CartPoles::longest));
  return mean >= config.required_return ? 0 : 1;
}

int main(int argc, char **argv) try {
  return run(sn::parse_config<Config>(argc, argv));
} catch (const sn::Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
