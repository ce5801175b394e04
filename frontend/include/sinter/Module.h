/// SINTER_MODULE: makes a plain class a module by naming its fields.
#pragma once

#include <sinter/Fields.h>
#include <sinter/FlatGradients.h>
#include <sinter/ForEach.h>
#include <sinter/KeptTies.h>
#include <sinter/ModuleFile.h>
#include <sinter/SourceScope.h>

#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/// Stands at the end of a class and names the class and its fields:
///
///     struct Mlp {
///       sn::nn::Linear fc1{784, 512}, fc2{512, 10};
///       sn::Tensor forward(const sn::Tensor &x) const;
///       SINTER_MODULE(Mlp, fc1, fc2)
///     };
///
/// Fields may be modules, Params, NamedParams, Tensors, `Mode`, and vectors,
/// arrays, optionals, pairs, tuples and maps of these; others are constants. A
/// base class that is a module comes first, by itself. The class stays
/// copyable: a copy has parameters of its own, and those that were tied are
/// tied in the copy, to each other. No field follows the macro; what follows is
/// public. A class inside a function cannot be a module.
///
/// Given to the class, all public:
///   visit(f)           calls f(path, param) for every Param, in order; its id
///                      is param.record_id()
///   map(f)             a copy in which each Param is f(path, param)
///   save(file)         writes every Param and Tensor as safetensors
///   load(file)         reads them back; all of them or none
///   to(device)         a copy on a device
///   fork(device)       the same, of which every value exists: it waits for
///                      nothing that was recorded here
///   cast(dtype)        a copy whose floats are of that dtype
///   num_params()       elements of all Params that can be trained, a tied one
///                      counted once
///   train(on), eval()  sets every Mode
///   valid()            a copy that predicts: eval(), and no Param wants a
///                      gradient; train() makes those that did want one again
///   require_grad(on)   sets every Param
///   flat_gradients(g)  the gradients as one vector, and back (sinter/
///   gradients_of(flat) FlatGradients.h)
///   apply_weight_delta(delta, scale)
///                      adds scale * delta to the Params: a map by path, or a
///                      vector as of flat_gradients
///   operator()(x, ...) forward(x, ...), recorded under the caller's line
#define SINTER_MODULE(ModuleType, ...)                                         \
public:                                                                        \
  using sinter_module_type = ModuleType;                                       \
  template <typename SinterOther>                                              \
    requires(!std::is_same_v<SinterOther, ModuleType>)                         \
  friend ::sinter::detail::TypeTag<ModuleType> sinter_module_base(             \
      const ModuleType &, ::sinter::detail::TypeTag<SinterOther>) {            \
    return {};                                                                 \
  }                                                                            \
  void sinter_fields(::sinter::detail::FieldWalker &sinter_walker) {           \
    ::sinter::detail::walkBase(*this, sinter_walker);                          \
    SINTER_FOR_EACH(SINTER_MODULE_FIELD, __VA_ARGS__)                          \
  }                                                                            \
  [[no_unique_address]] ::sinter::detail::KeptTies<ModuleType> sinter_ties{};  \
  SINTER_MODULE_MEMBERS(ModuleType)

#define SINTER_MODULE_FIELD(field) sinter_walker(#field, this->field);

#define SINTER_MODULE_MEMBERS(ModuleType)                                      \
  template <typename F> void visit(F &&function) {                             \
    for (auto &[path, param] : ::sinter::detail::fieldsOf(*this).params)       \
      function(path, *param);                                                  \
  }                                                                            \
  template <typename F> void visit(F &&function) const {                       \
    for (auto &[path, param] : ::sinter::detail::fieldsOf(*this).params)       \
      function(path, std::as_const(*param));                                   \
  }                                                                            \
  template <typename F> ModuleType map(F &&function) const {                   \
    ModuleType copy = *this;                                                   \
    ::sinter::detail::mapParams(::sinter::detail::fieldsOf(*this),             \
                                ::sinter::detail::fieldsOf(copy), function);   \
    return copy;                                                               \
  }                                                                            \
  ModuleType to(std::string_view device,                                       \
                std::source_location where = std::source_location::current())  \
      const {                                                                  \
    ModuleType copy = *this;                                                   \
    ::sinter::detail::moveFields(::sinter::detail::fieldsOf(*this),            \
                                 ::sinter::detail::fieldsOf(copy), device,     \
                                 where);                                       \
    return copy;                                                               \
  }                                                                            \
  ModuleType fork(std::string_view device,                                     \
                  std::source_location where =                                 \
                      std::source_location::current()) const {                 \
    ::sinter::detail::evalFields(::sinter::detail::fieldsOf(*this), where);    \
    return to(device, where);                                                  \
  }                                                                            \
  ModuleType cast(::sinter::DType dtype, std::source_location where =          \
                                             std::source_location::current())  \
      const {                                                                  \
    ModuleType copy = *this;                                                   \
    ::sinter::detail::castFields(::sinter::detail::fieldsOf(*this),            \
                                 ::sinter::detail::fieldsOf(copy), dtype,      \
                                 where);                                       \
    return copy;                                                               \
  }                                                                            \
  ModuleType valid() const {                                                   \
    ModuleType copy = *this;                                                   \
    ::sinter::detail::stopTraining(::sinter::detail::fieldsOf(copy));          \
    return copy;                                                               \
  }                                                                            \
  ::sinter::Tensor flat_gradients(const ::sinter::Gradients &gradients,        \
                                  std::source_location where =                 \
                                      std::source_location::current()) const { \
    return ::sinter::detail::flattenGradients(                                 \
        ::sinter::detail::fieldsOf(*this), gradients, where);                  \
  }                                                                            \
  ::sinter::Gradients gradients_of(                                            \
      const ::sinter::Tensor &flat,                                            \
      std::source_location where = std::source_location::current()) const {    \
    return ::sinter::detail::unflattenGradients(                               \
        ::sinter::detail::fieldsOf(*this), flat, where);                       \
  }                                                                            \
  void apply_weight_delta(                                                     \
      const ::sinter::WeightDelta &delta, double scale = 1,                    \
      std::source_location where = std::source_location::current()) {          \
    ::sinter::detail::addDelta(::sinter::detail::fieldsOf(*this), delta,       \
                               scale, where);                                  \
  }                                                                            \
  void save(const std::string &file,                                           \
            std::source_location where = std::source_location::current())      \
      const {                                                                  \
    ::sinter::detail::saveFields(::sinter::detail::fieldsOf(*this), file,      \
                                 where);                                       \
  }                                                                            \
  void load(const std::string &file,                                           \
            std::source_location where = std::source_location::current()) {    \
    ::sinter::detail::loadFields(::sinter::detail::fieldsOf(*this), file,      \
                                 where);                                       \
  }                                                                            \
  int64_t num_params() const {                                                 \
    return ::sinter::detail::countElements(::sinter::detail::fieldsOf(*this)); \
  }                                                                            \
  void train(bool on = true) {                                                 \
    ::sinter::detail::setTraining(::sinter::detail::fieldsOf(*this), on);      \
  }                                                                            \
  void eval() { train(false); }                                                \
  void require_grad(bool on = true) {                                          \
    for (auto &[path, param] : ::sinter::detail::fieldsOf(*this).params)       \
      param->require_grad(on);                                                 \
  }                                                                            \
  template <typename SinterSelf = ModuleType, typename... SinterRest>          \
  auto operator()(const ::sinter::Arg &x, SinterRest &&...rest) const {        \
    ::sinter::detail::SourceScope scope(x.where);                              \
    const SinterSelf &self = *this;                                            \
    return self.forward(::sinter::detail::tensorOf(x),                         \
                        std::forward<SinterRest>(rest)...);                    \
  }
