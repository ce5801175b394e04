/// Walks what a checkpoint holds.
#include "runtime/params/weights/torch/Contents.h"

#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

namespace sinter::runtime::torch {

using pickle::Kind;
using pickle::Pickle;
using pickle::Value;

namespace {

constexpr size_t mostNested = 128;
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

using Names = std::unordered_set<std::string_view>;

/// What is walked of a container.
struct Part {
  enum class Form : uint8_t {
    list,    ///< a number each
    pairs,   ///< keys and values in turn
    members, ///< pairs of a module
    inside,  ///< under the name of the container
  };
  Form form = Form::list;
  std::span<const Value> values;
  const Names *passing = nullptr; ///< members that are left out
};

/// A container that is being walked.
struct Frame {
  size_t node = 0;
  size_t nameLength = 0;
  std::vector<Part> parts;
  size_t part = 0, at = 0; ///< what comes next

  void add(Part::Form form, std::span<const Value> values,
           const Names *passing = nullptr) {
    if (!values.empty())
      parts.push_back({form, values, passing});
  }
};

/// Walks with a stack of its own: values may be nested as deep as they like.
class Walker {
public:
  Walker(const Pickle &pickle, const std::string &rootName, Contents &out)
      : pickle(pickle), rootName(rootName), out(out),
        rebuilder(pickle, out.made), onPath(pickle.numNodes()),
        visitBudget((size_t(1) << 20) + pickle.size() + 8 * pickle.numNodes()),
        nameBudget((size_t(64) << 20) + 16 * pickle.size()) {}

  Status walk() {
    SINTER_TRY(visit(pickle.root()));
    while (!frames.empty())
      SINTER_TRY(step(frames.back()));
    noteClasses();
    return {};
  }

private:
  using Form = Part::Form;

  const Pickle &pickle;
  const std::string &rootName;
  Contents &out;
  Rebuilder rebuilder;
  std::vector<Frame> frames;
  std::string name;         ///< of what is visited
  std::vector<bool> onPath; ///< nodes that are being walked
  size_t visitBudget, nameBudget;
  std::set<std::string> classes;
  std::map<size_t, Names> setNames; ///< by the node of the set
  size_t dropped = 0;

  /// Visits the next value of the frame, or leaves it.
  Status step(Frame &frame) {
    name.resize(frame.nameLength);
    if (frame.part == frame.parts.size()) {
      onPath[frame.node] = false;
      frames.pop_back();
      return {};
    }
    const Part &part = frame.parts[frame.part];
    if (frame.at >= part.values.size()) {
      ++frame.part;
      frame.at = 0;
      return {};
    }
    const Value *value = &part.values[frame.at];
    if (part.form == Form::inside) {
      ++frame.at;
      return visit(*value);
    }
    if (part.form == Form::list) {
      enterName(std::to_string(frame.at++));
      return visit(*value);
    }
    const Value &key = *value;
    frame.at += 2;
    if (frame.at > part.values.size() || isLeftOut(part, key))
      return {};
    enterName(key.is(Kind::text) ? std::string(key.text())
                                 : std::to_string(key.integer()));
    return visit(part.values[frame.at - 1]);
  }
  /// Keys that are neither text nor number are nobody's name.
  static bool isLeftOut(const Part &part, const Value &key) {
    if (!key.is(Kind::text))
      return !key.is(Kind::integer) || part.form == Form::members;
    return part.passing && part.passing->contains(key.text());
  }
  void enterName(const std::string &key) {
    if (!name.empty() && !key.empty())
      name += '.';
    name += key;
  }
  /// The name, for something that is kept.
  Result<std::string> keptName() {
    const std::string &full = name.empty() ? rootName : name;
    if (full.size() > nameBudget)
      return tooOften();
    nameBudget -= full.size();
    return full;
  }
  static ErrorInfo tooOften() {
    return makeError(ErrorKind::io,
                     "objects of the pickle hold each other too often");
  }

  Status visit(const Value &value) {
    if (visitBudget-- == 0)
      return tooOften();
    std::optional<size_t> node = pickle.nodeOf(value);
    if (!node)
      return value.is(Kind::none) ? Status() : addText(textOf(value));
    if (onPath[*node])
      return {};
    auto tensor = rebuilder.tensorOf(value);
    if (!tensor) {
      ErrorInfo error = tensor.takeError();
      error.message = fmt::format("tensor '{}': {}",
                                  printableName(name.empty() ? rootName : name),
                                  error.message);
      return error;
    }
    if (*tensor) {
      SINTER_TRY_ASSIGN(std::string kept, keptName());
      out.tensors.emplace_back(std::move(kept), std::move(**tensor));
      return {};
    }
    if (std::optional<std::string> text = rebuilder.numberText(value))
      return addText(std::move(*text));
    if (frames.size() == mostNested)
      return makeError(ErrorKind::unsupported,
                       fmt::format("'{}': more than {} objects within each "
                                   "other",
                                   printableName(name), mostNested));
    return enter(value, *node);
  }

  Status enter(const Value &value, size_t node) {
    std::span<const Value> items = pickle.items(value);
    auto isScalar = [&](const Value &item) {
      return !pickle.nodeOf(item).has_value();
    };
    bool isList =
        value.is(Kind::tuple) || value.is(Kind::list) || value.is(Kind::set);
    if (isList && std::ranges::all_of(items, isScalar))
      return addText(listText(items));
    Frame frame{.node = node, .nameLength = name.size(), .parts = {}};
    if (isList)
      frame.add(Form::list, items);
    else if (value.is(Kind::dict))
      frame.add(Form::pairs, items);
    else if (value.is(Kind::object))
      addObject(frame, value);
    onPath[node] = true;
    frames.push_back(std::move(frame));
    return {};
  }

  //===- Objects ------------------------------------------------------------//

  void addObject(Frame &frame, const Value &object) {
    std::string callee = calleeName(pickle, object);
    const pickle::Call &call = pickle.call(object);
    std::span<const Value> args = pickle.items(call.args);
    if (std::ranges::find(plainClasses, callee) != std::end(plainClasses)) {
      // `OrderedDict([[key, value], ...])` of Python 2; `deque([...], 5)`.
      bool isDict = callee.ends_with("ict") || callee.ends_with("Counter");
      if (!args.empty() && isDict && args[0].is(Kind::list))
        for (const Value &entry : pickle.items(args[0]))
          frame.add(Form::pairs, pickle.items(entry));
      else if (!args.empty() && pickle.nodeOf(args[0]))
        frame.add(Form::inside, args.first(1));
      frame.add(Form::list, pickle.items(object));
      frame.add(Form::pairs, pickle.pairs(object));
      return;
    }
    if (isModule(call.state)) {
      classes.insert(callee);
      return addModule(frame, call.state);
    }
    if (callee.starts_with("torch.") && call.state.is(Kind::none))
      return; // devices, generators
    classes.insert(callee);
    addState(frame, call.state);
    frame.add(Form::pairs, pickle.pairs(object));
    frame.add(Form::list, pickle.items(object));
    bool isOld = callee == "copyreg._reconstructor" ||
                 callee == "copy_reg._reconstructor";
    if (!args.empty() && !isOld)
      frame.add(Form::inside, std::span(&call.args, 1));
  }

  /// Attributes: a dictionary, or that and one of slots.
  void addState(Frame &frame, const Value &state) {
    if (!state.is(Kind::tuple)) {
      if (pickle.nodeOf(state))
        frame.add(Form::inside, std::span(&state, 1));
      return;
    }
    for (const Value &part : pickle.items(state))
      if (pickle.nodeOf(part))
        frame.add(Form::inside, std::span(&part, 1));
  }

  bool isModule(const Value &state) {
    return state.is(Kind::dict) && rebuilder.find(state, "_parameters") &&
           rebuilder.find(state, "_modules");
  }

  /// What `state_dict()` of a module has.
  void addModule(Frame &frame, const Value &state) {
    const Names *passing = nullptr;
    if (const Value *set = rebuilder.find(state, "_non_persistent_buffers_set"))
      passing = namesIn(*set);
    for (const char *part : {"_parameters", "_buffers", "_modules"})
      if (const Value *members = rebuilder.find(state, part))
        frame.add(Form::members, pickle.pairs(*members), passing);
  }
  /// The texts of a set, which many modules may share; null where it has none.
  const Names *namesIn(const Value &set) {
    std::optional<size_t> node = pickle.nodeOf(set);
    if (!node || elementsOf(set).empty())
      return nullptr;
    auto [known, isNew] = setNames.try_emplace(*node);
    if (isNew)
      for (const Value &each : elementsOf(set))
        if (each.is(Kind::text))
          known->second.insert(each.text());
    return &known->second;
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
  Status addText(std::string text) {
    if (name.empty())
      return {};
    if (out.metadata.size() == mostMetadata) {
      ++dropped;
      return {};
    }
    SINTER_TRY_ASSIGN(std::string kept, keptName());
    out.metadata.emplace_back(std::move(kept), std::move(text));
    return {};
  }
  /// Shortened: `[1, 2, ...] of 100`.
  static std::string listText(std::span<const Value> items) {
    std::string text = "[";
    for (size_t i = 0; i < std::min(items.size(), mostShown); ++i)
      text += (i ? ", " : "") + textOf(items[i]);
    bool isWhole = items.size() <= mostShown;
    return text + (isWhole ? "]" : fmt::format(", ...] of {}", items.size()));
  }
};

} // namespace

Result<Contents> contentsOf(const Pickle &pickle, const std::string &rootName) {
  Contents contents;
  SINTER_TRY(Walker(pickle, rootName, contents).walk());
  return contents;
}

} // namespace sinter::runtime::torch
