/// RNN, LSTM and GRU: recurrent layers over sequences, and their cells.
#pragma once

#include <sinter/Module.h>

#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace sinter::nn {

/// What a step of a recurrent layer does.
enum class RecurrentKind : uint8_t { tanh, relu, lstm, gru };

struct RecurrentOptions {
  int64_t num_layers = 1;
  bool bias = true;
  bool batch_first = false; ///< x is [n, t, input], else [t, n, input]
  double dropout = 0;       ///< between layers, in training
  bool bidirectional = false;
  DType dtype = DType::f32;
  int64_t proj_size = 0; ///< LSTM only: of h after a product; 0 for none
};

/// What RNN, LSTM and GRU share. Names, shapes, order of gates and first values
/// are PyTorch's: for layer k `weight_ih_lk` [gates * hidden, input],
/// `weight_hh_lk` [gates * hidden, hidden], `bias_ih_lk`, `bias_hh_lk`, and for
/// the other direction the same with `_reverse`; uniform in +-1/sqrt(hidden). A
/// sequence is one loop in the program, whatever its length; what does not
/// depend on the state is computed for all steps at once.
class Recurrent {
public:
  using Where = std::source_location;

  NamedParams params;
  RecurrentOptions options;
  RecurrentKind kind = RecurrentKind::tanh;
  int64_t input_size = 0;
  int64_t hidden_size = 0;
  Mode mode;

protected:
  Recurrent() = default;
  Recurrent(RecurrentKind kind, int64_t input, int64_t hidden,
            const RecurrentOptions &options, Where where);

  struct Result {
    Tensor output;
    std::vector<Tensor> states; ///< h, and c of an LSTM
  };
  /// x, and the first states [layers * directions, n, size]; empty ones are 0.
  Result run(const Tensor &x, const std::vector<Tensor> &first) const;

private:
  struct Sequence;
  void addLayer(int64_t layer, bool reverse, Where where);
  Sequence sequenceOf(const Tensor &x, const std::vector<Tensor> &first) const;
  std::vector<Tensor> runLayer(const Tensor &x, int64_t layer, bool reverse,
                               const std::vector<Tensor> &first) const;
};

struct RecurrentOutput {
  Tensor output; ///< of the last layer: x's first axes, directions * hidden
  Tensor h_n;    ///< after the last step: [layers * directions, n, hidden]
};

enum class Nonlinearity : uint8_t { tanh, relu };

/// h' = tanh(W x + b + U h + b'), or relu of it.
class RNN : public Recurrent {
public:
  RNN() = default;
  RNN(int64_t input, int64_t hidden, const RecurrentOptions &options = {},
      Nonlinearity nonlinearity = Nonlinearity::tanh,
      Where where = Where::current());

  /// Without h_0 it is 0. x without the axis n is one sequence.
  RecurrentOutput forward(const Tensor &x, const Tensor &h_0 = {}) const;

  SINTER_MODULE(RNN, params, mode)
};

/// Gates r, z, n: n = tanh(W x + b + r (U h + b')), h' = (1 - z) n + z h.
class GRU : public Recurrent {
public:
  GRU() = default;
  GRU(int64_t input, int64_t hidden, const RecurrentOptions &options = {},
      Where where = Where::current());

  /// Without h_0 it is 0. x without the axis n is one sequence.
  RecurrentOutput forward(const Tensor &x, const Tensor &h_0 = {}) const;

  SINTER_MODULE(GRU, params, mode)
};

struct LSTMState {
  Tensor h; ///< [layers * directions, n, hidden, or proj_size]
  Tensor c; ///< [layers * directions, n, hidden]
};
struct LSTMOutput {
  Tensor output; ///< of the last layer: x's first axes, directions * hidden
  Tensor h_n;
  Tensor c_n;
};

/// Gates i, f, g, o: c' = f c + i g, h' = o tanh(c').
class LSTM : public Recurrent {
public:
  LSTM() = default;
  LSTM(int64_t input, int64_t hidden, const RecurrentOptions &options = {},
       Where where = Where::current());

  /// Without a state it is 0. x without the axis n is one sequence.
  LSTMOutput forward(const Tensor &x, const LSTMState &first = {}) const;

  SINTER_MODULE(LSTM, params, mode)
};

struct CellOptions {
  bool bias = true;
  DType dtype = DType::f32;
};

/// One step of a layer: `weight_ih`, `weight_hh`, `bias_ih`, `bias_hh`, as
/// PyTorch's.
class RecurrentCell {
public:
  using Where = std::source_location;

  Param weight_ih;
  Param weight_hh;
  Param bias_ih; ///< both empty without bias
  Param bias_hh;
  RecurrentKind kind = RecurrentKind::tanh;

protected:
  RecurrentCell() = default;
  RecurrentCell(RecurrentKind kind, int64_t input, int64_t hidden,
                const CellOptions &options, Where where);
  std::vector<Tensor> step(const Tensor &x,
                           const std::vector<Tensor> &states) const;
};

class RNNCell : public RecurrentCell {
public:
  RNNCell() = default;
  RNNCell(int64_t input, int64_t hidden, const CellOptions &options = {},
          Nonlinearity nonlinearity = Nonlinearity::tanh,
          Where where = Where::current());

  /// The next h of x [n, input] and h [n, hidden], which is 0 when not given.
  Tensor forward(const Tensor &x, const Tensor &h = {}) const;

  SINTER_MODULE(RNNCell, weight_ih, weight_hh, bias_ih, bias_hh)
};

class GRUCell : public RecurrentCell {
public:
  GRUCell() = default;
  GRUCell(int64_t input, int64_t hidden, const CellOptions &options = {},
          Where where = Where::current());

  /// The next h of x [n, input] and h [n, hidden], which is 0 when not given.
  Tensor forward(const Tensor &x, const Tensor &h = {}) const;

  SINTER_MODULE(GRUCell, weight_ih, weight_hh, bias_ih, bias_hh)
};

class LSTMCell : public RecurrentCell {
public:
  LSTMCell() = default;
  LSTMCell(int64_t input, int64_t hidden, const CellOptions &options = {},
           Where where = Where::current());

  /// The next h and c, both [n, hidden].
  LSTMState forward(const Tensor &x, const LSTMState &state = {}) const;

  SINTER_MODULE(LSTMCell, weight_ih, weight_hh, bias_ih, bias_hh)
};

} // namespace sinter::nn
