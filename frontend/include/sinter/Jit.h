/// jit: a function of tensors and modules that is recorded once and replayed.
#pragma once

#include <sinter/Fields.h>
#include <sinter/Held.h>
#include <sinter/Transforms.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace sinter {

struct JitOptions {
  /// Arguments of other types than the first call's are an error, in place of
  /// another recording. Symbolic axes may have any size.
  bool strict = false;
};

namespace detail {

/// What can be passed to a jitted function and come out of it.
template <typename T> struct IsJitValue {
  static constexpr bool value =
      Module<T> || std::is_arithmetic_v<T> || std::is_enum_v<T>;
};
template <typename T> constexpr bool isJitValue = IsJitValue<T>::value;
template <> struct IsJitValue<Tensor> : std::true_type {};
template <> struct IsJitValue<Param> : std::true_type {};
template <> struct IsJitValue<Gradients> : std::true_type {};
template <> struct IsJitValue<std::string> : std::true_type {};
template <> struct IsJitValue<std::vector<bool>> : std::false_type {};
template <typename T>
struct IsJitValue<std::vector<T>> : std::bool_constant<isJitValue<T>> {};
template <typename T>
struct IsJitValue<std::optional<T>> : std::bool_constant<isJitValue<T>> {};
template <typename T, size_t n>
struct IsJitValue<std::array<T, n>> : std::bool_constant<isJitValue<T>> {};
template <typename T>
struct IsJitValue<std::map<std::string, T>>
    : std::bool_constant<isJitValue<T>> {};
template <typename A, typename B>
struct IsJitValue<std::pair<A, B>>
    : std::bool_constant<isJitValue<A> && isJitValue<B>> {};
template <typename... T>
struct IsJitValue<std::tuple<T...>>
    : std::bool_constant<(isJitValue<T> && ...)> {};

/// The arguments of one call: their fields, and the constants among them.
struct JitArguments {
  Fields fields;
  std::string constants;
};

/// One recorded call; replayed by any thread.
class JitCall;

/// Begins recording a call: the thread captures until this is destroyed.
class JitRecording {
public:
  /// `inner` are copies of the arguments `given`: their Params become those of
  /// `given`, their tensors placeholders.
  JitRecording(const JitArguments &given, JitArguments inner,
               std::source_location where);
  ~JitRecording();
  /// Ends it. `after` are the copies after the call, `result` its result, whose
  /// tensors become dummies: what holds a recorded node would keep it alive.
  std::shared_ptr<const JitCall> finish(const JitArguments &after,
                                        const Fields &result);

private:
  struct Parts;
  std::unique_ptr<Parts> parts;
};

/// Records a call again: on these arguments, into `result`, a copy of the first
/// result.
void replayJit(const JitCall &call, const Fields &arguments,
               const Fields &result, std::source_location where);

/// A recorded call and the result to copy.
struct JitEntry {
  virtual ~JitEntry() = default;
  std::shared_ptr<const JitCall> call;
};
template <typename R> struct JitEntryOf : JitEntry {
  std::optional<R> result;
};
template <> struct JitEntryOf<void> : JitEntry {};

/// The recorded calls of one jitted function, by what their arguments are.
class JitTable {
public:
  JitTable(const JitOptions &options, std::source_location where)
      : options(options), where(where) {}

  /// What tells calls apart; `type` is that of arguments and result.
  static std::string signatureOf(const JitArguments &arguments,
                                 const char *type);
  /// The call recorded for `signature`, or null. A strict table that knows
  /// another one throws.
  std::shared_ptr<const JitEntry> find(const std::string &signature,
                                       const JitArguments &arguments);
  void add(const std::string &signature, const JitArguments &arguments,
           std::shared_ptr<const JitEntry> entry);

  /// One thread at a time calls the user's function.
  std::recursive_mutex recording;
  const JitOptions options;
  const std::source_location where;

private:
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const JitEntry>> entries;
  std::vector<std::string> order; ///< of their making; bounded
  std::string first, constants;   ///< of the first call
};

} // namespace detail

/// What `jit` gives; copies share what was recorded.
template <typename F> class Jitted {
public:
  Jitted(F function, const JitOptions &options, std::source_location where)
      : shared(std::make_shared<Shared>(std::move(function), options, where)) {}

  template <typename... Args> auto operator()(Args &&...args) const try {
    static_assert((detail::isJitValue<std::decay_t<Args>> && ...),
                  "an argument of a jitted function is a Tensor, a Param, a "
                  "module, a number or a string, or a container of these");
    using R = std::invoke_result_t<F &, Passed<Args>...>;
    if constexpr (!std::is_void_v<R>)
      static_assert(std::is_same_v<R, std::decay_t<R>> && detail::isJitValue<R>,
                    "a jitted function gives tensors, modules, Gradients, or "
                    "containers of these, by value");
    detail::JitArguments arguments = argumentsOf(args...);
    std::string signature = detail::JitTable::signatureOf(
        arguments, typeid(std::tuple<Signature<R>, Signature<Args>...>).name());
    detail::JitTable &table = detail::held(shared, "jit").table;
    auto entry = table.find(signature, arguments);
    if (!entry) {
      std::lock_guard lock(table.recording);
      entry = table.find(signature, arguments);
      if (!entry) {
        entry = record<R, Args...>(arguments, args...);
        table.add(signature, arguments, entry);
      }
    }
    const auto &found = static_cast<const detail::JitEntryOf<R> &>(*entry);
    if constexpr (std::is_void_v<R>) {
      detail::replayJit(*found.call, arguments.fields, {}, table.where);
    } else {
      R result = *found.result;
      detail::separateShared(result, detail::fieldsOf(*found.result));
      detail::replayJit(*found.call, arguments.fields, detail::fieldsOf(result),
                        table.where);
      return result;
    }
  } catch (...) {
    detail::raiseExhausted({});
  }

private:
  struct Shared {
    Shared(F function, const JitOptions &options, std::source_location where)
        : function(std::move(function)), table(options, where) {}
    F function;
    detail::JitTable table;
  };
  template <typename T> struct Signature {};
  /// The function gets a copy, which only a caller's variable may be changed
  /// through.
  template <typename T>
  using Passed = std::conditional_t<std::is_const_v<std::remove_reference_t<T>>,
                                    const std::decay_t<T> &, std::decay_t<T> &>;

  template <typename... Args>
  static detail::JitArguments argumentsOf(Args &...args) {
    detail::JitArguments arguments;
    arguments.fields.constants = &arguments.constants;
    detail::FieldWalker walker(arguments.fields);
    size_t index = 0;
    (walker(std::to_string(index++),
            const_cast<std::remove_const_t<Args> &>(args)),
     ...);
    arguments.fields.constants = nullptr;
    return arguments;
  }

  template <typename R, typename... Args, typename... Given>
  std::shared_ptr<const detail::JitEntry>
  record(const detail::JitArguments &arguments, Given &...given) const {
    auto entry = std::make_shared<detail::JitEntryOf<R>>();
    std::tuple<std::decay_t<Args>...> copies(given...);
    std::apply(
        [&](auto &...each) {
          (detail::separateShared(each, detail::fieldsOf(given)), ...);
        },
        copies);
    auto walk = [](auto &...each) { return argumentsOf(each...); };
    detail::JitRecording recording(arguments, std::apply(walk, copies),
                                   shared->table.where);
    auto call = [&](auto &...each) -> R {
      return std::invoke(shared->function, static_cast<Passed<Args>>(each)...);
    };
    if constexpr (std::is_void_v<R>) {
      std::apply(call, copies);
      entry->call = recording.finish(std::apply(walk, copies), {});
    } else {
      entry->result.emplace(std::apply(call, copies));
      entry->call = recording.finish(std::apply(walk, copies),
                                     detail::fieldsOf(*entry->result));
    }
    return entry;
  }

  std::shared_ptr<Shared> shared;
};

/// A function that calls `function` once for each kind of arguments, and
/// afterwards repeats what that call recorded: as if it were called, without
/// its host code. Arguments and results are Tensors, Params, modules, Gradients
/// (results only), numbers, strings, and vectors, arrays, optionals, pairs,
/// tuples and maps of these; a struct of tensors is a module.
///
/// - What it reaches without being passed (parameters, tensors) is an input,
///   too: updates of parameters are seen by the next call.
/// - Values it assigns to parameters, and to tensors of its arguments, are
///   assigned by each call; a step of an optimizer is taken by each call.
/// - Random numbers go on from call to call, as they would without jit.
/// - Reading a value in it is an error with the line that reads, and so is
///   calling an op whose result's shape depends on values.
/// - Calls with other dtypes, shapes, devices, numbers, modes or wishes for
///   gradients are recorded anew, or are an error when `strict`.
///
/// Many threads may call it; one at a time records. The result is recorded, not
/// evaluated: `backward` goes through it, and it fuses with what is around it.
template <typename F>
Jitted<std::decay_t<F>>
jit(F &&function, const JitOptions &options = {},
    std::source_location where = std::source_location::current()) {
  return {std::forward<F>(function), options, where};
}

} // namespace sinter
