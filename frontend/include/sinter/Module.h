/// SINTER_MODULE: makes a plain class a module by naming its fields.
#pragma once

#include <sinter/Fields.h>
#include <sinter/FlatGradients.h>
#include <sinter/ForEach.h>
#include <sinter/KeptTies.h>
#include <sinter/ModuleCalls.h>
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
/// deques, lists, arrays, optionals, variants, pairs, tuples and maps of these;
/// others are constants. Fields may also be owning pointers to these:
/// - What a `std::shared_ptr` leads to is shared by copies of the module, as by
///   copies of the pointer, and is one thing however often it is found: its
///   parameters are tied. What gives a changed copy (map, to, fork, cast,
///   valid) gives it a copy of its own.
/// - A module with a `std::unique_ptr` cannot be copied:
///   `std::move(model).to(device)` and the like change it in place.
/// A pointer to a base class must not lead to an object of a derived one.
///
/// A Tensor is a constant of its class: it moves with `to` and `cast` and is
/// not saved. What training changes, or files keep, is a Param, perhaps one
/// made with `requires_grad = false`.
///
/// Every field that can hold a Param or a Mode must be named, or be named in
/// SINTER_NOT_A_FIELD, which stands once beside SINTER_MODULE:
///
///     SINTER_MODULE(Student, own)
///     SINTER_NOT_A_FIELD(teacher, probe)
///
/// A field that is neither does not compile where the class is an aggregate;
/// in other classes it is an Error of the first function below that looks for
/// parameters, if the Param stands in the object itself.
///
/// A base class that is a module comes first, by itself. The class stays
/// copyable: a copy has parameters of its own, and those that were tied are
/// tied in the copy, to each other. No field follows the macro; what follows is
/// public. A class inside a function cannot be a module.
///
/// Given to the class, all public:
///   visit(f)           calls f(path, param) for every Param, in order; its id
///                      is param.record_id()
///   map(f)             a copy in which each Param is f(path, param)
///   save(file)         writes every Param as safetensors
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
  template <typename SinterSelf>                                               \
  static auto sinter_field_types(SinterSelf *sinter_self)                      \
      -> ::sinter::detail::FieldTypes<void SINTER_FOR_EACH(SINTER_FIELD_TYPE,  \
                                                           __VA_ARGS__)>;      \
  void sinter_fields(::sinter::detail::FieldWalker &sinter_walker) {           \
    static_assert(::sinter::detail::namesAllState<ModuleType>(),               \
                  "a field that can hold parameters or a Mode stands neither " \
                  "in SINTER_MODULE nor in SINTER_NOT_A_FIELD");               \
    ::sinter::detail::walkBase(*this, sinter_walker);                          \
    SINTER_FOR_EACH(SINTER_MODULE_FIELD, __VA_ARGS__)                          \
  }                                                                            \
  [[no_unique_address]] ::sinter::detail::KeptTies<ModuleType> sinter_ties{};  \
  SINTER_MODULE_MEMBERS(ModuleType)

/// Says of fields that hold parameters that these are no parameters of the
/// module: `visit` does not find them, nothing trains, saves or moves them.
#define SINTER_NOT_A_FIELD(...)                                                \
public:                                                                        \
  template <typename SinterSelf>                                               \
  static auto sinter_left_out_types(SinterSelf *sinter_self)                   \
      -> ::sinter::detail::FieldTypes<void SINTER_FOR_EACH(SINTER_FIELD_TYPE,  \
                                                           __VA_ARGS__)>;      \
  void sinter_left_out(::sinter::detail::LeftOutFields &sinter_fields) const { \
    SINTER_FOR_EACH(SINTER_LEFT_OUT_FIELD, __VA_ARGS__)                        \
  }

#define SINTER_MODULE_FIELD(field) sinter_walker(#field, this->field);
#define SINTER_LEFT_OUT_FIELD(field) sinter_fields(this->field);
#define SINTER_FIELD_TYPE(field) , decltype(sinter_self->field)

#define SINTER_MODULE_MEMBERS(ModuleType)                                      \
  template <typename F> void visit(F &&function) {                             \
    for (auto &[path, param] : ::sinter::detail::allFieldsOf(*this).params)    \
      function(path, *param);                                                  \
  }                                                                            \
  template <typename F> void visit(F &&function) const {                       \
    for (auto &[path, param] : ::sinter::detail::allFieldsOf(*this).params)    \
      function(path, std::as_const(*param));                                   \
  }                                                                            \
  template <typename F, typename SinterSelf = ModuleType>                      \
  SinterSelf map(F &&function) const & {                                       \
    SinterSelf copy = ::sinter::detail::separateCopy<SinterSelf>(*this);       \
    ::sinter::detail::mapParams(::sinter::detail::fieldsOf(*this),             \
                                ::sinter::detail::fieldsOf(copy), function);   \
    return copy;                                                               \
  }                                                                            \
  template <typename F, typename SinterSelf = ModuleType>                      \
  SinterSelf map(F &&function) && {                                            \
    return ::sinter::detail::changed<SinterSelf>(                              \
        std::move(*this), [&](const ::sinter::detail::Fields &fields) {        \
          ::sinter::detail::mapParams(fields, fields, function);               \
        });                                                                    \
  }                                                                            \
  template <typename SinterSelf = ModuleType>                                  \
  SinterSelf to(std::string_view device,                                       \
                std::source_location where = std::source_location::current())  \
      const & {                                                                \
    SinterSelf copy = ::sinter::detail::separateCopy<SinterSelf>(*this);       \
    ::sinter::detail::moveFields(::sinter::detail::fieldsOf(*this),            \
                                 ::sinter::detail::fieldsOf(copy), device,     \
                                 where);                                       \
    return copy;                                                               \
  }                                                                            \
  template <typename SinterSelf = ModuleType>                                  \
  SinterSelf to(std::string_view device,                                       \
                std::source_location where =                                   \
                    std::source_location::current()) && {                      \
    return ::sinter::detail::changed<SinterSelf>(                              \
        std::move(*this), [&](const ::sinter::detail::Fields &fields) {        \
          ::sinter::detail::moveFields(fields, fields, device, where);         \
        });                                                                    \
  }                                                                            \
  template <typename SinterSelf = ModuleType>                                  \
  SinterSelf fork(std::string_view device,                                     \
                  std::source_location where =                                 \
                      std::source_location::current()) const {                 \
    ::sinter::detail::evalFields(::sinter::detail::fieldsOf(*this), where);    \
    return to<SinterSelf>(device, where);                                      \
  }                                                                            \
  template <typename SinterSelf = ModuleType>                                  \
  SinterSelf cast(::sinter::DType dtype, std::source_location where =          \
                                             std::source_location::current())  \
      const & {                                                                \
    SinterSelf copy = ::sinter::detail::separateCopy<SinterSelf>(*this);       \
    ::sinter::detail::castFields(::sinter::detail::fieldsOf(*this),            \
                                 ::sinter::detail::fieldsOf(copy), dtype,      \
                                 where);                                       \
    return copy;                                                               \
  }                                                                            \
  template <typename SinterSelf = ModuleType>                                  \
  SinterSelf cast(::sinter::DType dtype,                                       \
                  std::source_location where =                                 \
                      std::source_location::current()) && {                    \
    return ::sinter::detail::changed<SinterSelf>(                              \
        std::move(*this), [&](const ::sinter::detail::Fields &fields) {        \
          ::sinter::detail::castFields(fields, fields, dtype, where);          \
        });                                                                    \
  }                                                                            \
  template <typename SinterSelf = ModuleType> SinterSelf valid() const & {     \
    SinterSelf copy = ::sinter::detail::separateCopy<SinterSelf>(*this);       \
    ::sinter::detail::stopTraining(::sinter::detail::fieldsOf(copy));          \
    return copy;                                                               \
  }                                                                            \
  template <typename SinterSelf = ModuleType> SinterSelf valid() && {          \
    return ::sinter::detail::changed<SinterSelf>(                              \
        std::move(*this), [](const ::sinter::detail::Fields &fields) {         \
          ::sinter::detail::stopTraining(fields);                              \
        });                                                                    \
  }                                                                            \
  ::sinter::Tensor flat_gradients(const ::sinter::Gradients &gradients,        \
                                  std::source_location where =                 \
                                      std::source_location::current()) const { \
    return ::sinter::detail::flattenGradients(                                 \
        ::sinter::detail::allFieldsOf(*this), gradients, where);               \
  }                                                                            \
  ::sinter::Gradients gradients_of(                                            \
      const ::sinter::Tensor &flat,                                            \
      std::source_location where = std::source_location::current()) const {    \
    return ::sinter::detail::unflattenGradients(                               \
        ::sinter::detail::allFieldsOf(*this), flat, where);                    \
  }                                                                            \
  void apply_weight_delta(                                                     \
      const ::sinter::WeightDelta &delta, double scale = 1,                    \
      std::source_location where = std::source_location::current()) {          \
    ::sinter::detail::addDelta(::sinter::detail::allFieldsOf(*this), delta,    \
                               scale, where);                                  \
  }                                                                            \
  void save(const std::string &file,                                           \
            std::source_location where = std::source_location::current())      \
      const {                                                                  \
    ::sinter::detail::saveFields(::sinter::detail::allFieldsOf(*this), file,   \
                                 where);                                       \
  }                                                                            \
  void load(const std::string &file,                                           \
            std::source_location where = std::source_location::current()) {    \
    ::sinter::detail::loadFields(::sinter::detail::allFieldsOf(*this), file,   \
                                 where);                                       \
  }                                                                            \
  int64_t num_params() const {                                                 \
    return ::sinter::detail::countElements(                                    \
        ::sinter::detail::allFieldsOf(*this));                                 \
  }                                                                            \
  void train(bool on = true) {                                                 \
    ::sinter::detail::setTraining(::sinter::detail::allFieldsOf(*this), on);   \
  }                                                                            \
  void eval() { train(false); }                                                \
  void require_grad(bool on = true) {                                          \
    for (auto &[path, param] : ::sinter::detail::allFieldsOf(*this).params)    \
      param->require_grad(on);                                                 \
  }                                                                            \
  template <typename SinterSelf = ModuleType, typename... SinterRest>          \
  auto operator()(const ::sinter::Arg &x, SinterRest &&...rest) const {        \
    ::sinter::detail::SourceScope scope(x.where);                              \
    const SinterSelf &self = *this;                                            \
    return ::sinter::detail::called(self, [&]() -> decltype(auto) {            \
      return self.forward(::sinter::detail::tensorOf(x),                       \
                          std::forward<SinterRest>(rest)...);                  \
    });                                                                        \
  }
