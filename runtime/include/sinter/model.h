/// Runs model files from C++: the C interface (sinter/c_api.h) with owners,
/// spans and exceptions. Links sinter::runtime alone; has nothing compiled.
///
///   sinter::deploy::Model model("digits.sinter");
///   sinter::deploy::Session session(model);
///   std::vector<float> images(29 * 64);
///   auto outputs = session.run({{images, {29, 1, 8, 8}}});
///   std::span<const float> scores = outputs[0].values<float>();
#pragma once

#include <sinter/c_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sinter::deploy {

// NOLINTBEGIN(readability-identifier-naming): as what else users touch.

/// A call that failed: its text, and what kind of failure it is.
class Error : public std::runtime_error {
public:
  Error(sinter_status status, const std::string &text)
      : std::runtime_error(text), kind(status) {}
  sinter_status status() const { return kind; }

private:
  sinter_status kind;
};

namespace detail {

inline void check(sinter_status status) {
  if (status != SINTER_OK)
    throw Error(status, sinter_last_error());
}

template <typename T> T sized() {
  T value{};
  value.struct_size = sizeof(T);
  return value;
}

template <typename T> constexpr sinter_dtype dtypeOf() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, bool>)
    return SINTER_BOOL;
  else if constexpr (std::is_floating_point_v<U> && sizeof(U) == 8)
    return SINTER_F64;
  else if constexpr (std::is_floating_point_v<U> && sizeof(U) == 4)
    return SINTER_F32;
  else if constexpr (std::is_integral_v<U> && std::is_signed_v<U>)
    return sizeof(U) == 1   ? SINTER_I8
           : sizeof(U) == 2 ? SINTER_I16
           : sizeof(U) == 4 ? SINTER_I32
                            : SINTER_I64;
  else if constexpr (std::is_integral_v<U>)
    return sizeof(U) == 1   ? SINTER_U8
           : sizeof(U) == 2 ? SINTER_U16
           : sizeof(U) == 4 ? SINTER_U32
                            : SINTER_U64;
  else {
    static_assert(std::is_same_v<U, std::byte>,
                  "there is no dtype for this type");
    return SINTER_U8;
  }
}

} // namespace detail

/// The version of the library that is linked.
inline std::string version() { return sinter_version(); }

/// A view of somebody's memory. The memory has to stay, dims are its own.
class Tensor {
public:
  Tensor() = default;
  /// Dense, row-major elements of the host's.
  template <typename T, std::size_t N>
  Tensor(std::span<T, N> elements, std::vector<int64_t> shape)
      : Tensor(detail::dtypeOf<T>(),
               const_cast<std::remove_cv_t<T> *>(elements.data()),
               std::move(shape)) {
    if (count() != static_cast<int64_t>(elements.size()))
      throw Error(SINTER_INVALID_ARGUMENT, "a tensor of " +
                                               std::to_string(count()) +
                                               " elements over a span of " +
                                               std::to_string(elements.size()));
  }
  template <typename T>
  Tensor(const std::vector<T> &elements, std::vector<int64_t> shape)
      : Tensor(std::span(elements), std::move(shape)) {}
  /// Memory of any kind: of a device, with a dtype that C++ lacks.
  Tensor(sinter_dtype dtype, void *data, std::vector<int64_t> shape,
         sinter_device_kind device = SINTER_DEVICE_CPU, int32_t index = 0)
      : sizes(std::move(shape)), memory(data), type(dtype), kind(device),
        number(index) {}

  std::span<const int64_t> dims() const { return sizes; }
  sinter_dtype dtype() const { return type; }
  void *data() const { return memory; }
  sinter_device_kind device_kind() const { return kind; }
  int64_t count() const {
    int64_t product = 1;
    for (int64_t dim : sizes)
      product *= dim;
    return product;
  }
  /// The elements, of the host's memory. Throws where T is not their type.
  template <typename T> std::span<const T> values() const {
    if (kind != SINTER_DEVICE_CPU || type != detail::dtypeOf<T>())
      throw Error(SINTER_INVALID_ARGUMENT,
                  "the tensor has another dtype, or is a device's");
    return {static_cast<const T *>(memory), static_cast<std::size_t>(count())};
  }
  /// As the C interface has it; refers to this.
  sinter_tensor view() const {
    auto tensor = detail::sized<sinter_tensor>();
    tensor.data = memory;
    tensor.dtype = type;
    tensor.device_kind = kind;
    tensor.device_index = number;
    tensor.ndim = static_cast<int32_t>(sizes.size());
    tensor.dims = sizes.data();
    return tensor;
  }

private:
  std::vector<int64_t> sizes;
  void *memory = nullptr;
  sinter_dtype type = SINTER_F32;
  sinter_device_kind kind = SINTER_DEVICE_CPU;
  int32_t number = 0;
};

namespace detail {

inline Tensor tensorOf(const sinter_tensor &view) {
  return {view.dtype, view.data,
          std::vector<int64_t>(view.dims, view.dims + view.ndim),
          view.device_kind, view.device_index};
}

} // namespace detail

/// Copies elements, between the host and devices, too, and waits.
inline void copy(const Tensor &from, const Tensor &to) {
  sinter_tensor source = from.view(), target = to.view();
  detail::check(sinter_tensor_copy(&source, &target));
}

/// An input or output of an entry point.
struct Port {
  std::string name, description;
  sinter_dtype dtype = SINTER_F32;
  std::vector<int64_t> dims;          ///< -1 where a run decides
  std::vector<std::string> dim_names; ///< `64`, `s0`, `2*s0`
};

struct ModelOptions {
  std::string device = {};       ///< empty: what SINTER_DEVICE says
  bool check_everything = false; ///< now, not when it is first read
  bool in_place = false;         ///< of bytes that the caller keeps
  /// An entry point that has no program for the device is an error, not
  /// compiled from the file's graph.
  bool never_compile = false;
  /// The most that a run takes of the processor's; 0: as many as there are.
  int32_t threads = 0;
  /// SINTER_TRUST_GRAPH: the file's machine code is not run, its graph is
  /// compiled here. SINTER_TRUST_SIGNED: a trusted key has to have signed it.
  int32_t trust = SINTER_TRUST_CODE;
  std::string trusted_keys = {}; ///< their folder; empty: the user's
};

/// An open model file. Copies share it; thread-safe.
class Model {
public:
  explicit Model(const std::string &path, const ModelOptions &options = {}) {
    open(options, [&](const sinter_model_options &read, sinter_model **made) {
      return sinter_model_open(path.c_str(), &read, made);
    });
  }
  explicit Model(std::span<const std::byte> file,
                 const ModelOptions &options = {}) {
    open(options, [&](const sinter_model_options &read, sinter_model **made) {
      return sinter_model_open_memory(file.data(), file.size(), &read, made);
    });
  }
  /// Takes over a handle.
  explicit Model(sinter_model *owned) : shared(owned, sinter_model_close) {}

  sinter_model *get() const { return shared.get(); }

  std::vector<std::string> entries() const {
    auto info = detail::sized<sinter_model_info>();
    detail::check(sinter_model_get_info(get(), &info));
    std::vector<std::string> names;
    for (uint32_t i = 0; i < info.num_entries; ++i)
      names.emplace_back(entry(i).name);
    return names;
  }
  /// The number of an entry point; throws where there is none of that name.
  uint32_t find(const std::string &name) const {
    uint32_t number = 0;
    detail::check(sinter_model_find_entry(get(), name.c_str(), &number));
    return number;
  }
  std::vector<Port> inputs(uint32_t number = 0) const {
    return ports(sinter_model_input, number, entry(number).num_inputs);
  }
  std::vector<Port> outputs(uint32_t number = 0) const {
    return ports(sinter_model_output, number, entry(number).num_outputs);
  }

private:
  template <typename Open> void open(const ModelOptions &options, Open call) {
    auto read = detail::sized<sinter_model_options>();
    read.device = options.device.empty() ? nullptr : options.device.c_str();
    read.check =
        options.check_everything ? SINTER_CHECK_NOW : SINTER_CHECK_WHEN_USED;
    read.in_place = options.in_place;
    read.never_compile = options.never_compile;
    read.threads = options.threads;
    read.trust = options.trust;
    read.trusted_keys =
        options.trusted_keys.empty() ? nullptr : options.trusted_keys.c_str();
    sinter_model *made = nullptr;
    detail::check(call(read, &made));
    shared.reset(made, sinter_model_close);
  }
  sinter_entry_info entry(uint32_t number) const {
    auto info = detail::sized<sinter_entry_info>();
    detail::check(sinter_model_entry(get(), number, &info));
    return info;
  }
  template <typename Get>
  std::vector<Port> ports(Get get_port, uint32_t number, uint32_t count) const {
    std::vector<Port> all;
    for (uint32_t i = 0; i < count; ++i) {
      auto info = detail::sized<sinter_port_info>();
      detail::check(get_port(get(), number, i, &info));
      auto rank = static_cast<std::size_t>(info.ndim);
      all.push_back({info.name,
                     info.description,
                     info.dtype,
                     {info.dims, info.dims + rank},
                     {info.dim_names, info.dim_names + rank}});
    }
    return all;
  }

  std::shared_ptr<sinter_model> shared;
};

/// A run in the background. Movable; gives it up when destroyed, and does not
/// wait: what it reads and writes has to stay until it has ended.
class Event {
public:
  explicit Event(sinter_event *owned) : handle(owned, sinter_event_close) {}
  /// Waits for the end. Throws what it failed with.
  void wait() const {
    int32_t done = 0;
    detail::check(sinter_event_wait(handle.get(), -1, &done));
  }
  /// Whether it has ended; throws what it failed with.
  bool done() const {
    int32_t ended = 0;
    detail::check(sinter_event_wait(handle.get(), 0, &ended));
    return ended != 0;
  }
  void cancel() const { detail::check(sinter_event_cancel(handle.get())); }

private:
  std::unique_ptr<sinter_event, sinter_status (*)(sinter_event *)> handle;
};

/// One user of a model. Movable; one thread at a time.
class Session {
public:
  explicit Session(Model model)
      : owner(std::move(model)), handle(nullptr, sinter_session_close) {
    sinter_session *made = nullptr;
    detail::check(sinter_session_open(owner.get(), &made));
    handle.reset(made);
  }

  const Model &model() const { return owner; }
  sinter_session *get() const { return handle.get(); }

  /// Runs an entry point; outputs are views of the session's memory, valid
  /// until its next run of the entry.
  std::vector<Tensor> run(std::span<const Tensor> inputs, uint32_t entry = 0) {
    list(inputs);
    detail::check(sinter_session_run(get(), entry, given.data(), given.size(),
                                     nullptr, 0, nullptr));
    return outputs(entry);
  }
  std::vector<Tensor> run(std::initializer_list<Tensor> inputs,
                          uint32_t entry = 0) {
    return run(std::span(inputs.begin(), inputs.size()), entry);
  }
  /// The same into memory of the caller's.
  void run_into(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                uint32_t entry = 0) {
    list(inputs);
    std::vector<sinter_tensor> places;
    for (const Tensor &output : outputs)
      places.push_back(output.view());
    detail::check(sinter_session_run(get(), entry, given.data(), given.size(),
                                     places.data(), places.size(), nullptr));
  }
  /// On a thread of the session's. `ready`, if given, is called there at the
  /// end, with an empty text where the run went well, and must not throw.
  Event
  run_async(std::span<const Tensor> inputs, uint32_t entry = 0,
            std::function<void(sinter_status, std::string_view)> ready = {}) {
    list(inputs);
    using Ready = std::function<void(sinter_status, std::string_view)>;
    auto *kept =
        new Ready(std::move(ready)); // the callback's, if all goes well
    sinter_event *made = nullptr;
    sinter_status begun = sinter_session_run_async(
        get(), entry, given.data(), given.size(), nullptr, 0, nullptr,
        [](void *user, sinter_status status, const char *error) {
          std::unique_ptr<Ready> own(static_cast<Ready *>(user));
          if (*own)
            (*own)(status, error);
        },
        kept, &made);
    if (begun != SINTER_OK)
      delete kept;
    detail::check(begun);
    return Event(made);
  }
  /// The outputs of the entry's last run, as `run` gives them.
  std::vector<Tensor> outputs(uint32_t entry = 0) const {
    auto point = detail::sized<sinter_entry_info>();
    detail::check(sinter_model_entry(owner.get(), entry, &point));
    std::vector<Tensor> all;
    for (uint32_t i = 0; i < point.num_outputs; ++i) {
      auto info = detail::sized<sinter_tensor>();
      detail::check(sinter_session_output(get(), entry, i, &info));
      all.push_back(detail::tensorOf(info));
    }
    return all;
  }
  /// Bytes that a run on such inputs takes; of these only dtype and dims count.
  sinter_memory_info memory(std::span<const Tensor> inputs,
                            uint32_t entry = 0) {
    list(inputs);
    auto info = detail::sized<sinter_memory_info>();
    detail::check(sinter_session_memory(get(), entry, given.data(),
                                        given.size(), nullptr, 0, &info));
    return info;
  }
  /// Stops what runs; from any thread.
  void cancel() const { detail::check(sinter_session_cancel(get())); }

  /// A state or weight now: a view that is only to be read, until the next run.
  Tensor state(uint32_t number) const {
    return view(sinter_session_state, number);
  }
  Tensor weight(uint32_t number) const {
    return view(sinter_session_weight, number);
  }
  /// Gives this session a copy of another value.
  void set_state(uint32_t number, const Tensor &value) {
    sinter_tensor given_value = value.view();
    detail::check(sinter_session_set_state(get(), number, &given_value));
  }
  void set_weight(uint32_t number, const Tensor &value) {
    sinter_tensor given_value = value.view();
    detail::check(sinter_session_set_weight(get(), number, &given_value));
  }
  /// State and random numbers begin anew.
  void reset() { detail::check(sinter_session_reset(get())); }
  /// Random numbers begin as `manual_seed` has them.
  void seed(uint64_t number) {
    detail::check(sinter_session_seed(get(), number));
  }

private:
  template <typename Get> Tensor view(Get get_view, uint32_t number) const {
    auto info = detail::sized<sinter_tensor>();
    detail::check(get_view(get(), number, &info));
    return detail::tensorOf(info);
  }
  void list(std::span<const Tensor> inputs) {
    given.clear();
    for (const Tensor &input : inputs)
      given.push_back(input.view());
  }

  Model owner;
  std::unique_ptr<sinter_session, sinter_status (*)(sinter_session *)> handle;
  std::vector<sinter_tensor> given;
};

// NOLINTEND(readability-identifier-naming)

} // namespace sinter::deploy
