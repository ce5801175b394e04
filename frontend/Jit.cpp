/// Jitted functions: their signatures, their recorded calls.
#include <sinter/Jit.h>

#include "frontend/Capture.h"
#include "frontend/Raise.h"
#include "frontend/ShareParams.h"
#include "frontend/adapt/Autocast.h"
#include "sinter/runtime/Node.h"

#include <sinter/Creation.h>
#include <sinter/ModuleFile.h>

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <map>
#include <string_view>

namespace sinter::detail {

using graph::NodeRef;

//===- Signatures ---------------------------------------------------------===//

/// How the dims of an argument are told apart: exactly, or by what is symbolic.
enum class DimText : uint8_t { exact, symbolic };

static std::string typeText(DType dtype, std::span<const Dim> dims,
                            DeviceId device, DimText how) {
  std::string text(name(dtype));
  text += '[';
  const char *comma = "";
  for (Dim dim : dims) {
    bool isFree = how == DimText::symbolic && !dim.isConstant();
    text += comma;
    text += isFree ? "s" : std::to_string(dim.value);
    if (how == DimText::exact && !dim.isConstant())
      text += fmt::format("#{}", dim.expr);
    comma = ",";
  }
  return text + "] on " + toString(device);
}

/// Of each tensor, the first that is the same one.
static size_t firstSame(const std::vector<Fields::Field<Tensor>> &tensors,
                        size_t index) {
  for (size_t i = 0; i < index; ++i)
    if (tensors[i].value->node() == tensors[index].value->node())
      return i;
  return index;
}

static std::string tensorText(const Fields &fields) {
  std::string text;
  for (size_t i = 0; i < fields.tensors.size(); ++i) {
    const auto &[path, tensor] = fields.tensors[i];
    text +=
        fmt::format("{}: {}{}", path,
                    typeText(tensor->dtype(), usedForm(tensor->node())->dims(),
                             tensor->device(), DimText::symbolic),
                    tensor->requires_grad() ? " with gradient" : "");
    if (size_t first = firstSame(fields.tensors, i); first != i)
      text += fmt::format(" = {}", fields.tensors[first].path);
    text += "; ";
  }
  return text;
}

static std::string stateText(const Fields &fields, DimText how) {
  std::string text;
  for (size_t i = 0; i < fields.params.size(); ++i) {
    const auto &[path, param] = fields.params[i];
    text += fmt::format(
        "{}: {}{}", path,
        typeText(param->dtype(), param->shape(), param->device(), how),
        param->requires_grad() ? " trained" : "");
    if (size_t first = firstWithCell(fields.params, i); first != i)
      text += fmt::format(" = {}", fields.params[first].path);
    text += "; ";
  }
  for (const Mode *mode : fields.modes)
    text += mode->training ? "training; " : "predicting; ";
  return text;
}

static std::string textOf(const JitArguments &arguments) {
  return tensorText(arguments.fields) +
         stateText(arguments.fields, DimText::symbolic);
}

namespace {
/// The bytes of what tells calls apart: each call makes them, so that they are
/// no text.
class SignatureBytes {
public:
  SignatureBytes() { bytes.reserve(512); }
  void add(std::string_view text) {
    add(text.size());
    bytes += text;
  }
  template <std::integral T> void add(T value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
  }
  void add(DeviceId device) {
    add(uint8_t(device.kind));
    add(device.index);
  }
  void add(DType dtype, std::span<const Dim> dims, DeviceId device) {
    add(uint8_t(dtype));
    add(device);
    add(dims.size());
    for (Dim dim : dims) {
      add(dim.value);
      add(dim.expr);
    }
  }
  std::string take() { return std::move(bytes); }

private:
  std::string bytes;
};
} // namespace

std::string JitTable::signatureOf(const JitArguments &arguments,
                                  const char *type) try {
  const Fields &fields = arguments.fields;
  SignatureBytes bytes;
  bytes.add(fields.tensors.size());
  for (size_t i = 0; i < fields.tensors.size(); ++i) {
    const auto &[path, tensor] = fields.tensors[i];
    bytes.add(path);
    bytes.add(tensor->dtype(), usedForm(tensor->node())->dims(),
              tensor->device());
    bytes.add(tensor->requires_grad());
    bytes.add(firstSame(fields.tensors, i));
  }
  bytes.add(fields.params.size());
  for (size_t i = 0; i < fields.params.size(); ++i) {
    const auto &[path, param] = fields.params[i];
    bytes.add(path);
    bytes.add(param->dtype(), param->shape(), param->device());
    bytes.add(param->requires_grad());
    bytes.add(firstWithCell(fields.params, i));
  }
  bytes.add(fields.modes.size());
  for (const Mode *mode : fields.modes)
    bytes.add(mode->training);
  bytes.add(graph::recordScope().gradEnabled);
  std::optional<DType> products = autocastDType();
  bytes.add(products ? uint8_t(*products) : uint8_t(0xff));
  bytes.add(default_device());
  bytes.add(std::string_view(type));
  bytes.add(arguments.constants);
  return bytes.take();
} catch (...) {
  detail::raiseExhausted({});
}

std::shared_ptr<const JitEntry>
JitTable::find(const std::string &signature,
               const JitArguments &arguments) try {
  if (!arguments.fields.gradients.empty())
    raise(makeError(ErrorKind::invalid_argument,
                    "jit: Gradients can only be results", "jit"),
          where);
  std::lock_guard lock(mutex);
  auto found = entries.find(signature);
  if (found != entries.end())
    return found->second;
  if (!options.strict || entries.empty())
    return nullptr;
  std::string types = textOf(arguments);
  if (types + arguments.constants == first + constants)
    return nullptr; // another size of a symbolic axis
  raise(makeError(ErrorKind::invalid_argument,
                  fmt::format(
                      "jit: the arguments are other ones than in the "
                      "first call, and the function is strict: {}x {}{}",
                      types, first, types == first ? "(a number differs)" : ""),
                  "jit"),
        where);
} catch (...) {
  detail::raiseExhausted({});
}

void JitTable::add(const std::string &signature, const JitArguments &arguments,
                   std::shared_ptr<const JitEntry> entry) try {
  constexpr size_t most = 256; // recorded calls that are kept
  std::lock_guard lock(mutex);
  if (order.empty()) {
    first = textOf(arguments);
    constants = arguments.constants;
  }
  entries[signature] = std::move(entry);
  order.push_back(signature);
  if (order.size() <= most)
    return;
  entries.erase(order.front());
  order.erase(order.begin());
} catch (...) {
  detail::raiseExhausted({});
}

//===- Recording ----------------------------------------------------------===//

namespace {
/// A gradient of a result, and whose it is.
struct ResultGradient {
  Gradients::Entry entry;         ///< without the gradient
  runtime::CellRef cell;          ///< of a parameter
  std::optional<size_t> argument; ///< of a leaf that was passed
};
/// A Param of a result.
struct ResultParam {
  Param made;            ///< how it was recorded; empty: one that lives outside
  runtime::CellRef cell; ///< of one that lives outside
};
} // namespace

class JitCall {
public:
  explicit JitCall(Trace trace) : trace(std::move(trace)) {}

  Trace trace;
  std::vector<runtime::CellRef> cells; ///< of the arguments' Params
  std::vector<size_t> assigned;        ///< tensors of the arguments
  size_t numTensors = 0;               ///< of the result
  std::vector<ResultParam> params;
  std::vector<std::vector<ResultGradient>> gradients;
};

struct JitRecording::Parts {
  Parts(const JitArguments &given, JitArguments inner,
        std::source_location where)
      : given(given), where(where),
        before(stateText(given.fields, DimText::exact)) {
    shareParams(given.fields, inner.fields, where);
    for (const auto &[path, param] : given.fields.params)
      cells.push_back(param->cell());
    capture.emplace(where);
    const auto &tensors = given.fields.tensors;
    for (size_t i = 0; i < tensors.size(); ++i) {
      size_t first = firstSame(tensors, i);
      Tensor placeholder = first == i ? capture->argument(*tensors[i].value)
                                      : *inner.fields.tensors[first].value;
      placeholders.push_back(placeholder.node());
      *inner.fields.tensors[i].value = std::move(placeholder);
    }
  }

  void checkUnchanged(const JitArguments &after) const;
  std::vector<size_t> findAssigned(const JitArguments &after,
                                   std::vector<NodeRef> &outputs) const;
  ResultParam describe(const Param &param, std::vector<NodeRef> &outputs) const;
  std::vector<ResultGradient> describe(Gradients &gradients,
                                       std::vector<NodeRef> &outputs) const;

  const JitArguments &given;
  std::source_location where;
  std::string before;
  std::vector<runtime::CellRef> cells;
  std::vector<NodeRef> placeholders;
  std::optional<Capture> capture;
};

JitRecording::JitRecording(const JitArguments &given, JitArguments inner,
                           std::source_location where)
    : parts(std::make_unique<Parts>(given, std::move(inner), where)) {}

JitRecording::~JitRecording() = default;

/// Only values may change: what else a call changes could not be repeated.
void JitRecording::Parts::checkUnchanged(const JitArguments &after) const {
  auto reject = [&](const std::string &what) {
    raise(makeError(ErrorKind::invalid_argument,
                    "jit: the function changes " + what, "jit"),
          where);
  };
  std::string now = stateText(after.fields, DimText::exact);
  if (now != before || after.constants != given.constants ||
      after.fields.tensors.size() != placeholders.size())
    reject(
        fmt::format("more of its arguments than values: {}x {}", before, now));
  for (size_t i = 0; i < cells.size(); ++i)
    if (after.fields.params[i].value->cell() != cells[i])
      reject(fmt::format("which parameter '{}' is: use set()",
                         after.fields.params[i].path));
}

std::vector<size_t>
JitRecording::Parts::findAssigned(const JitArguments &after,
                                  std::vector<NodeRef> &outputs) const {
  std::vector<size_t> assigned;
  for (size_t i = 0; i < placeholders.size(); ++i) {
    const NodeRef &node = after.fields.tensors[i].value->node();
    if (node == placeholders[i])
      continue;
    assigned.push_back(i);
    outputs.push_back(node);
  }
  return assigned;
}

ResultParam JitRecording::Parts::describe(const Param &param,
                                          std::vector<NodeRef> &outputs) const {
  Tensor value = capture->local(param.cell());
  if (!value.defined())
    return {{}, param.cell()};
  outputs.push_back(value.node());
  Param made = Param::of_cell(param.cell(), 0);
  made.tie(param);
  return {std::move(made), nullptr};
}

std::vector<ResultGradient>
JitRecording::Parts::describe(Gradients &gradients,
                              std::vector<NodeRef> &outputs) const {
  std::vector<ResultGradient> described;
  for (const Gradients::Entry &entry : gradients) {
    ResultGradient own{{entry.key, entry.leaf, {}}, nullptr, std::nullopt};
    outputs.push_back(entry.gradient.node());
    if (!entry.leaf.defined())
      own.cell = runtime::CellTable::get().find(entry.key);
    auto passed = std::ranges::find_if(placeholders, [&](const NodeRef &node) {
      return entry.leaf.defined() && entry.leaf.node() == node;
    });
    if (passed != placeholders.end()) {
      own.argument = passed - placeholders.begin();
      own.entry.leaf = Tensor();
    }
    described.push_back(std::move(own));
  }
  gradients = Gradients();
  return described;
}

std::shared_ptr<const JitCall> JitRecording::finish(const JitArguments &after,
                                                    const Fields &result) try {
  parts->checkUnchanged(after);
  std::vector<NodeRef> outputs;
  std::vector<size_t> assigned = parts->findAssigned(after, outputs);
  // In place of what was recorded, which must not be kept alive.
  Tensor dummy(graph::NodeFactory::scalar(DType::i64, 0));
  for (const auto &[path, tensor] : result.tensors) {
    outputs.push_back(tensor->node());
    *tensor = dummy;
  }
  std::vector<ResultParam> params;
  for (const auto &[path, param] : result.params)
    params.push_back(parts->describe(*param, outputs));
  std::vector<std::vector<ResultGradient>> gradients;
  for (const auto &[path, each] : result.gradients)
    gradients.push_back(parts->describe(*each, outputs));
  auto call = std::make_shared<JitCall>(Trace(*parts->capture, outputs));
  call->cells = parts->cells;
  call->assigned = std::move(assigned);
  call->numTensors = result.tensors.size();
  call->params = std::move(params);
  call->gradients = std::move(gradients);
  parts->capture.reset();
  return call;
} catch (...) {
  detail::raiseExhausted({});
}

//===- Replay -------------------------------------------------------------===//

void replayJit(const JitCall &call, const Fields &arguments,
               const Fields &result, std::source_location where) try {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < arguments.tensors.size(); ++i)
    if (firstSame(arguments.tensors, i) == i)
      tensors.push_back(*arguments.tensors[i].value);
  Trace::CellMap cells;
  for (size_t i = 0; i < call.cells.size(); ++i) {
    const Param &param = *arguments.params[i].value;
    cells.try_emplace(call.cells[i].get(),
                      CellUse{param.cell(), param.record_id()});
  }
  std::vector<Tensor> found = call.trace.replay(tensors, cells, where);
  auto next = found.begin();
  for (size_t index : call.assigned)
    *arguments.tensors[index].value = *next++;
  for (const auto &[path, tensor] : result.tensors)
    *tensor = *next++;
  auto cellNow = [&](const runtime::CellRef &cell) {
    auto passed = cells.find(cell.get());
    return passed == cells.end() ? cell : passed->second.cell;
  };
  std::map<const runtime::Cell *, const Param *> made; // tied ones are one
  for (size_t i = 0; i < call.params.size(); ++i) {
    Param &param = *result.params[i].value;
    const ResultParam &own = call.params[i];
    if (!own.made.defined()) {
      param.become(Param::of_cell(cellNow(own.cell), param.record_id()));
      continue;
    }
    Tensor value = *next++;
    auto [first, isNew] = made.try_emplace(own.made.cell().get(), &param);
    if (isNew) {
      param.become(Param::pending(own.made, value));
    } else {
      Param tied;
      tied.tie(*first->second, where);
      param.become(std::move(tied));
    }
  }
  for (size_t i = 0; i < call.gradients.size(); ++i)
    for (const ResultGradient &own : call.gradients[i]) {
      Gradients::Entry entry = own.entry;
      entry.gradient = *next++;
      if (own.cell)
        entry.key = cellNow(own.cell)->id();
      if (own.argument) {
        entry.leaf = *arguments.tensors[*own.argument].value;
        entry.key = Gradients::keyOf(entry.leaf);
      }
      result.gradients[i].value->add(std::move(entry));
    }
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::detail
