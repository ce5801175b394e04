/// Models inside of a program: what `sinter embed` and `sinter compile --emit
/// object` make an object file of. C11 and C++; of libsinter-runtime.a only
/// what is named here is linked, which calls memcpy, memset and strlen alone:
/// no file, thread or allocation, unless the caller's own functions have some.
///
///     #include "digits.h" // which the command wrote beside digits.o
///
///     static char memory[DIGITS_MEMORY] __attribute__((aligned(64)));
///     sinter_embedded_session *session;
///     sinter_embedded_open(&digits_model, memory, sizeof memory, NULL,
///                          &session);
///     digits_main(session, images, labels);
///
/// Functions give a status of sinter/c_api.h. A session does one thing at a
/// time; any number of them may run at once.
#ifndef SINTER_EMBEDDED_H
#define SINTER_EMBEDDED_H

#include "sinter/c_api.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// NOLINTBEGIN(readability-identifier-naming,modernize-*): names as C has them.

/// A model: what an object holds under the name it was given, as
/// `digits_model`.
typedef struct sinter_embedded sinter_embedded;
/// One user of it, in memory of the caller's.
typedef struct sinter_embedded_session sinter_embedded_session;

/// Does the chunks [first, last) of a kernel. May be called by any thread.
typedef void (*sinter_embedded_task)(void *context, int64_t first,
                                     int64_t last);
/// Calls `task(context, ...)` so that each of `chunks` is done once, on threads
/// of its choice, and returns when all are. Results are the same however they
/// are divided.
typedef void (*sinter_embedded_parallel)(void *user, sinter_embedded_task task,
                                         void *context, int64_t chunks);

typedef struct sinter_embedded_options {
  size_t struct_size;
  /// Is given kernels of 50 microseconds and more, as estimated, that may be
  /// divided. Null: the calling thread does all.
  sinter_embedded_parallel parallel;
  void *user; ///< the first argument of `parallel`
} sinter_embedded_options;

/// A `parallel` of libsinter-runtime.a's: the process's pool, of SINTER_THREADS
/// threads or as many as it may use. A program that names it links threads, the
/// C++ library and what asks for the machine; not part of a minimal runtime.
void sinter_embedded_pool(void *user, sinter_embedded_task task, void *context,
                          int64_t chunks);

/// The bytes of memory that a session takes: state, temporaries, outputs.
size_t sinter_embedded_memory(const sinter_embedded *model);

/// Begins a session in memory that begins at a multiple of 64 and is the
/// session's until it is no longer used; there is nothing to close. State is as
/// the model has it. `options` may be null. SINTER_UNSUPPORTED where the
/// processor lacks something that the kernels use (sinter_embedded_needs).
sinter_status sinter_embedded_open(const sinter_embedded *model, void *memory,
                                   size_t bytes,
                                   const sinter_embedded_options *options,
                                   sinter_embedded_session **session);
/// The features of the processor that its kernels use, by LLVM's names,
/// separated by commas.
const char *sinter_embedded_needs(const sinter_embedded *model);

/// Runs an entry point. `inputs` are the given ones in the order of the
/// signature: dense, of the dtypes and dims that the header says; a scalar by
/// its address, too; null where there is no element. `outputs` is null, or has
/// for each output where it goes, or null: then sinter_embedded_output has it.
/// An output is written where it goes at once if that begins at a multiple of
/// 64 and shares nothing with the inputs, else copied there. Neither may lie in
/// the session's memory. A run that fails leaves state as it was.
sinter_status sinter_embedded_run(sinter_embedded_session *session,
                                  uint32_t entry, const void *const *inputs,
                                  void *const *outputs);
/// An output that the session's last run, of this entry, was given no place
/// for, until a run of the session begins; null where there is no such number.
const void *sinter_embedded_output(sinter_embedded_session *session,
                                   uint32_t entry, uint32_t number);
/// What the session's last call that failed says; empty before.
const char *sinter_embedded_error(const sinter_embedded_session *session);

/// State, and weights that training changes, in the order of the header: where
/// its value is until the next run, to be read and written. Null where there is
/// no such number.
void *sinter_embedded_state(sinter_embedded_session *session, uint32_t number);
/// State is again what the model says, and random numbers begin anew.
void sinter_embedded_reset(sinter_embedded_session *session);
/// The beginning of a seed's random numbers, as sinter_session_seed; at first
/// that of seed 0.
void sinter_embedded_seed(sinter_embedded_session *session, uint64_t seed);

// NOLINTEND(readability-identifier-naming,modernize-*)

#ifdef __cplusplus
}
#endif

#endif
