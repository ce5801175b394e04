/// Functions with a gradient of the user's: recorded values, tied to their
/// inputs by an op that changes nothing.
#include <sinter/CustomGradient.h>

#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "frontend/UserCallback.h"
#include "runtime/graph/NodeNotes.h"
#include "runtime/graph/OpIds.h"

#include <sinter/Held.h>
#include <sinter/Transforms.h>

#include <fmt/format.h>

namespace sinter {

using graph::NodeRef;

struct CustomFunction::Functions {
  CustomForward forward;
  CustomBackward backward;
};

CustomFunction::CustomFunction(CustomForward forward, CustomBackward backward)
    : functions(std::make_shared<const Functions>(
          Functions{std::move(forward), std::move(backward)})) {}

CustomFunction custom_gradient(CustomForward forward,
                               CustomBackward backward) try {
  return {std::move(forward), std::move(backward)};
} catch (...) {
  detail::raiseExhausted({});
}

/// What is wrong with gradient `index`, if something is.
static Status checkGradient(const NodeRef &input, const Tensor &gradient,
                            size_t index) {
  if (!gradient.defined() || !isFloat(input->dtype()) ||
      detail::haveSameType(*input, *gradient.node()))
    return {};
  ErrorInfo error = makeError(
      ErrorKind::invalid_argument,
      fmt::format("custom_gradient: the gradient of input {} has another type "
                  "than the input: {} on {} x {} on {}",
                  index, graph::typeString(*gradient.node()),
                  toString(gradient.device()), graph::typeString(*input),
                  toString(input->device())),
      "custom_gradient");
  error.shapes = {graph::typeString(*gradient.node()),
                  graph::typeString(*input)};
  error.site = graph::recordScope().site;
  return error;
}

/// Calls the user's gradient.
static Result<std::vector<NodeRef>>
callBackward(const CustomBackward &backward, std::span<const NodeRef> inputs,
             const NodeRef &result, const NodeRef &gradient) {
  std::vector<Tensor> tensors;
  for (const NodeRef &input : inputs)
    tensors.emplace_back(input);
  Tensor value(result), given(gradient);
  SINTER_TRY_ASSIGN(std::vector<Tensor> found, detail::callUser([&] {
                      return backward({tensors, value, given});
                    }));
  if (found.size() != inputs.size()) {
    ErrorInfo error =
        makeError(ErrorKind::invalid_argument,
                  fmt::format("custom_gradient: {} gradients for {} inputs",
                              found.size(), inputs.size()),
                  "custom_gradient");
    error.site = graph::recordScope().site;
    return error;
  }
  std::vector<NodeRef> nodes(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    SINTER_TRY(checkGradient(inputs[i], found[i], i));
    if (found[i].defined() && isFloat(inputs[i]->dtype()))
      nodes[i] = found[i].node();
  }
  return nodes;
}

Tensor CustomFunction::call(std::span<const Arg> inputs) const try {
  SourceLine where = inputs.empty() ? SourceLine() : inputs.front().where;
  const Functions &own = detail::held(functions, "custom_gradient", where);
  detail::SourceScope scope(where);
  std::vector<Tensor> tensors;
  {
    detail::Recorder recorder(graph::OpId::custom_gradient, where);
    if (inputs.empty())
      recorder.fail("there is no input", {});
    for (const NodeRef &node :
         recorder.operands(detail::Promotion::none, 0, false, inputs))
      tensors.emplace_back(node);
  }
  bool wantsGradient = graph::recordScope().gradEnabled;
  Tensor value;
  {
    no_grad guard;
    if (!own.forward)
      detail::throwEmpty("custom_gradient", where);
    value = own.forward(tensors);
  }
  detail::Recorder recorder(graph::OpId::custom_gradient, where);
  if (!value.defined())
    recorder.fail("the function gave an empty tensor", {});
  bool anyGradient = false;
  for (const Tensor &tensor : tensors)
    anyGradient |= tensor.requires_grad();
  if (!wantsGradient || !anyGradient || !isFloat(value.dtype()))
    return value;
  // A link for each input; the last one carries the rule.
  NodeRef node = value.node();
  for (const Tensor &tensor : tensors) {
    auto link = graph::custom_gradient(node, tensor.node());
    if (!link)
      recorder.fail(link.takeError());
    node = std::move(*link);
  }
  graph::NodeNotes &notes = node->addNotes();
  notes.customInputs = tensors.size();
  notes.customRule = [functions = functions](std::span<const NodeRef> inputs,
                                             const NodeRef &result,
                                             const NodeRef &gradient) {
    return callBackward(functions->backward, inputs, result, gradient);
  };
  return recorder.result(std::move(node));
} catch (...) {
  detail::raiseExhausted({});
}

Tensor detail::withOwnGradient(Tensor result) {
  if (graph::NodeNotes *notes = result.node()->notes();
      notes && notes->customRule)
    notes->isOwnGradient = true;
  return result;
}

} // namespace sinter
