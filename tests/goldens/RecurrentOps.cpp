/// Golden cases of recurrent layers and cells, as modules.
#include "tests/goldens/Modules.h"

namespace sinter::goldens {

using Rule = Values (*)(const Call &call);
using Table = std::map<std::string, Rule, std::less<>>;

static nn::RecurrentOptions optionsOf(const Call &c) {
  return {.num_layers = c.attrs.integer("num_layers"),
          .bias = c.attrs.flag("bias"),
          .batch_first = c.attrs.flag("batch_first"),
          .bidirectional = c.attrs.flag("bidirectional"),
          .proj_size = c.attrs.integer("proj_size")};
}

/// The case's module with its parameters, applied to x and h0.
template <typename Module> static Values ran(Module &module, const Call &c) {
  Values values;
  fill(module, "", c, values);
  auto [y, h] = module(c["x"], c["h0"]);
  values["y"] = y;
  values["h_n"] = h;
  return values;
}

static Values lstm(const Call &c) {
  nn::LSTM module(c["x"].dim(-1).value, c.attrs.integer("hidden_size"),
                  optionsOf(c));
  Values values;
  fill(module, "", c, values);
  auto [y, h, cell] = module(c["x"], nn::LSTMState{c["h0"], c["c0"]});
  values["y"] = y;
  values["h_n"] = h;
  values["c_n"] = cell;
  return values;
}

template <nn::Nonlinearity nonlinearity> static Values rnn(const Call &c) {
  nn::RNN module(c["x"].dim(-1).value, c.attrs.integer("hidden_size"),
                 optionsOf(c), nonlinearity);
  return ran(module, c);
}

static const Table &rules() {
  static const Table table = {
      {"lstm", lstm},
      {"rnn_tanh", rnn<nn::Nonlinearity::tanh>},
      {"rnn_relu", rnn<nn::Nonlinearity::relu>},
      {"gru",
       [](const Call &c) {
         nn::GRU module(c["x"].dim(-1).value, c.attrs.integer("hidden_size"),
                        optionsOf(c));
         return ran(module, c);
       }},
      {"lstm_cell",
       [](const Call &c) {
         nn::LSTMCell cell(c["x"].dim(-1).value,
                           c.attrs.integer("hidden_size"));
         Values values;
         fill(cell, "", c, values);
         auto [h, state] = cell(c["x"], nn::LSTMState{c["h"], c["c"]});
         values["h1"] = h;
         values["c1"] = state;
         return values;
       }},
      {"gru_cell",
       [](const Call &c) {
         nn::GRUCell cell(c["x"].dim(-1).value, c.attrs.integer("hidden_size"));
         Values values;
         fill(cell, "", c, values);
         values["h1"] = cell(c["x"], c["h"]);
         return values;
       }},
  };
  return table;
}

std::optional<Values> recordRecurrent(const Case &golden,
                                      const Values &inputs) {
  if (golden.category != "recurrent")
    return std::nullopt;
  return recordFrom(rules(), golden, inputs);
}

} // namespace sinter::goldens
