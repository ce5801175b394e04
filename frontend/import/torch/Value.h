/// Value: what a name of a program stands for while it is recorded.
#pragma once

#include "frontend/import/torch/Records.h"

#include <sinter/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sinter::torch {

/// How a part of a tensor is taken out of it and put back, as views of PyTorch
/// share memory with what they are views of.
struct View {
  std::function<Tensor(const Tensor &base)> take;
  /// The base with another part; empty where none can be put back.
  std::function<Tensor(const Tensor &base, const Tensor &part)> put;
};

class Stored;
using StoredRef = std::shared_ptr<Stored>;

/// A tensor that nodes may change in place, or a view of one. Recorded tensors
/// are values: a change gives another one, which views read when they are read.
class Stored {
public:
  explicit Stored(Tensor tensor) : tensor(std::move(tensor)) {}
  Stored(StoredRef base, View view);

  /// What stands there now.
  const Tensor &read();
  /// Puts a tensor of the same dtype and shape there, and into what this is a
  /// view of. An Error where that cannot be done.
  void write(const Tensor &changed);
  /// Counts the changes.
  uint64_t version() const { return root ? root->changes : changes; }

private:
  Tensor tensor;
  StoredRef base, root; ///< what this is a view of, and that in the end
  View view;
  unsigned depth = 0;   ///< views between
  uint64_t changes = 0; ///< of a view: those of its base that it has seen
};

/// Anything that a node takes or gives.
class Value {
public:
  enum class Kind : uint8_t {
    none,
    tensor,
    integer, ///< a number or a symbolic size
    real,
    boolean,
    complex,
    text, ///< strings, devices
    dtype,
    code, ///< of memory formats and layouts
    graph,
    list,
    dict,
  };

  Value() = default;
  Value(Tensor tensor) : kind(Kind::tensor) {
    stored = std::make_shared<Stored>(std::move(tensor));
  }
  explicit Value(StoredRef stored)
      : kind(Kind::tensor), stored(std::move(stored)) {}
  static Value ofInteger(Dim integer);
  static Value ofReal(double real);
  /// `isOpen` where it depends on the numbers that symbols have now.
  static Value ofBoolean(bool isTrue, bool isOpen = false);
  static Value ofList(std::vector<Value> list);

  bool isNone() const { return kind == Kind::none; }
  bool isTensor() const { return kind == Kind::tensor; }
  bool isList() const { return kind == Kind::list; }
  bool isInteger() const { return kind == Kind::integer; }
  /// Whether it is a number of any kind.
  bool isNumber() const {
    return kind == Kind::integer || kind == Kind::real ||
           kind == Kind::boolean || kind == Kind::complex;
  }

  Kind kind = Kind::none;
  StoredRef stored;
  Dim integer;
  double real = 0, imaginary = 0;
  bool isTrue = false, isOpen = false;
  std::string text; ///< as of ArgumentRecord
  int64_t code = 0;
  std::vector<Value> list;
  std::vector<std::string> keys;
  std::shared_ptr<const GraphRecord> graph;
  bool isMisstated = false; ///< the file gives this tensor another shape
};

/// Whether a value or an element of it is misstated.
bool hasMisstated(const Value &value);

/// As errors call it.
std::string nameOf(Value::Kind kind);

} // namespace sinter::torch
