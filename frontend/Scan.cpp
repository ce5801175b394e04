/// Records loops over steps.
#include <sinter/Scan.h>

#include "frontend/Pending.h"
#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "frontend/ScanBodies.h"
#include "runtime/graph/Loops.h"
#include "runtime/graph/OpIds.h"
#include "runtime/support/ThreadOwner.h"

#include <fmt/format.h>

namespace sinter {

using graph::NodeRef;

namespace detail {

static SINTER_THREAD_LOCAL const char *openBody = nullptr;

ScanBodyScope::ScanBodyScope(const char *op) : outer(openBody) {
  openBody = op;
}
ScanBodyScope::~ScanBodyScope() { openBody = outer; }
bool recordsScanBody() { return openBody != nullptr; }

void refuseInScanBody(const char *what, const SourceLine &where) {
  if (recordsScanBody()) [[unlikely]]
    raise(makeError(ErrorKind::invalid_argument,
                    std::string(openBody) + ": the body " + what, openBody),
          where);
}

} // namespace detail

namespace {

/// One call of `scan`.
class ScanCall {
public:
  ScanCall(const std::vector<Tensor> &init, const std::vector<Tensor> &xs,
           const ScanOptions &options, const SourceLine &where)
      : init(init), xs(xs), options(options), where(where),
        recorder(graph::OpId::scan_index, where) {}

  ScanResult record(const ScanBody &body);

private:
  [[noreturn]] void reject(std::string what) const {
    detail::raise(makeError(ErrorKind::invalid_argument,
                            "scan: " + std::move(what), "scan"),
                  where);
  }
  Dim length() const;
  DeviceId device() const;
  NodeRef unwrap(Result<NodeRef> node) const {
    return detail::unwrap(std::move(node), where);
  }
  ScanStep callBody(const ScanBody &body);
  void checkStep(const ScanStep &step) const;

  const std::vector<Tensor> &init;
  const std::vector<Tensor> &xs;
  const ScanOptions &options;
  SourceLine where;
  detail::Recorder recorder;
  graph::LoopParts parts;
};

} // namespace

Dim ScanCall::length() const {
  for (const std::vector<Tensor> *list : {&init, &xs})
    for (const Tensor &tensor : *list)
      if (!tensor.defined())
        reject("an operand is an empty tensor");
  for (size_t i = 0; i < xs.size(); ++i) {
    const NodeRef &node = xs[i].node();
    if (node->rank() == 0)
      reject(fmt::format("xs[{}] has no axis to take slices along: {}", i,
                         graph::typeString(*node)));
    Dim own = node->dims()[0];
    Dim first = options.length ? *options.length : xs[0].node()->dims()[0];
    if (own.value != first.value)
      reject(fmt::format("xs[{}] has {} slices, there are {} steps: {}", i,
                         own.value, first.value, graph::typeString(*node)));
  }
  if (options.length) {
    if (options.length->value < 0)
      reject(fmt::format("the length is {}", options.length->value));
    return *options.length;
  }
  if (xs.empty())
    reject("without xs, the options must give a length");
  return xs[0].node()->dims()[0];
}

DeviceId ScanCall::device() const {
  for (const std::vector<Tensor> *list : {&init, &xs})
    for (const Tensor &tensor : *list)
      return tensor.device();
  return detail::currentDevice();
}

void ScanCall::checkStep(const ScanStep &step) const {
  if (step.carries.size() != init.size())
    reject(fmt::format("the body gives {} carries, there are {}",
                       step.carries.size(), init.size()));
  for (const std::vector<Tensor> *list : {&step.carries, &step.ys})
    for (const Tensor &tensor : *list)
      if (!tensor.defined())
        reject("the body gives an empty tensor");
}

ScanStep ScanCall::callBody(const ScanBody &body) {
  std::vector<Tensor> carries, slices;
  for (const Tensor &first : init) {
    parts.carries.push_back(
        unwrap(graph::beginCarry(parts.index, first.node())));
    carries.emplace_back(parts.carries.back());
  }
  for (const Tensor &sequence : xs)
    slices.emplace_back(
        unwrap(graph::beginSlice(parts.index, sequence.node())));
  detail::ScanBodyScope scope("scan");
  return body(carries, slices);
}

ScanResult ScanCall::record(const ScanBody &body) {
  Dim steps = length();
  parts.index = unwrap(graph::scan_index(steps, options.reverse, device()));
  ScanStep step = callBody(body);
  checkStep(step);
  detail::Recorder again(graph::OpId::scan_end, where); // the body moved on
  for (const Tensor &next : step.carries)
    parts.nexts.push_back(next.node());
  for (const Tensor &y : step.ys)
    parts.ys.push_back(y.node());
  graph::LoopResults found = detail::unwrap(graph::finishLoop(parts), where);
  ScanResult result;
  for (NodeRef &last : found.lasts)
    result.carries.push_back(again.result(std::move(last)));
  for (NodeRef &stack : found.stacks)
    result.ys.push_back(again.result(std::move(stack)));
  return result;
}

ScanResult scan(const ScanBody &body, const std::vector<Tensor> &init,
                const std::vector<Tensor> &xs, const ScanOptions &options,
                std::source_location where) try {
  detail::SourceScope scope(where);
  return ScanCall(init, xs, options, where).record(body);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter
