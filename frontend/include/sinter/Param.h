/// Param: a named value of a module that training changes.
#pragma once

#include <sinter/runtime/Cell.h>

#include <sinter/Held.h>
#include <sinter/Init.h>
#include <sinter/Tensor.h>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace sinter {

/// Makes one tensor of another; records, and reads no values.
using TensorMapper = std::function<Tensor(const Tensor &)>;

/// What stands between a Param and files: how a value that was read becomes
/// the parameter's, and the parameter's becomes the one to write. A value, kept
/// by copies; empty unless mappers were added.
class ParamMapper {
public:
  /// The same with `function` after the load mappers that there are.
  ParamMapper on_load(TensorMapper function) const;
  /// The same with `function` before the save mappers that there are: mappers
  /// that were added in pairs undo each other.
  ParamMapper on_save(TensorMapper function) const;

  bool has_load() const { return load != nullptr; }
  bool has_save() const { return save != nullptr; }
  /// What the load mappers make of a file's tensor; itself without any.
  Tensor loaded(const Tensor &value) const;
  /// What the save mappers make of a parameter's value; itself without any.
  Tensor saved(const Tensor &value) const;

private:
  std::shared_ptr<const TensorMapper> load, save;
};

class Param;
class Parametrization;

namespace detail {
struct Fields;
/// The Params that live in these bytes and are not empty, by address.
std::vector<const Param *> paramsWithin(const void *begin, size_t size);
void keepTies(const Fields &from, const Fields &copy);

/// What makes Params findable by where they stand in memory, so that a module
/// can tell which of those inside it none of its fields named.
class LiveParam {
protected:
  LiveParam();
  LiveParam(const LiveParam &);
  LiveParam(LiveParam &&) noexcept;
  LiveParam &operator=(const LiveParam &) { return *this; }
  LiveParam &operator=(LiveParam &&) noexcept { return *this; }
  ~LiveParam();
};
} // namespace detail

struct ParamOptions {
  DType dtype = DType::f32;
  std::optional<DeviceId> device = {}; ///< default: the thread's default device
  bool requires_grad = true;
};

/// What a Param is made of, taken apart by `consume`.
struct ParamParts {
  uint64_t record_id = 0;
  std::string name;
  Tensor value;
  ParamMapper mapper;
  bool requires_grad = true; ///< false for a constant, which cannot be trained
  bool frozen = false;       ///< require_grad(false) was said: it can be undone
};

/// A value like any other: a copy has the same name, record id and contents
/// and changes by itself from then on (memory and first value are shared until
/// one of them does). Only `tie` makes two Params one. Operations take a Param
/// where they take a Tensor. A default-constructed Param is empty, and so is
/// one that was moved from: only assignment, copying, `tie` to another and
/// `defined` are allowed on it, all else is an Error.
class Param : detail::LiveParam {
public:
  using Where = std::source_location;

  Param() = default;
  /// Nothing is allocated or computed until the value is needed; the numbers
  /// of a random `init` are decided now. Shape, dtype and device are known.
  Param(std::string name, const Dims &shape, Init init,
        const ParamOptions &options = {}, Where where = Where::current());
  /// Takes the tensor's value, dtype, shape and device.
  explicit Param(const Tensor &value, std::string name = {},
                 bool requires_grad = true, Where where = Where::current());
  Param(const Param &other);
  Param &operator=(const Param &other);
  Param(Param &&) noexcept = default;
  Param &operator=(Param &&) noexcept = default;
  /// A Param of these parts: the same record id, name and mappers, another
  /// value, perhaps of another type. Evaluates the value.
  static Param from_mapped_value(ParamParts parts,
                                 Where where = Where::current());

  /// Whether it is not empty. A Param is no condition, as a Tensor is none.
  bool defined() const { return state != nullptr; }
  std::string name() const { return held("name").name(); }
  /// Names this parameter in files of optimizers; kept by copies and by files.
  uint64_t record_id() const { return recordId; }
  DType dtype() const { return held("dtype").dtype(); }
  DeviceId device() const { return held("device").device(); }
  int64_t rank() const { return static_cast<int64_t>(shape().size()); }
  const Dims &shape() const { return held("shape").dims(); }
  int64_t numel() const;
  bool requires_grad() const {
    bool wants = held("requires_grad").requiresGrad();
    return !frozen && !predicting && wants;
  }
  /// Whether gradients are wanted; a frozen Param is not trained.
  void require_grad(bool on = true) { frozen = !on; }
  /// Whether the first value was made. Asking makes nothing, nor do shape(),
  /// dtype(), device() and requires_grad(), which are known from the beginning.
  bool is_initialized() const;
  DeviceId lazy_device() const { return device(); }  ///< device()
  const Dims &lazy_shape() const { return shape(); } ///< shape()
  bool lazy_require_grad() const {
    return requires_grad();
  } ///< requires_grad()

  /// The value now; under a parametrization, what that makes of it. A recorded
  /// update that nobody asked for yet runs first.
  Tensor tensor(Where where = Where::current()) const;
  /// The value itself, which optimizers change and files keep.
  Tensor own_value(Where where = Where::current()) const;
  /// Records that the value becomes `value` (same dtype, shape and device).
  void set(const Tensor &value, Where where = Where::current());
  /// Makes this Param the same as `other` (same dtype, shape and device, unless
  /// this one is empty).
  void tie(const Param &other, Where where = Where::current());
  /// A copy on another device.
  Param to(DeviceId device, Where where = Where::current()) const;
  /// A copy of another dtype. Nothing but floats has one: others are copied.
  Param cast(DType dtype, Where where = Where::current()) const;
  /// A copy whose value is what `function` makes of this one's, perhaps of
  /// another type; makes the first value if need be.
  Param map(const TensorMapper &function, Where where = Where::current()) const;
  /// A copy whose first value is what `function` makes of this one's first
  /// value, of the same type; lazily. `map` when there is a value already.
  Param init_mapper(TensorMapper function,
                    Where where = Where::current()) const;
  /// A copy with one more mapper of values that are read from a file, or
  /// written to one; what it makes of a file's tensor is of this one's type.
  Param load_mapper(TensorMapper function) const;
  Param save_mapper(TensorMapper function) const;
  const ParamMapper &mapper() const { return fileMapper; }
  /// From now on `tensor` gives what `form` makes of the value. The Params of
  /// the form stand below this one in its module. An Error if this has a form
  /// already; an empty pointer takes it away.
  void parametrize(std::shared_ptr<Parametrization> form,
                   Where where = Where::current());
  /// Null without one.
  Parametrization *parametrization() const { return form.get(); }
  /// Takes this apart and leaves it empty. An Error under a parametrization.
  ParamParts consume(Where where = Where::current());

  /// For layers on top: the Param that lives in this cell.
  static Param of_cell(runtime::CellRef cell, uint64_t record_id);
  /// The same: like `like`, but its first value is `value`, not evaluated yet.
  static Param pending(const Param &like, const Tensor &value);
  /// What the value lives in; the key of gradients and optimizer state.
  const runtime::CellRef &cell() const { return state; }
  /// Becomes `other` but for the parametrization, of which it keeps its own or
  /// none: what a walk has found of that stays where it is.
  void become(Param &&other);
  /// For readers of files.
  void set_record_id(uint64_t id) { recordId = id; }
  /// For `valid()` and `train()` of modules: while on, no gradient is wanted,
  /// and what `require_grad` said is remembered.
  void set_predicting(bool on) { predicting = on; }

private:
  friend std::vector<const Param *> detail::paramsWithin(const void *, size_t);
  /// The cell; an Error of `call` when empty.
  const runtime::Cell &held(const char *call, Where where = {}) const {
    return detail::held(state, call, where);
  }
  /// A copy with another value, perhaps of another type.
  Param replaced(const Tensor &value, Where where) const;
  /// Shares the value of `other` and what is said of it.
  void share(const Param &other, Where where);
  friend void detail::keepTies(const detail::Fields &, const detail::Fields &);

  runtime::CellRef state;
  uint64_t recordId = 0;
  ParamMapper fileMapper;
  std::shared_ptr<Parametrization> form; ///< of this one alone, or of tied ones
  bool frozen = false;
  bool predicting = false;
};

/// `Param: 9e3779b97f4a7c15`: the record id.
std::ostream &operator<<(std::ostream &stream, const Param &param);
/// `ParamMapper { load: true, save: false }`: which mappers there are.
std::ostream &operator<<(std::ostream &stream, const ParamMapper &mapper);
/// All that is known without a value: `Param: 9e3779b97f4a7c15 'weight'
/// f32[10,4] on cpu, trained, ParamMapper { load: false, save: false }`.
std::string
describe(const Param &param,
         std::source_location where = std::source_location::current());

} // namespace sinter
