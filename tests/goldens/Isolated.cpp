/// A process that runs cases and a pipe from it.
#include "tests/goldens/Isolated.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

using namespace sinter::goldens;

namespace {

/// An outcome in the pipe; its text follows.
struct Head {
  Verdict verdict = Verdict::failed;
  size_t length = 0;
};

/// Outcomes of the cases, as far as the process comes.
FILE *startProcess(std::span<const Case *const> cases,
                   const std::function<Outcome(const Case &)> &run,
                   pid_t &process) {
  int ends[2];
  if (pipe(ends) != 0)
    std::abort();
  std::fflush(nullptr);
  process = fork();
  if (process < 0)
    std::abort();
  if (process > 0) {
    close(ends[1]);
    return fdopen(ends[0], "r");
  }
  close(ends[0]);
  FILE *to = fdopen(ends[1], "w");
  for (const Case *golden : cases) {
    Outcome outcome = run(*golden);
    Head head{outcome.verdict, outcome.why.size()};
    std::fwrite(&head, sizeof(head), 1, to);
    std::fwrite(outcome.why.data(), 1, outcome.why.size(), to);
    std::fflush(to);
  }
  std::exit(0);
}

bool read(FILE *from, Outcome &outcome) {
  Head head;
  if (std::fread(&head, sizeof(head), 1, from) != 1)
    return false;
  outcome.verdict = head.verdict;
  outcome.why.resize(head.length);
  return std::fread(outcome.why.data(), 1, head.length, from) == head.length;
}

Outcome died(int status) {
  std::string how = WIFSIGNALED(status)
                        ? strsignal(WTERMSIG(status))
                        : "exit code " + std::to_string(WEXITSTATUS(status));
  return {Verdict::failed, "its process died: " + how};
}

} // namespace

void sinter::goldens::runIsolated(
    std::span<const Case *const> cases,
    const std::function<Outcome(const Case &)> &run,
    const std::function<void(const Case &, const Outcome &)> &report) {
  while (!cases.empty()) {
    pid_t process = 0;
    FILE *from = startProcess(cases, run, process);
    Outcome outcome;
    const Case *last = cases.back();
    while (!cases.empty() && read(from, outcome)) {
      report(*cases.front(), outcome);
      cases = cases.subspan(1);
    }
    std::fclose(from);
    int status = 0;
    waitpid(process, &status, 0);
    if (!cases.empty()) {
      report(*cases.front(), died(status));
      cases = cases.subspan(1);
    } else if (status != 0) {
      report(*last, died(status));
    }
  }
}
