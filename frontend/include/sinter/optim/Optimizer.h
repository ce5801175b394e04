/// Optimizer: what every optimizer does with parameters, gradients and state.
#pragma once

#include <sinter/Fields.h>
#include <sinter/Patterns.h>
#include <sinter/Transforms.h>
#include <sinter/optim/StepNumber.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sinter {
class ModelExport;
class Record;

} // namespace sinter

namespace sinter::optim {

/// What parameters of a group have in place of the optimizer's own options.
struct GroupOptions {
  /// The rate while the optimizer's is what it is now; it changes with that, in
  /// proportion, so schedules hold for all groups.
  std::optional<double> lr = {};
  std::optional<double> weight_decay = {};
};

/// Keeps state for each parameter it has updated, keyed by the parameter's
/// cell: tied parameters share it, copies of a model have their own. Copying
/// an optimizer is not possible. Not thread-safe.
class Optimizer {
public:
  using Where = std::source_location;

  virtual ~Optimizer() = default;
  Optimizer(const Optimizer &) = delete;
  Optimizer &operator=(const Optimizer &) = delete;

  /// Records the update of every parameter of `model` (a module, a Param, a
  /// vector of these) that wants gradients and has one; nothing runs. A model
  /// without any gradient here is an error. The gradients are given up: what
  /// is not held elsewhere need never exist as a tensor.
  template <typename T>
  void step(T &model, Gradients &&gradients, Where where = Where::current()) {
    Gradients consumed = std::move(gradients);
    stepFields(detail::allFieldsOf(model), consumed, where);
  }
  /// The same; the gradients stay readable.
  template <typename T>
  void step(T &model, const Gradients &gradients,
            Where where = Where::current()) {
    stepFields(detail::allFieldsOf(model), gradients, where);
  }
  /// The same where `condition`, a bool of rank 0, turns out to be true; else
  /// parameters, moments and the count of steps stay as they are. That is
  /// decided where the program runs: nothing is read, and both cases are one
  /// program. The count is then a number of the device, in f64. NAdam and
  /// RAdam, which compute more of their count, are an error, and so is a step
  /// that is recorded for a file.
  template <typename T>
  void step_if(const Tensor &condition, T &model, Gradients &&gradients,
               Where where = Where::current()) {
    Gradients consumed = std::move(gradients);
    stepFieldsIf(condition, detail::allFieldsOf(model), consumed, where);
  }

  /// The learning rate; always an argument of programs, so changing it
  /// compiles nothing. It is a finite number from 0 on.
  double lr() const { return rate; }
  void set_lr(double value, Where where = Where::current());

  /// Gives the parameters of `part` (a module, a Param, a vector of these)
  /// options of their own, as PyTorch's parameter groups do. One that is in a
  /// group already is an error, and so is a rate beside one of 0, and any group
  /// of Rprop. Copies of parameters are in no group; files hold none.
  template <typename T>
  void add_group(T &part, const GroupOptions &options,
                 Where where = Where::current()) {
    addGroup(detail::allFieldsOf(part), {}, options, where);
  }
  /// The same for the parameters of `model` whose path satisfies `selects`:
  ///
  ///     adamw.add_group(model, [](std::string_view path) {
  ///       return path.ends_with("bias"); }, {.weight_decay = 0});
  template <typename T>
  void add_group(T &model, const std::function<bool(std::string_view)> &selects,
                 const GroupOptions &options, Where where = Where::current()) {
    addGroup(detail::allFieldsOf(model), selects, options, where);
  }
  /// The same for those that patterns select (sinter/Patterns.h); a pattern
  /// that selects none is an error:
  ///
  ///     adamw.add_group(model, {"*.bias", "norm*"}, {.weight_decay = 0});
  template <typename T>
  void add_group(T &model, const Patterns &patterns,
                 const GroupOptions &options, Where where = Where::current()) {
    detail::Fields fields = detail::allFieldsOf(model);
    std::vector<bool> chosen = detail::selectParams(
        fields, patterns, detail::Selectable::all, "add_group", where);
    detail::Fields part;
    for (size_t i = 0; i < chosen.size(); ++i)
      if (chosen[i])
        part.params.push_back(fields.params[i]);
    addGroup(part, {}, options, where);
  }

  /// Writes the state as safetensors, by the parameters' record ids.
  void save(const std::string &file, Where where = Where::current()) const;
  /// Reads it back for the parameters of `model`; all or nothing.
  template <typename T>
  void load(T &model, const std::string &file, Where where = Where::current()) {
    loadFields(detail::allFieldsOf(model), file, where);
  }

  /// The same as a record, which `Record::put` and `get` take
  /// (sinter/Record.h).
  Record into_record(Where where = Where::current()) const;
  template <typename T>
  void load_record(T &model, const Record &record,
                   Where where = Where::current()) {
    loadRecordFields(detail::allFieldsOf(model), record, where);
  }

protected:
  /// State of each parameter, of its shape, and each element's first value.
  struct Moment {
    std::string name;
    double first = 0;
  };
  Optimizer(std::string kind, std::vector<Moment> moments, double rate);

  /// One parameter in one step. `moments` are in the constructor's order.
  struct Update {
    Tensor value;
    Tensor gradient;
    std::vector<Tensor> moments;
    int64_t step = 1; ///< counts this parameter's updates, from 1
    DType compute;    ///< the dtype of moments and arithmetic: f32 or f64
    StepNumber lr;    ///< of its group
    size_t group = 0; ///< 0 for none
  };
  /// `update.step`, and a base to the power of it. A number that depends on the
  /// count is made of these, so that a file can go on counting; `record` of an
  /// optimizer that makes it in another way calls `refuseFile`.
  StepNumber countOf(const Update &update);
  StepNumber powerOf(const Update &update, double base);
  /// Throws while a step is recorded for a file.
  void refuseFile() const;
  /// Whether all that depends on the count is made of these: else `step_if` is
  /// an error.
  virtual bool countsOnDevice() const { return true; }
  /// Whether rate and weight decay mean something.
  virtual bool takesGroups() const { return true; }
  /// Records the new value and, in place, the new moments.
  virtual Tensor record(Update &update) = 0;
  /// A dynamic scalar; made once a step and shared by the parameters, which
  /// ask for theirs in one order.
  Tensor scalarOf(const Update &update, double value);
  Tensor scalarOf(const Update &update, const StepNumber &number);
  /// The group's weight decay, or else `common`, the optimizer's.
  double decayOf(const Update &update, double common) const;
  /// The gradient, or its negative to maximize; plus the parameter times
  /// `weightDecay` unless that is 0.
  Tensor gradientOf(const Update &update, double weightDecay, bool maximize);
  /// mean * beta + value * (1 - beta).
  Tensor runningMean(const Update &update, const Tensor &mean,
                     const Tensor &value, double beta);

private:
  friend class sinter::ModelExport; // knows optimizers by their numbers
  /// The steps that were taken, where the device decided that, and powers of
  /// that count. One for all parameters that took the same steps.
  struct TakenSteps {
    std::map<std::string, runtime::CellRef> numbers;
    std::map<std::string, Tensor> now; ///< in the step that is recorded
  };
  struct State {
    std::weak_ptr<runtime::Cell> parameter;
    uint64_t recordId = 0;
    std::vector<runtime::CellRef> moments;
    int64_t loadedSteps = 0;           ///< updates before these cells were made
    std::shared_ptr<TakenSteps> taken; ///< null: every step was taken
    int64_t steps() const;
  };

  void stepFields(const detail::Fields &fields, const Gradients &gradients,
                  std::source_location where);
  void stepFieldsIf(const Tensor &condition, const detail::Fields &fields,
                    const Gradients &gradients, std::source_location where);
  /// `now` where the step is taken, else `before`.
  Tensor ifTaken(const Tensor &now, const Tensor &before) const;
  /// Gives the parameters of a step, and no others, one count of steps taken.
  void shareTakenSteps(const std::vector<const Param *> &params);
  void endTakenSteps(const std::vector<const Param *> &params);
  /// A number of the steps taken: its value before the next one, and what the
  /// next one makes of it.
  StepNumber countedOnDevice(const Update &update, const std::string &name,
                             double before, double now,
                             const std::function<Tensor(Tensor)> &next);
  int64_t stepsOf(const State &state, std::source_location where) const;
  void captureStep(const std::vector<const Param *> &params,
                   const std::vector<Tensor> &gradients,
                   std::source_location where);
  void addGroup(const detail::Fields &fields,
                const std::function<bool(std::string_view)> &selects,
                const GroupOptions &options, std::source_location where);
  void loadFields(const detail::Fields &fields, const std::string &file,
                  std::source_location where);
  void loadRecordFields(const detail::Fields &fields, const Record &record,
                        std::source_location where);
  /// Live states by record id; an Error of `call` where two have the same.
  std::map<uint64_t, const State *>
  statesById(const char *call, std::source_location where) const;
  void stepParam(const Param &param, const Tensor &gradient,
                 std::source_location where);
  State &stateOf(const Param &param);
  void dropDead();

  const uint64_t number; ///< no other one of the process has or had it
  std::string kind;
  std::vector<Moment> moments;
  double rate;
  std::unordered_map<uint64_t, State> states;
  struct Group {
    double rateFactor = 1; ///< of the optimizer's rate
    std::optional<double> weightDecay;
  };
  std::vector<Group> groups{{}}; ///< the first for what is in none
  struct Membership {
    std::weak_ptr<runtime::Cell> parameter;
    size_t group = 0;
  };
  std::unordered_map<uint64_t, Membership> groupOf; ///< by cell
  /// One of this step. Which of them are shared must not depend on chance
  /// (two that happen to be equal in one step), as programs do: a scalar is
  /// the same for all parameters of a group that make it as their `place`th.
  struct Scalar {
    size_t group;
    size_t place;
    double value;
    Tensor tensor;
  };
  std::vector<Scalar> scalars;
  size_t nextPlace = 0; ///< of the parameter that is being recorded

  /// While a step is recorded for a file. State that only files have: what
  /// counts steps, by what it is and the count that it begins with.
  StepNumber countedInFile(const Update &update, const std::string &name,
                           double before, double now,
                           const std::function<Tensor(Tensor)> &next);
  std::map<std::string, runtime::CellRef> fileCounts;
  std::map<std::string, Tensor> counted; ///< in this step
  std::string stepped;                   ///< the parameters of this step
  Tensor condition;                      ///< of this step; empty: it is taken
  std::shared_ptr<TakenSteps> taken;     ///< of the parameter being recorded
  runtime::CellRef stepping;             ///< the one that is being recorded
};

} // namespace sinter::optim
