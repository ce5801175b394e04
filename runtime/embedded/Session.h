/// A session of an embedded model: what stands at the beginning of its memory.
#pragma once

#include "runtime/embedded/Plan.h"
#include "runtime/support/RandomKey.h"
#include "sinter/embedded.h"

#include <cstddef>
#include <cstdint>

/// As objects have it: a word of zeros, then where everything is.
struct sinter_embedded {
  uint64_t reserved;
  const sinter::embedded::Plan *plan;
  const char *code;
  const char *weights;
};

struct sinter_embedded_session {
  const sinter_embedded *model;
  sinter_embedded_parallel parallel;
  void *user;
  sinter::RandomKey key;
  uint64_t counter;
  char error[512];
};
static_assert(sizeof(sinter_embedded_session) <=
              sinter::embedded::sessionBytes);

namespace sinter::embedded {

/// Entries of a table of a plan.
template <typename T> class Table {
public:
  Table(const Plan *plan, List<T> list)
      : first(reinterpret_cast<const T *>(reinterpret_cast<const char *>(plan) +
                                          list.offset)),
        count(list.count) {}
  const T &operator[](size_t number) const { return first[number]; }
  const T *begin() const { return first; }
  const T *end() const { return first + count; }
  uint32_t size() const { return count; }

private:
  const T *first;
  uint32_t count;
};

inline const char *textOf(const Plan *plan, Text text) {
  return reinterpret_cast<const char *>(plan) + text;
}

/// A place in a session's memory.
template <typename T = char>
T *at(sinter_embedded_session *session, uint64_t offset) {
  return reinterpret_cast<T *>(reinterpret_cast<char *>(session) + offset);
}

/// Which of its two places what is kept has its value in.
inline uint8_t &placeNow(sinter_embedded_session *session, uint32_t number) {
  return at<uint8_t>(session, session->model->plan->current)[number];
}

/// Where what is kept has its value now.
inline void *valueOf(sinter_embedded_session *session, uint32_t number) {
  const Plan *plan = session->model->plan;
  const Stored &stored = Table(plan, plan->stored)[number];
  return at(session, stored.at[placeNow(session, number)]);
}

/// Writes the text of an error, cut to what there is room for.
class ErrorText {
public:
  explicit ErrorText(sinter_embedded_session *session)
      : next(session->error), end(session->error + sizeof session->error - 1) {
    *next = 0;
  }
  ErrorText &operator<<(const char *text);
  ErrorText &operator<<(uint64_t number);

private:
  char *next;
  char *end;
};

} // namespace sinter::embedded
