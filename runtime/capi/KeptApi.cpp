/// State, weights and random numbers of sessions.
#include "runtime/capi/SessionObject.h"

using namespace sinter;
using namespace sinter::capi;
using namespace sinter::runtime;

using KeptKind = SessionObject::KeptKind;

static sinter_status get(KeptKind kind, sinter_session *session,
                         uint32_t number, sinter_tensor *tensor) {
  return guarded([&]() -> Status {
    SINTER_TRY_ASSIGN(auto object, fromHandle<SessionObject>(session));
    SINTER_TRY(checkStruct(tensor, "sinter_tensor"));
    return object->kept(kind, number, tensor);
  });
}

static sinter_status set(KeptKind kind, sinter_session *session,
                         uint32_t number, const sinter_tensor *tensor) {
  return guarded([&]() -> Status {
    SINTER_TRY_ASSIGN(auto object, fromHandle<SessionObject>(session));
    SINTER_TRY_ASSIGN(sinter_tensor given, readStruct(tensor, "sinter_tensor"));
    return object->setKept(kind, number, given);
  });
}

extern "C" {

sinter_status sinter_session_state(sinter_session *session, uint32_t number,
                                   sinter_tensor *tensor) {
  return get(KeptKind::state, session, number, tensor);
}

sinter_status sinter_session_weight(sinter_session *session, uint32_t number,
                                    sinter_tensor *tensor) {
  return get(KeptKind::weight, session, number, tensor);
}

sinter_status sinter_session_set_state(sinter_session *session, uint32_t number,
                                       const sinter_tensor *tensor) {
  return set(KeptKind::state, session, number, tensor);
}

sinter_status sinter_session_set_weight(sinter_session *session,
                                        uint32_t number,
                                        const sinter_tensor *tensor) {
  return set(KeptKind::weight, session, number, tensor);
}

sinter_status sinter_session_reset(sinter_session *session) {
  return guarded([&]() -> Status {
    SINTER_TRY_ASSIGN(auto object, fromHandle<SessionObject>(session));
    object->reset();
    return {};
  });
}

sinter_status sinter_session_get_random(sinter_session *session,
                                        sinter_random *position) {
  return guarded([&]() -> Status {
    SINTER_TRY_ASSIGN(auto object, fromHandle<SessionObject>(session));
    SINTER_TRY(checkStruct(position, "sinter_random"));
    RandomPosition now = object->random();
    sinter_random filled{};
    filled.key_low = now.key.low;
    filled.key_high = now.key.high;
    filled.counter = now.counter;
    fillStruct(position, filled);
    return {};
  });
}

sinter_status sinter_session_set_random(sinter_session *session,
                                        const sinter_random *position) {
  return guarded([&]() -> Status {
    SINTER_TRY_ASSIGN(auto object, fromHandle<SessionObject>(session));
    SINTER_TRY_ASSIGN(sinter_random given,
                      readStruct(position, "sinter_random"));
    object->setRandom({{given.key_low, given.key_high}, given.counter});
    return {};
  });
}

sinter_status sinter_session_seed(sinter_session *session, uint64_t seed) {
  return guarded([&]() -> Status {
    SINTER_TRY_ASSIGN(auto object, fromHandle<SessionObject>(session));
    object->setRandom({RandomKey::ofSeed(seed), 0});
    return {};
  });
}

} // extern "C"
