/// Walks what a checkpoint holds.
#include "runtime/params/weights/torch/Contents.h"

#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace sinter::runtime::torch {

using pickle::Kind;
using pickle::Pickle;
using pickle::Value;

namespace {

constexpr int mostNested = 128;
constexpr size_t mostMetadata = size_t(1) << 16, mostText = 1024;
constexpr size_t mostShown = 16;   ///< items of a list
constexpr size_t mostClasses = 32; ///< that a note names

/// Containers of Python's library; everything else is somebody's class.
constexpr std::string_view plainClasses[] = {
    "collections.OrderedDict",
    "collections.defaultdict",
    "collections.Counter",
    "collections.deque",
    "builtins.dict",
    "builtins.list",
    "builtins.tuple",
    "builtins.set",
    "builtins.frozenset",
    "__builtin__.dict",
    "__builtin__.list",
    "__builtin__.tuple",
    "__builtin__.set",
    "__builtin__.frozenset",
    "torch.Size",
    "torch.jit._pickle.restore_type_tag",
    "torch.jit._pickle.build_intlist",
    "torch.jit._pickle.build_doublelist",
    "torch.jit._pickle.build_boollist",
    "torch.jit._pickle.build_tensorlist"};

/// Something to visit, or to come back from.
struct Visit {
  Value value;
  std::string name;
  int depth = 0;
  bool isLeaving = false;
};

class Walker {
public:
  Walker(const Pickle &pickle, const std::string &rootName, Contents &out)
      : pickle(pickle), rootName(rootName), out(out),
        rebuilder(pickle, out.made), onPath(pickle.numNodes()),
        visitBudget((size_t(1) << 20) + 8 * pickle.numNodes()),
        nameBudget((size_t(64) << 20) + 16 * pickle.size()) {}

  Status walk() {
    pending.push_back({pickle.root(), {}, 0, false});
    while (!pending.empty()) {
      Visit visit = std::move(pending.back());
      pending.pop_back();
      if (visit.isLeaving) {
        onPath[*pickle.nodeOf(visit.value)] = false;
        continue;
      }
      size_t first = pending.size();
      SINTER_TRY(enter(visit));
      std::reverse(pending.begin() + std::ptrdiff_t(first), pending.end());
    }
    noteClasses();
    return {};
  }

private:
  const Pickle &pickle;
  const std::string &rootName;
  Contents &out;
  Rebuilder rebuilder;
  std::vector<Visit> pending;
  std::vector<bool> onPath; ///< nodes that are being walked
  size_t visitBudget, nameBudget;
  std::set<std::string> classes;
  size_t dropped = 0;

  Status push(const Visit &parent, const Value &value, std::string_view key) {
    std::string name = parent.name;
    if (!name.empty() && !key.empty())
      name += '.';
    name += key;
    if (visitBudget == 0 || name.size() > nameBudget)
      return makeError(ErrorKind::io,
                       "objects of the pickle hold each other too often");
    --visitBudget;
    nameBudget -= name.size();
    pending.push_back({value, std::move(name), parent.depth + 1, false});
    return {};
  }

  Status enter(const Visit &visit) {
    std::optional<size_t> node = pickle.nodeOf(visit.value);
    if (!node)
      return addScalar(visit);
    if (onPath[*node])
      return {};
    if (visit.depth > mostNested)
      return makeError(ErrorKind::unsupported,
                       fmt::format("'{}': more than {} objects within each "
                                   "other",
                                   printableName(visit.name), mostNested));
    auto tensor = rebuilder.tensorOf(visit.value);
    if (!tensor) {
      ErrorInfo error = tensor.takeError();
      error.message = fmt::format("tensor '{}': {}",
                                  printableName(nameOf(visit)), error.message);
      return error;
    }
    if (*tensor) {
      out.tensors.emplace_back(nameOf(visit), std::move(**tensor));
      return {};
    }
    if (std::optional<std::string> text = rebuilder.numberText(visit.value)) {
      addText(visit.name, std::move(*text));
      return {};
    }
    onPath[*node] = true;
    pending.push_back({visit.value, {}, 0, true});
    size_t leaving = pending.size() - 1;
    SINTER_TRY(pushChildren(visit));
    // `walk` turns the order of what was added: one leaves last.
    std::rotate(pending.begin() + std::ptrdiff_t(leaving),
                pending.begin() + std::ptrdiff_t(leaving) + 1, pending.end());
    return {};
  }
  const std::string &nameOf(const Visit &visit) const {
    return visit.name.empty() ? rootName : visit.name;
  }

  Status pushChildren(const Visit &visit) {
    switch (visit.value.kind) {
    case Kind::dict:
      return pushPairs(visit, pickle.pairs(visit.value));
    case Kind::tuple:
    case Kind::list:
    case Kind::set:
      return pushList(visit, pickle.items(visit.value));
    case Kind::object:
      return pushObject(visit);
    default: // a class, or a storage alone
      return {};
    }
  }

  Status pushPairs(const Visit &visit, std::span<const Value> pairs) {
    for (size_t at = 0; at + 1 < pairs.size(); at += 2) {
      const Value &key = pairs[at];
      std::string name;
      if (key.is(Kind::text))
        name = key.text();
      else if (key.is(Kind::integer))
        name = std::to_string(key.integer());
      else
        continue; // nobody's name
      SINTER_TRY(push(visit, pairs[at + 1], name));
    }
    return {};
  }

  Status pushList(const Visit &visit, std::span<const Value> items) {
    auto isScalar = [&](const Value &item) {
      return !pickle.nodeOf(item).has_value();
    };
    if (std::ranges::all_of(items, isScalar))
      return addList(visit, items);
    size_t number = 0;
    for (const Value &item : items)
      SINTER_TRY(push(visit, item, std::to_string(number++)));
    return {};
  }

  //===- Objects ------------------------------------------------------------//

  Status pushObject(const Visit &visit) {
    std::string name = calleeName(pickle, visit.value);
    const pickle::Call &call = pickle.call(visit.value);
    std::span<const Value> args = pickle.items(call.args);
    if (std::ranges::find(plainClasses, name) != std::end(plainClasses)) {
      // `OrderedDict([[key, value], ...])` of Python 2; `deque([...], 5)`.
      bool isDict = name.ends_with("ict") || name.ends_with("Counter");
      if (!args.empty() && isDict && args[0].is(Kind::list)) {
        SINTER_TRY(pushEntries(visit, pickle.items(args[0])));
      } else if (!args.empty() && pickle.nodeOf(args[0])) {
        SINTER_TRY(push(visit, args[0], {}));
      }
      if (!pickle.items(visit.value).empty()) {
        SINTER_TRY(pushList(visit, pickle.items(visit.value)));
      }
      return pushPairs(visit, pickle.pairs(visit.value));
    }
    if (isModule(call.state))
      return pushModule(visit, name);
    if (name.starts_with("torch.") && call.state.is(Kind::none))
      return {}; // devices, generators
    classes.insert(name);
    SINTER_TRY(pushState(visit, call.state));
    SINTER_TRY(pushPairs(visit, pickle.pairs(visit.value)));
    if (!pickle.items(visit.value).empty()) {
      SINTER_TRY(pushList(visit, pickle.items(visit.value)));
    }
    if (args.empty() || name == "copyreg._reconstructor" ||
        name == "copy_reg._reconstructor")
      return {};
    return push(visit, call.args, {});
  }

  /// A list of pairs.
  Status pushEntries(const Visit &visit, std::span<const Value> entries) {
    for (const Value &entry : entries) {
      std::span<const Value> pair = pickle.items(entry);
      if (pair.size() == 2)
        SINTER_TRY(pushPairs(visit, pair));
    }
    return {};
  }

  /// Attributes: a dictionary, or that and one of slots.
  Status pushState(const Visit &visit, const Value &state) {
    if (!state.is(Kind::tuple))
      return pickle.nodeOf(state) ? push(visit, state, {}) : Status();
    for (const Value &part : pickle.items(state))
      if (pickle.nodeOf(part))
        SINTER_TRY(push(visit, part, {}));
    return {};
  }

  bool isModule(const Value &state) const {
    return state.is(Kind::dict) && pickle.find(state, "_parameters") &&
           pickle.find(state, "_modules");
  }

  /// What `state_dict()` of a module has.
  Status pushModule(const Visit &visit, const std::string &name) {
    classes.insert(name);
    const Value &state = pickle.call(visit.value).state;
    std::set<std::string_view> passing;
    if (const Value *set = pickle.find(state, "_non_persistent_buffers_set"))
      for (const Value &each : elementsOf(*set))
        if (each.is(Kind::text))
          passing.insert(each.text());
    for (const char *part : {"_parameters", "_buffers", "_modules"}) {
      const Value *members = pickle.find(state, part);
      std::span<const Value> pairs =
          members ? pickle.pairs(*members) : std::span<const Value>();
      for (size_t at = 0; at + 1 < pairs.size(); at += 2) {
        if (!pairs[at].is(Kind::text) || !pickle.nodeOf(pairs[at + 1]) ||
            passing.contains(pairs[at].text()))
          continue;
        SINTER_TRY(push(visit, pairs[at + 1], pairs[at].text()));
      }
    }
    return {};
  }
  /// Of a set, or of `set([...])`.
  std::span<const Value> elementsOf(const Value &set) const {
    if (!set.is(Kind::object))
      return pickle.items(set);
    std::span<const Value> args = pickle.items(pickle.call(set).args);
    return args.empty() ? args : pickle.items(args[0]);
  }

  void noteClasses() {
    if (dropped)
      out.notes.push_back(fmt::format("{} numbers and texts more", dropped));
    classes.erase("");
    if (classes.empty())
      return;
    std::string names;
    size_t shown = 0;
    for (const std::string &name : classes) {
      if (shown++ == mostClasses) {
        names += fmt::format(" and {} more", classes.size() - mostClasses);
        break;
      }
      names += (names.empty() ? "" : ", ") + printableName(name);
    }
    out.notes.push_back(
        "of objects of these classes only the state was read: " + names);
  }

  //===- Numbers and texts --------------------------------------------------//

  static std::string textOf(const Value &value) {
    switch (value.kind) {
    case Kind::boolean:
      return value.boolean() ? "true" : "false";
    case Kind::integer:
      return std::to_string(value.integer());
    case Kind::real:
      return fmt::to_string(value.real());
    case Kind::text:
      return std::string(value.text().substr(0, mostText));
    case Kind::none:
      return "none";
    case Kind::big:
      return "an integer beyond 64 bits";
    default:
      return fmt::format("{} bytes", value.text().size());
    }
  }
  void addText(const std::string &name, std::string text) {
    if (name.empty())
      return;
    if (out.metadata.size() < mostMetadata)
      out.metadata.emplace_back(name, std::move(text));
    else
      ++dropped;
  }
  Status addScalar(const Visit &visit) {
    if (!visit.value.is(Kind::none))
      addText(visit.name, textOf(visit.value));
    return {};
  }
  /// Shortened: `[1, 2, ...] of 100`.
  Status addList(const Visit &visit, std::span<const Value> items) {
    std::string text = "[";
    for (size_t i = 0; i < std::min(items.size(), mostShown); ++i)
      text += (i ? ", " : "") + textOf(items[i]);
    bool isWhole = items.size() <= mostShown;
    text += isWhole ? "]" : fmt::format(", ...] of {}", items.size());
    addText(visit.name, std::move(text));
    return {};
  }
};

} // namespace

Result<Contents> contentsOf(const Pickle &pickle, const std::string &rootName) {
  Contents contents;
  SINTER_TRY(Walker(pickle, rootName, contents).walk());
  return contents;
}

} // namespace sinter::runtime::torch
