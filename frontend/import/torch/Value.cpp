/// Values: tensors that may be changed in place, and views of them.
#include "frontend/import/torch/Value.h"

#include <sinter/Error.h>

#include <algorithm>

namespace sinter::torch {

Stored::Stored(StoredRef base, View view)
    : base(std::move(base)), view(std::move(view)) {
  root = this->base->root ? this->base->root : this->base;
  depth = this->base->depth + 1;
  // Each is read by way of those below.
  constexpr unsigned most = 256;
  if (depth > most)
    throw Error(makeError(ErrorKind::unsupported,
                          "more than 256 views, one of the other"));
  tensor = this->view.take(this->base->read());
  changes = this->base->version();
}

const Tensor &Stored::read() {
  if (base && changes != base->version()) {
    tensor = view.take(base->read());
    changes = base->version();
  }
  return tensor;
}

void Stored::write(const Tensor &changed) {
  if (base) {
    if (!view.put)
      throw Error(makeError(ErrorKind::unsupported,
                            "a change in place of such a view"));
    base->write(view.put(base->read(), changed));
    changes = base->version();
  } else {
    ++changes;
  }
  tensor = changed;
}

Value Value::ofInteger(Dim integer) {
  Value value;
  value.kind = Kind::integer;
  value.integer = integer;
  return value;
}
Value Value::ofReal(double real) {
  Value value;
  value.kind = Kind::real;
  value.real = real;
  return value;
}
Value Value::ofBoolean(bool isTrue, bool isOpen) {
  Value value;
  value.kind = Kind::boolean;
  value.isTrue = isTrue;
  value.isOpen = isOpen;
  return value;
}
Value Value::ofList(std::vector<Value> list) {
  Value value;
  value.kind = Kind::list;
  value.list = std::move(list);
  return value;
}

bool hasMisstated(const Value &value) {
  return value.isMisstated || std::ranges::any_of(value.list, hasMisstated);
}

std::string nameOf(Value::Kind kind) {
  static constexpr const char *names[] = {
      "nothing", "a tensor",         "an integer", "a number",
      "a bool",  "a complex number", "a text",     "a dtype",
      "a code",  "a graph",          "a list",     "a dict"};
  return names[size_t(kind)];
}

} // namespace sinter::torch
