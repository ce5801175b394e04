/// Accumulate: gradients of several small batches as those of a big one.
#pragma once

#include <sinter/Fields.h>
#include <sinter/Module.h>
#include <sinter/Transforms.h>

#include <cstdint>
#include <map>
#include <source_location>
#include <string>
#include <vector>

namespace sinter::train {

/// Sums gradients, so that a step can be that of more rows than fit into
/// memory at once:
///
///     sn::train::GradientsAccumulator sums;
///     for (Batch &batch : loader) {
///       sums.accumulate(model, loss(batch).backward());
///       if (sums.count() == 4)
///         optimizer.step(model, sums.take_mean());
///     }
///
/// Accumulating records; the next one, or a reading of the loss, evaluates it.
/// Every small batch runs the same program, and the sums change in place. They
/// are f32 for parameters of fewer bits.
///
/// Several devices: each has a copy of the model and a part of the batch, and
/// the sums are where the model is that came first. `take_mean(model)` gives
/// the gradients of the copies to the model that is trained:
///
///     sums.accumulate(model, loss(model, part).backward());
///     sums.accumulate(copy, loss(copy, other).backward()); // of model.fork
///     optimizer.step(model, sums.take_mean(model));
///
/// A module: records and files hold the
/// sums, so a training can be interrupted between two small batches; `resume`
/// takes what else there is to know.
class GradientsAccumulator {
public:
  using Where = std::source_location;

  /// Sums are made as gradients come; those of a model at once, as reading
  /// them from a file needs.
  GradientsAccumulator() = default;
  template <typename T>
  explicit GradientsAccumulator(const T &model,
                                Where where = Where::current()) {
    prepare(detail::allFieldsOf(model), where);
  }

  /// Adds the gradients of the Params of `model` that want one; the others are
  /// left alone, and none of them at all is an error. Those of another device
  /// go to that of the sums. `weight`, a positive number, counts in take_mean:
  /// the rows of the batch, where batches differ.
  template <typename T>
  void accumulate(const T &model, const Gradients &gradients, double weight = 1,
                  Where where = Where::current()) {
    add(detail::allFieldsOf(model), gradients, weight, where);
  }
  /// How many this object was given since its last take.
  int64_t count() const { return numAdded; }
  /// Paths of the Params that had a gradient since the last take.
  std::vector<std::string> paths() const;
  /// Goes on where another object was, whose sums were read into this one:
  /// behind `count` small batches that gave gradients to the Params of these
  /// paths. One that `model` or the sums do not have is an error.
  template <typename T>
  void resume(const T &model, int64_t count,
              const std::vector<std::string> &paths,
              Where where = Where::current()) {
    goOn(detail::allFieldsOf(model), count, paths, where);
  }
  /// The sums of gradients times their weights; they begin at 0 again. Params
  /// that had no gradient since the last take have none. They are those of the
  /// model that `accumulate` was given last, or of `model`, on its devices,
  /// which has to have all of their paths. An error when nothing was
  /// accumulated.
  Gradients take(Where where = Where::current()) {
    return taken(nullptr, false, where);
  }
  template <typename T>
  Gradients take(const T &model, Where where = Where::current()) {
    detail::Fields fields = detail::allFieldsOf(model);
    return taken(&fields, false, where);
  }
  /// The same divided by the sum of the weights: where losses are means, the
  /// gradients of the mean over all rows.
  Gradients take_mean(Where where = Where::current()) {
    return taken(nullptr, true, where);
  }
  template <typename T>
  Gradients take_mean(const T &model, Where where = Where::current()) {
    detail::Fields fields = detail::allFieldsOf(model);
    return taken(&fields, true, where);
  }

private:
  void prepare(const detail::Fields &fields, Where where);
  Param &sumOf(const std::string &path, const Param &param, Where where);
  void add(const detail::Fields &fields, const Gradients &gradients,
           double weight, Where where);
  Gradients taken(const detail::Fields *model, bool isMean, Where where);
  void goOn(const detail::Fields &fields, int64_t count,
            const std::vector<std::string> &paths, Where where);

  std::map<std::string, uint64_t> added; ///< cells since the last take, by path
  int64_t numAdded = 0;

public:
  std::map<std::string, Param> sums; ///< by path
  Param total_weight;                ///< f32, of rank 0

  SINTER_MODULE(GradientsAccumulator, sums, total_weight)
};

} // namespace sinter::train
