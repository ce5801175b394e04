/// The C interface: opens model files (`.sinter`) and runs them, without a
/// compiler. C11 and C++; links libsinter-runtime alone.
///
/// Rules of all functions:
///  - They return a status, SINTER_OK or what kind of failure it was;
///    `sinter_last_error` has its text. A failed call changes nothing, but
///    where its own text says so. No exception leaves them.
///  - They may be called from any thread. A session does one thing at a time:
///    calls of several threads wait for each other. Sessions of one model do
///    not.
///  - Structs begin with `struct_size`, which the caller sets to `sizeof` the
///    struct, so that fields can be added behind the others. All that is not
///    set is to be zero. In an array all have the same size.
///  - Handles are opaque. A null, closed or other kind of handle is
///    SINTER_INVALID_ARGUMENT, not a crash.
///  - Pointers to strings and dims that a call gives out belong to the handle
///    that it was asked for, and are valid as long as that one is unless the
///    text says less. Texts are UTF-8.
#ifndef SINTER_C_API_H
#define SINTER_C_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// NOLINTBEGIN(readability-identifier-naming,modernize-*): names as C has them.

//===- Status -------------------------------------------------------------===//

/// What kind of failure a call was; decides about who has to act.
typedef int32_t sinter_status;
enum {
  SINTER_OK = 0,
  SINTER_INVALID_ARGUMENT = 1, ///< the caller's: handles, dtypes, dims, structs
  SINTER_UNSUPPORTED = 2,      ///< legal, but not on this device or build
  SINTER_COMPILE = 3,          ///< the compiler is missing or could not
  SINTER_DEVICE = 4,           ///< a device is missing, lost or failed
  SINTER_OUT_OF_MEMORY = 5,
  SINTER_IO = 6,        ///< a file is missing, broken or of another version
  SINTER_CANCELLED = 7, ///< stopped by a cancel call
  SINTER_INTERNAL = 8   ///< Sinter's own mistake
};

/// The library's version, as `0.1.0`.
const char *sinter_version(void);
/// The text of this thread's last call that failed, empty before; valid until
/// its next call that fails. Calls that succeed leave it.
const char *sinter_last_error(void);
/// The status of that call.
sinter_status sinter_last_status(void);
/// The status by name, as `invalid_argument`.
const char *sinter_status_name(sinter_status status);

//===- Messages -----------------------------------------------------------===//

enum { SINTER_LOG_INFO = 0, SINTER_LOG_WARNING = 1 };

/// Is given each message of the library, without a line end.
typedef void (*sinter_log_callback)(void *user, int32_t level,
                                    const char *message);
/// Where messages go, on the thread where they arise; null: to the standard
/// error, as SINTER_LOG in the environment says. `user` has to stay as long as
/// it may be called: until another callback is set and no call runs.
sinter_status sinter_set_log(sinter_log_callback callback, void *user);

//===- Devices ------------------------------------------------------------===//

typedef int32_t sinter_device_kind;
enum {
  SINTER_DEVICE_CPU = 0,
  SINTER_DEVICE_CUDA = 1,
  SINTER_DEVICE_VULKAN = 2,
  SINTER_DEVICE_NULL = 3 ///< plain loops, for tests
};

typedef struct sinter_device_info {
  size_t struct_size;
  const char *name;        ///< `cpu`, `cuda:0`: what options take
  const char *description; ///< model and features, for people
  sinter_device_kind kind;
  int32_t index;
  uint64_t total_bytes;     ///< of memory; for cpu the cgroup's or machine's
  uint64_t available_bytes; ///< that a run may still take
  uint64_t used_bytes;      ///< by this process's tensors
} sinter_device_info;

/// How many devices there are here.
sinter_status sinter_device_count(size_t *count);
/// One of them; opens it. Strings stay as long as the process.
sinter_status sinter_device(size_t number, sinter_device_info *info);

//===- Tensors ------------------------------------------------------------===//

typedef int32_t sinter_dtype;
enum {
  SINTER_F64 = 0,
  SINTER_F32 = 1,
  SINTER_F16 = 2,
  SINTER_BF16 = 3,
  SINTER_I8 = 4,
  SINTER_I16 = 5,
  SINTER_I32 = 6,
  SINTER_I64 = 7,
  SINTER_U8 = 8,
  SINTER_BOOL = 9,  ///< a byte, 0 or 1
  SINTER_C64 = 10,  ///< two f32, the real part first
  SINTER_C128 = 11, ///< two f64
  /* Stored and cast only, but for U16, U32 and U64. Those of fewer than 8 bits
     take the low bits of a byte each; signed ones have its sign. */
  SINTER_F8E4M3FN = 12,
  SINTER_F8E5M2 = 13,
  SINTER_F8E8M0FNU = 14,
  SINTER_I4 = 15,
  SINTER_U4 = 16,
  SINTER_U16 = 17,
  SINTER_U32 = 18,
  SINTER_U64 = 19,
  SINTER_F8E4M3FNUZ = 20,
  SINTER_F8E5M2FNUZ = 21,
  SINTER_F4E2M1 = 22,
  SINTER_I2 = 23,
  SINTER_U2 = 24
};

/// A view of somebody's memory: it owns nothing.
typedef struct sinter_tensor {
  size_t struct_size;
  /// The first element: an address of the device's, or of the host's with
  /// SINTER_DEVICE_CPU, whatever device the model is on.
  void *data;
  sinter_dtype dtype;
  sinter_device_kind device_kind;
  int32_t device_index;
  int32_t ndim;
  const int64_t *dims;    ///< ndim of them; may be null where ndim is 0
  const int64_t *strides; ///< in elements, one per dim; null: dense, row-major
} sinter_tensor;

/// DLPack's own struct, as its header dlpack.h has it (before version 1.0).
struct DLManagedTensor;

/// A view of a DLPack tensor on `cpu` or `cuda`. It stays the caller's, who has
/// it deleted once the runs that read it have ended; `dims` and `strides` point
/// into it. SINTER_UNSUPPORTED for other devices and for element types without
/// a code above.
sinter_status sinter_tensor_from_dlpack(const struct DLManagedTensor *managed,
                                        sinter_tensor *tensor);

/// Copies the elements of a tensor to another one's memory, and waits: between
/// the host and `cpu`, `cuda` and `null` devices. Both are dense and have the
/// same dtype and dims.
sinter_status sinter_tensor_copy(const sinter_tensor *from,
                                 const sinter_tensor *to);

//===- Models -------------------------------------------------------------===//

/// An open model file on one device.
typedef struct sinter_model sinter_model;

enum {
  SINTER_CHECK_WHEN_USED = 0, ///< large weights, when a run first reads them
  SINTER_CHECK_NOW = 1        ///< every byte against its digest, when opened
};

enum {
  SINTER_TRUST_CODE = 0,  ///< its machine code is run, or as SINTER_TRUST says
  SINTER_TRUST_GRAPH = 1, ///< only its graph and weights are used
  SINTER_TRUST_SIGNED = 2 ///< its code is run if a trusted key signed the file
};

typedef struct sinter_model_options {
  size_t struct_size;
  const char *device; ///< `cpu`, `cuda:0`, ...; null: what SINTER_DEVICE says
  int32_t check;      ///< SINTER_CHECK_...
  /// Of bytes in memory. 1: the caller keeps them as long as the model is open,
  /// and they are not copied if they begin at a multiple of 64. 0: copied.
  int32_t in_place;
  /// Of an entry point that has no program for the device. 0: it is compiled
  /// from the file's portable graph, if libsinter-compiler is beside this
  /// library, and kept in the program cache; a message tells so. 1: that is
  /// SINTER_UNSUPPORTED.
  int32_t never_compile;
  /// Of the processor's threads how many a run of this model takes at most, the
  /// calling one among them. 0: as many as the process's pool has
  /// (SINTER_THREADS, or what affinity and cgroup allow), which are the most
  /// for others, too. 1: no other thread is started or waited for. Results are
  /// the same for every number.
  int32_t threads;
  /// SINTER_TRUST_... Of a file from a stranger the graph alone can be taken:
  /// its programs are not loaded, and what runs was compiled here, as above
  /// (SINTER_UNSUPPORTED without a compiler). With SINTER_TRUST_SIGNED every
  /// byte of the file, and of those that it names, is hashed when it is opened;
  /// SINTER_IO says why it is not trusted. That needs libsinter-trust beside
  /// this library.
  int32_t trust;
  int32_t reserved;
  /// The folder with the public keys that are trusted, as `sinter keygen` makes
  /// them (NAME.pub); null: as SINTER_TRUSTED_KEYS says, else
  /// ~/.config/sinter/trusted.
  const char *trusted_keys;
} sinter_model_options;

/// Opens a file; it is mapped, and has to stay as it is while the model is open
/// (replacing it by another is fine). A model file holds machine code: to open
/// one is to trust it, unless `trust` says otherwise. `options` may be null.
sinter_status sinter_model_open(const char *path,
                                const sinter_model_options *options,
                                sinter_model **model);
/// Opens a file's bytes: embedded, or had from elsewhere.
sinter_status sinter_model_open_memory(const void *data, size_t bytes,
                                       const sinter_model_options *options,
                                       sinter_model **model);
/// Closes it; null is fine. Its memory goes when its sessions are closed, too.
sinter_status sinter_model_close(sinter_model *model);

typedef struct sinter_model_info {
  size_t struct_size;
  const char *device;   ///< that it is on
  uint32_t num_entries; ///< entry points, at least one
  uint32_t num_weights;
  uint32_t num_states; ///< values that a session keeps between runs
  uint32_t num_metadata;
} sinter_model_info;

typedef struct sinter_entry_info {
  size_t struct_size;
  const char *name; ///< `main` where the file names none
  const char *description;
  uint32_t num_inputs;  ///< that a run is given
  uint32_t num_outputs; ///< that it gives
} sinter_entry_info;

/// An input or output of an entry point.
typedef struct sinter_port_info {
  size_t struct_size;
  const char *name; ///< may be empty
  const char *description;
  sinter_dtype dtype;
  int32_t ndim;
  const int64_t *dims; ///< -1 where a run decides
  /// Each dim as text: `64`, `s0`, `2*s0+1`. Equal texts are equal numbers.
  const char *const *dim_names;
  int32_t is_scalar; ///< 1: a number, which a run reads from the host's memory
  int32_t reserved;
} sinter_port_info;

/// A weight, or a state's first value.
typedef struct sinter_stored_info {
  size_t struct_size;
  const char *name;
  const char *description;
  sinter_dtype dtype;
  int32_t ndim;
  const int64_t *dims;
} sinter_stored_info;

sinter_status sinter_model_get_info(sinter_model *model,
                                    sinter_model_info *info);
sinter_status sinter_model_entry(sinter_model *model, uint32_t entry,
                                 sinter_entry_info *info);
/// The number of an entry point. The error lists all.
sinter_status sinter_model_find_entry(sinter_model *model, const char *name,
                                      uint32_t *entry);
/// An input or output by its number. The first call of an entry loads its
/// program: SINTER_UNSUPPORTED where none fits the device, and why.
sinter_status sinter_model_input(sinter_model *model, uint32_t entry,
                                 uint32_t number, sinter_port_info *info);
sinter_status sinter_model_output(sinter_model *model, uint32_t entry,
                                  uint32_t number, sinter_port_info *info);
sinter_status sinter_model_weight(sinter_model *model, uint32_t number,
                                  sinter_stored_info *info);
sinter_status sinter_model_state(sinter_model *model, uint32_t number,
                                 sinter_stored_info *info);
/// What the file's author noted: a key and its value, sorted by key.
sinter_status sinter_model_metadata(sinter_model *model, uint32_t number,
                                    const char **key, const char **value);

//===- Sessions -----------------------------------------------------------===//

/// One user of a model: outputs and state of its own.
typedef struct sinter_session sinter_session;

sinter_status sinter_session_open(sinter_model *model,
                                  sinter_session **session);
/// Stops what runs, as `sinter_session_cancel`, waits for the end of what runs
/// in the background (but for a callback that waits for the caller), and
/// closes; a run of another thread ends by itself. Null is fine.
sinter_status sinter_session_close(sinter_session *session);

typedef struct sinter_run_options {
  size_t struct_size;
  /// A CUstream (cudaStream_t) of the model's device, if `use_stream` is 1: the
  /// run comes after what is queued there, what is queued there later comes
  /// after the run, and the call returns as soon as the run is queued. Inputs
  /// have to stay until then.
  void *stream;
  int32_t use_stream;
  int32_t reserved;
} sinter_run_options;

/// Runs an entry point, and waits until its outputs are there. Without a
/// stream, what makes its inputs on a GPU has to have ended.
///
/// Inputs are in the order of the signature. Dense memory of the model's device
/// is read where it is; the host's is copied to a GPU, and what has strides is
/// packed first (SINTER_UNSUPPORTED in a GPU's memory). `device_kind` cpu is
/// the host's memory.
///
/// `places` is null, or says of each output where it goes. Without `data`, or
/// without places, that is memory of the session's: `sinter_session_output` has
/// it. Else dtype, dims and a dense layout have to be those of the result,
/// which is written there: at once if it is memory of the model's device,
/// begins at a multiple of 64 bytes (256 on a GPU) and shares nothing with an
/// input, else by a copy once the run has ended. Two places that share
/// something are SINTER_INVALID_ARGUMENT. After an error its contents are
/// undefined.
///
/// `options` may be null.
sinter_status sinter_session_run(sinter_session *session, uint32_t entry,
                                 const sinter_tensor *inputs, size_t num_inputs,
                                 const sinter_tensor *places, size_t num_places,
                                 const sinter_run_options *options);

/// An output of the entry's last run: a view of the session's memory, on the
/// model's device, valid until the session's next run of this entry; or of the
/// caller's memory where it was written there.
sinter_status sinter_session_output(sinter_session *session, uint32_t entry,
                                    uint32_t number, sinter_tensor *tensor);
/// The same as a DLPack tensor that shares the memory and keeps it, also when
/// the session runs again or is closed. The caller owns it: somebody calls its
/// `deleter`. SINTER_UNSUPPORTED but on cpu and cuda; SINTER_INVALID_ARGUMENT
/// where the output was written to memory of the caller's.
sinter_status sinter_session_output_dlpack(sinter_session *session,
                                           uint32_t entry, uint32_t number,
                                           struct DLManagedTensor **managed);

typedef struct sinter_memory_info {
  size_t struct_size;
  uint64_t input_bytes;     ///< on the device, if it has to copy them
  uint64_t output_bytes;    ///< unless they go to memory of the caller's
  uint64_t temporary_bytes; ///< while it runs
  uint64_t kept_bytes;      ///< weights and state, between runs, too
} sinter_memory_info;

/// What a run on such inputs takes, without running it: of inputs only dtype
/// and dims count. `outputs`, null or one per output, get dtype and dims; these
/// are valid until the session's next call. Where values decide sizes, they are
/// the largest, and so is the memory.
sinter_status sinter_session_memory(sinter_session *session, uint32_t entry,
                                    const sinter_tensor *inputs,
                                    size_t num_inputs, sinter_tensor *outputs,
                                    size_t num_outputs,
                                    sinter_memory_info *info);

//===- State, weights, random numbers -------------------------------------===//

// State begins as the file has it, and a run that changes it changes this
// session's alone. So do training steps with weights, which sessions share
// until then. A run that fails leaves both as they were.

/// The value now: a view of memory on the model's device that is only to be
/// read, valid until the session's next run, or until it is set.
sinter_status sinter_session_state(sinter_session *session, uint32_t number,
                                   sinter_tensor *tensor);
sinter_status sinter_session_weight(sinter_session *session, uint32_t number,
                                    sinter_tensor *tensor);
/// Gives this session another value, which is copied. dtype and dims have to be
/// those of the file.
sinter_status sinter_session_set_state(sinter_session *session, uint32_t number,
                                       const sinter_tensor *tensor);
sinter_status sinter_session_set_weight(sinter_session *session,
                                        uint32_t number,
                                        const sinter_tensor *tensor);
/// State is again what the file says, and random numbers begin anew. Weights
/// stay.
sinter_status sinter_session_reset(sinter_session *session);

/// Where a session's random numbers go on: the same values give the same
/// numbers on every device.
typedef struct sinter_random {
  size_t struct_size;
  uint64_t key_low, key_high;
  uint64_t counter; ///< blocks of numbers that were drawn
} sinter_random;

/// At first that of seed 0.
sinter_status sinter_session_get_random(sinter_session *session,
                                        sinter_random *position);
sinter_status sinter_session_set_random(sinter_session *session,
                                        const sinter_random *position);
/// The beginning of a seed's numbers, as `sinter::manual_seed` has it.
sinter_status sinter_session_seed(sinter_session *session, uint64_t seed);

//===- Work in the background ---------------------------------------------===//

/// Something that was begun and may still be on its way.
typedef struct sinter_event sinter_event;

/// Is told how a run ended, on a thread of the session's; `error` is empty or
/// says why, until the callback returns.
typedef void (*sinter_run_callback)(void *user, sinter_status status,
                                    const char *error);

/// As `sinter_session_run`, on a thread of the session's, after what it was
/// asked for before; the call returns at once. Structs, dims and strides are
/// copied; the data of inputs and places has to stay until the end. Outputs
/// that are the session's can be read in the callback, or until its next run of
/// the entry begins. `callback` and `event` may be null. No streams: a run with
/// one does not wait anyway.
sinter_status sinter_session_run_async(
    sinter_session *session, uint32_t entry, const sinter_tensor *inputs,
    size_t num_inputs, const sinter_tensor *places, size_t num_places,
    const sinter_run_options *options, sinter_run_callback callback, void *user,
    sinter_event **event);

/// Stops what the session runs now, and what waits: those end with
/// SINTER_CANCELLED, between two launches at the latest, and state stays as it
/// was. A run that overwrites state or weights and has begun goes on to its
/// end. Later runs are as any. Does not wait.
sinter_status sinter_session_cancel(sinter_session *session);

/// Waits, at most so many milliseconds (-1: as long as it takes, 0: looks
/// only). `done` gets 1 when it has ended, with its callback, and the call
/// gives the status of what was begun then; else `done` is 0. A callback cannot
/// wait for its own run, nor for a later one of its session, which begins when
/// the callback is over, nor for what a callback does that waits for this one
/// in turn: SINTER_INVALID_ARGUMENT, at once.
sinter_status sinter_event_wait(sinter_event *event, int64_t milliseconds,
                                int32_t *done);
/// Stops it alone, as `sinter_session_cancel`.
sinter_status sinter_event_cancel(sinter_event *event);
/// Gives the handle up; null is fine. What was begun goes on.
sinter_status sinter_event_close(sinter_event *event);

typedef struct sinter_compile_options {
  size_t struct_size;
  const char *device;   ///< that the model will be on; null: SINTER_DEVICE's
  const char *target;   ///< `cpu:x86-64-v3`, ...; null: what suits the device
  const char *numerics; ///< `exact`, `default` or `fast`; null: default
} sinter_compile_options;

/// Is given the model that was compiled, which is the receiver's to close; null
/// where `status` is an error.
typedef void (*sinter_compile_callback)(void *user, sinter_status status,
                                        const char *error, sinter_model *model);

/// Compiles a graph (`.mlir`, as `sinter::export_graph` writes it) on a thread
/// of its own, and opens the model. SINTER_COMPILE at once where
/// libsinter-compiler is not beside this library. Nothing else here maps it,
/// but for a file without a program for its device (`never_compile`). `options`
/// and `event` may be null, `callback` not.
sinter_status sinter_compile(const char *graph, size_t bytes,
                             const sinter_compile_options *options,
                             sinter_compile_callback callback, void *user,
                             sinter_event **event);

//===- Profile ------------------------------------------------------------===//

/// Has every launch of the process timed from here on, one after the other.
sinter_status sinter_profile_begin(void);
/// Ends that, and gives a table of what took how long, by kernels. The text is
/// valid until the thread's next call of it.
sinter_status sinter_profile_end(const char **table);

// NOLINTEND(readability-identifier-naming,modernize-*)

#ifdef __cplusplus
}
#endif

#endif
