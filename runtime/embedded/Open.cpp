/// Begins sessions of embedded models, and what they keep.
#include "runtime/embedded/Session.h"

#include "runtime/device/KernelAbi.h"
#include "runtime/device/cpu/FeatureTable.h"

#include <cstring>

using namespace sinter;
using namespace sinter::embedded;

ErrorText &ErrorText::operator<<(const char *text) {
  while (*text && next < end)
    *next++ = *text++;
  *next = 0;
  return *this;
}

ErrorText &ErrorText::operator<<(uint64_t number) {
  char digits[24];
  char *first = digits + sizeof digits - 1;
  *first = 0;
  do
    *--first = char('0' + number % 10);
  while (number /= 10);
  return *this << first;
}

/// Whether the processor has all of a list.
static bool hasAll(const char *features) {
  while (*features) {
    size_t length = 0;
    while (features[length] && features[length] != ',')
      ++length;
    if (!runtime::cpuHas({features, length}))
      return false;
    features += length + (features[length] == ',');
  }
  return true;
}

/// What a table or the caller may have of another version.
static bool isKnown(const sinter_embedded *model) {
  const Plan expected;
  return model && model->plan &&
         std::memcmp(model->plan->magic, expected.magic, 8) == 0 &&
         model->plan->version == planVersion &&
         model->plan->kernelAbi == runtime::kernelAbiVersion;
}

size_t sinter_embedded_memory(const sinter_embedded *model) {
  return isKnown(model) ? size_t(model->plan->memoryBytes) : 0;
}

const char *sinter_embedded_needs(const sinter_embedded *model) {
  return isKnown(model) ? textOf(model->plan, model->plan->features) : "";
}

sinter_status sinter_embedded_open(const sinter_embedded *model, void *memory,
                                   size_t bytes,
                                   const sinter_embedded_options *options,
                                   sinter_embedded_session **session) {
  if (!isKnown(model) || !memory || !session ||
      reinterpret_cast<uintptr_t>(memory) % alignment != 0 ||
      bytes < model->plan->memoryBytes ||
      (options && options->struct_size < sizeof *options))
    return SINTER_INVALID_ARGUMENT;
  const Plan *plan = model->plan;
  if (!hasAll(textOf(plan, plan->features)))
    return SINTER_UNSUPPORTED;
  auto *made = static_cast<sinter_embedded_session *>(memory);
  *made = {};
  made->model = model;
  if (options) {
    made->parallel = options->parallel;
    made->user = options->user;
  }
  std::memset(at(made, plan->ready), 0, plan->numReady);
  for (const Zeros &zeros : Table(plan, plan->zeros))
    std::memset(at(made, zeros.at), 0, zeros.bytes);
  sinter_embedded_seed(made, 0);
  sinter_embedded_reset(made);
  *session = made;
  return SINTER_OK;
}

void sinter_embedded_reset(sinter_embedded_session *session) {
  if (!session)
    return;
  const Plan *plan = session->model->plan;
  uint32_t number = 0;
  for (const Stored &stored : Table(plan, plan->stored)) {
    placeNow(session, number++) = 0;
    char *value = at(session, stored.at[0]);
    if (stored.isZero)
      std::memset(value, 0, stored.bytes);
    else
      std::memcpy(value, session->model->weights + stored.initial,
                  stored.bytes);
  }
  session->counter = 0;
}

void sinter_embedded_seed(sinter_embedded_session *session, uint64_t seed) {
  if (!session)
    return;
  session->key = RandomKey::ofSeed(seed);
  session->counter = 0;
}

void *sinter_embedded_state(sinter_embedded_session *session, uint32_t number) {
  if (!session || number >= session->model->plan->stored.count)
    return nullptr;
  return valueOf(session, number);
}

const void *sinter_embedded_output(sinter_embedded_session *session,
                                   uint32_t entry, uint32_t number) {
  if (!session || entry >= session->model->plan->entries.count)
    return nullptr;
  const Plan *plan = session->model->plan;
  Table outputs(plan, Table(plan, plan->entries)[entry].outputs);
  return number < outputs.size() ? at(session, outputs[number].at) : nullptr;
}

const char *sinter_embedded_error(const sinter_embedded_session *session) {
  return session ? session->error : "";
}
