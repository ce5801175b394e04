/// HybridModel: any module as the model of a trainer that knows no tensors;
/// HybridTrainer: steps of an optimizer, and steps that are predicted.
#pragma once

#include <sinter/Module.h>
#include <sinter/optim/Optimizer.h>
#include <sinter/train/Values.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <source_location>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace sinter::train {

/// A module with what makes a loss of it: `loss(module, batch)` gives a scalar.
/// Batches are of any type that the function takes.
///
///     sn::train::HybridModel model(Mlp(), [](const Mlp &mlp, const Batch &b) {
///       return sn::cross_entropy(mlp(b.images), b.labels);
///     });
///
/// It takes the module over: move one in, and out again by `into_module`; one
/// that is copied in stays as it is. Everything is recorded as the same lines
/// without it would be: the same programs run. A module goes to its device
/// before.
///
/// Threads. `forward`, `backward`, `gradients` and reading may be called by
/// many threads at once, if `loss` may be; gradients go to other threads. What
/// changes weights (`apply_weight_delta`, an optimizer's step, `module()` that
/// is changed) is called by one thread, while no other uses the model.
template <typename ModuleType, typename Loss> class HybridModel {
public:
  using Where = std::source_location;

  HybridModel(ModuleType module, Loss loss)
      : own(std::move(module)), loss(std::move(loss)),
        keys(detail::keysOf(sinter::detail::allFieldsOf(own))),
        last(std::make_unique<Last>()) {}

  /// Records the loss of a batch; the calling thread's `backward` is of it.
  template <typename Batch>
  Tensor forward(const Batch &batch, Where where = Where::current()) {
    Tensor value = lossOf(batch, where);
    std::lock_guard lock(last->mutex);
    last->losses[std::this_thread::get_id()] = value;
    return value;
  }
  /// Records the gradients of the last loss of this thread, once; without one
  /// it is an Error.
  KeyedGradients backward(Where where = Where::current()) {
    Tensor value;
    {
      std::lock_guard lock(last->mutex);
      auto found = last->losses.extract(std::this_thread::get_id());
      if (!found.empty())
        value = std::move(found.mapped());
    }
    if (!value.defined())
      detail::throwNoForward(where);
    return {keys, value.backward(where)};
  }
  /// Both for one batch, without a state between.
  struct Step {
    Tensor loss;
    KeyedGradients gradients;
  };
  template <typename Batch>
  Step gradients(const Batch &batch, Where where = Where::current()) const {
    Tensor value = lossOf(batch, where);
    KeyedGradients found(keys, value.backward(where));
    return {std::move(value), std::move(found)};
  }
  /// The loss alone, recorded without gradients.
  template <typename Batch>
  Tensor loss_of(const Batch &batch, Where where = Where::current()) const {
    no_grad guard;
    return lossOf(batch, where);
  }

  /// Adds `scale` times a delta to the weights: vectors by path, tensors by
  /// path, or one vector as `weights` has it. Parameters keep their ids, dtypes
  /// and wishes for gradients. A path or size that does not fit is an Error,
  /// and then nothing was changed.
  void apply_weight_delta(const VectorDelta &delta, double scale = 1,
                          Where where = Where::current()) {
    own.apply_weight_delta(detail::deltaOf(*keys, delta, where), scale, where);
  }
  void apply_weight_delta(const WeightDelta &delta, double scale = 1,
                          Where where = Where::current()) {
    own.apply_weight_delta(delta, scale, where);
  }
  /// The trained weights as one vector, in the order of `flat_gradients`.
  Tensor weights(Where where = Where::current()) const {
    return detail::flatWeights(sinter::detail::allFieldsOf(own), where);
  }

  /// Elements of all parameters that can be trained.
  int64_t parameter_count() const { return own.num_params(); }
  const std::vector<ParamKey> &parameters() const { return *keys; }

  ModuleType &module() { return own; }
  const ModuleType &module() const { return own; }
  ModuleType into_module() && { return std::move(own); }

private:
  template <typename Batch>
  Tensor lossOf(const Batch &batch, const Where &where) const {
    sinter::detail::SourceScope scope(where);
    return loss(own, batch);
  }

  /// Losses that were recorded last, by thread.
  struct Last {
    std::mutex mutex;
    std::map<std::thread::id, Tensor> losses;
  };

  ModuleType own;
  Loss loss;
  KeyedGradients::Keys keys;
  std::unique_ptr<Last> last;
};

/// An optimizer as such trainers know it.
class HybridOptimizer {
public:
  using Where = std::source_location;

  explicit HybridOptimizer(std::unique_ptr<optim::Optimizer> optimizer,
                           Where where = Where::current());
  /// The optimizer is made in place:
  /// `HybridOptimizer::of<sn::optim::Sgd>(sn::optim::SgdOptions{.lr = 0.1})`.
  template <typename O, typename... Args>
  static HybridOptimizer of(Args &&...args) {
    return HybridOptimizer(std::make_unique<O>(std::forward<Args>(args)...));
  }

  /// Records the step.
  template <typename M, typename L>
  void step(HybridModel<M, L> &model, KeyedGradients &&gradients,
            Where where = Where::current()) {
    own->step(model.module(), std::move(gradients).gradients(), where);
  }
  template <typename M, typename L>
  void step(HybridModel<M, L> &model, const KeyedGradients &gradients,
            Where where = Where::current()) {
    own->step(model.module(), gradients.gradients(), where);
  }
  float learning_rate() const { return static_cast<float>(own->lr()); }
  void set_learning_rate(float rate, Where where = Where::current()) {
    own->set_lr(rate, where);
  }
  /// Does nothing: gradients are values, and none is kept.
  void zero_grad() {}

  optim::Optimizer &optimizer() { return *own; }

private:
  std::unique_ptr<optim::Optimizer> own;
};

//===- The trainer --------------------------------------------------------===//

/// What a step of a hybrid trainer does.
enum class Phase : uint8_t {
  warmup,  ///< full steps, once, at the beginning
  full,    ///< forward, backward and the optimizer; weights' changes are noted
  predict, ///< forward, and a predicted change of the weights
  correct, ///< full steps, after predicted ones
};
std::string_view to_string(Phase phase);

/// How many steps of each phase; after the warmup full, predict and correct
/// follow each other again and again.
struct HybridSchedule {
  int64_t warmup = 20;
  int64_t full = 20;
  int64_t predict = 5;
  int64_t correct = 5;
  /// Changes of full steps that predictors are given, at most: the last ones.
  int64_t history = 4;
  /// A predicted step whose loss, before it, is above this many times the mean
  /// loss of the full steps ends the phase without a change; losses are 0 or
  /// more.
  double worst_loss = 1.5;
};

/// Predicts the next change of the weights of the last ones, the oldest first:
/// vectors as HybridModel::weights gives them. Records; gives another such
/// vector.
using DeltaPredictor = std::function<Tensor(std::span<const Tensor> deltas)>;

/// Linear extrapolation: the weights go on as they went on the whole, so the
/// mean of the changes.
Tensor extrapolate_linearly(std::span<const Tensor> deltas);

/// One step.
struct HybridReport {
  Phase phase = Phase::warmup;
  int64_t step = 0;       ///< from 0
  double loss = 0;        ///< of the batch, before the step
  bool predicted = false; ///< whether a predicted change was made
};

namespace detail {

/// Which phase comes when, and what predictors are given.
class HybridPlan {
public:
  HybridPlan(const HybridSchedule &schedule, DeltaPredictor predictor,
             std::source_location where);

  Phase phase() const { return now; }
  int64_t step() const { return taken; }
  /// Whether changes of weights are wanted of the step that comes.
  bool wantsDelta() const;
  /// After a full step; `before` and `after` are weights, or empty.
  void noteFull(double loss, const Tensor &before, const Tensor &after,
                std::source_location where);
  /// The predicted change; empty where the loss is too bad, which ends the
  /// phase, or nothing is known yet.
  Tensor predict(double loss, std::source_location where);

private:
  void advance();
  void skipEmpty();
  int64_t lengthOf(Phase phase) const;

  HybridSchedule schedule;
  DeltaPredictor predictor;
  Phase now = Phase::warmup;
  int64_t inPhase = 0;
  int64_t taken = 0;
  std::vector<Tensor> deltas;
  double lossSum = 0;
  int64_t lossCount = 0;
};

} // namespace detail

/// Trains by an optimizer's steps and, between them, by predicted changes of
/// the weights, which take no backward pass. A predicted step's weights are not
/// the optimizer's: its state stays as it is until the next full step.
template <typename M, typename L> class HybridTrainer {
public:
  using Where = std::source_location;

  /// Both live as long as this does.
  HybridTrainer(HybridModel<M, L> &model, HybridOptimizer &optimizer,
                const HybridSchedule &schedule = {},
                DeltaPredictor predictor = extrapolate_linearly,
                Where where = Where::current())
      : model(model), optimizer(optimizer),
        plan(schedule, std::move(predictor), where) {}

  Phase phase() const { return plan.phase(); }

  /// Makes one step and reads its loss.
  template <typename Batch>
  HybridReport step(const Batch &batch, Where where = Where::current()) {
    return plan.phase() == Phase::predict ? predictedStep(batch, where)
                                          : fullStep(batch, where);
  }

private:
  template <typename Batch>
  HybridReport fullStep(const Batch &batch, const Where &where) {
    HybridReport report{plan.phase(), plan.step(), 0, false};
    bool wantsDelta = plan.wantsDelta();
    Tensor before = wantsDelta ? model.weights(where) : Tensor();
    Tensor loss = model.forward(batch, where);
    optimizer.step(model, model.backward(where), where);
    report.loss = loss.item<double>(where);
    Tensor after = wantsDelta ? model.weights(where) : Tensor();
    plan.noteFull(report.loss, before, after, where);
    return report;
  }
  template <typename Batch>
  HybridReport predictedStep(const Batch &batch, const Where &where) {
    HybridReport report{Phase::predict, plan.step(), 0, false};
    report.loss = model.loss_of(batch, where).template item<double>(where);
    if (Tensor delta = plan.predict(report.loss, where); delta.defined()) {
      model.apply_weight_delta(WeightDelta(delta), 1, where);
      report.predicted = true;
    }
    return report;
  }

  HybridModel<M, L> &model;
  HybridOptimizer &optimizer;
  detail::HybridPlan plan;
};

} // namespace sinter::train
