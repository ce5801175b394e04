/// A server's core: many clients ask for one image each, a few workers run what
/// waits as one batch. One model for all, a session for each worker, and no
/// lock but the queue's.
#include "examples/09_server/BatchQueue.h"

#include <sinter/model.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace deploy = sinter::deploy;

constexpr size_t pixelsOfImage = 64;
constexpr size_t mostInBatch = 32;

/// One image, and where its digit is awaited.
struct Request {
  std::vector<float> pixels;
  std::promise<int64_t> digit;
};

struct Totals {
  std::atomic<uint64_t> batches{0}, images{0};
};

/// Runs a batch. Its requests are answered, or told what went wrong.
static void answer(deploy::Session &session, std::vector<Request> &batch) try {
  std::vector<float> pixels;
  for (const Request &request : batch)
    pixels.insert(pixels.end(), request.pixels.begin(), request.pixels.end());
  auto count = static_cast<int64_t>(batch.size());
  auto outputs = session.run({{pixels, {count, 1, 8, 8}}});
  std::span<const int64_t> digits = outputs[0].values<int64_t>();
  for (size_t i = 0; i < batch.size(); ++i)
    batch[i].digit.set_value(digits[i]);
} catch (const deploy::Error &) {
  for (Request &request : batch)
    request.digit.set_exception(std::current_exception());
}

static void work(const deploy::Model &model, BatchQueue<Request> &queue,
                 Totals &totals) {
  deploy::Session session(model);
  while (true) {
    std::vector<Request> batch = queue.take(mostInBatch);
    if (batch.empty())
      return;
    answer(session, batch);
    ++totals.batches;
    totals.images += batch.size();
  }
}

/// Asks for images of its own; whether each got the digit that it has alone.
static bool ask(BatchQueue<Request> &queue, deploy::Session alone, int client,
                int count) {
  bool isSame = true;
  for (int i = 0; i < count; ++i) {
    std::vector<float> pixels(pixelsOfImage);
    for (size_t at = 0; at < pixels.size(); ++at)
      pixels[at] =
          static_cast<float>((at * 7 + size_t(client * count + i)) % 17);
    Request request{pixels, {}};
    std::future<int64_t> digit = request.digit.get_future();
    queue.add(std::move(request));
    auto outputs = alone.run({{pixels, {1, 1, 8, 8}}});
    isSame = digit.get() == outputs[0].values<int64_t>()[0] && isSame;
  }
  return isSame;
}

static int serve(const char *file, int clients, int workers, int images) {
  deploy::Model model(file);
  BatchQueue<Request> queue;
  Totals totals;
  std::vector<std::thread> pool;
  for (int i = 0; i < workers; ++i)
    pool.emplace_back([&] { work(model, queue, totals); });
  auto begin = std::chrono::steady_clock::now();
  std::vector<std::future<bool>> asking;
  for (int i = 0; i < clients; ++i)
    asking.push_back(std::async(std::launch::async, [&, i] {
      return ask(queue, deploy::Session(model), i, images);
    }));
  bool isSame = true;
  for (std::future<bool> &each : asking)
    isSame = each.get() && isSame;
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  queue.close();
  for (std::thread &thread : pool)
    thread.join();
  auto count = static_cast<double>(totals.images);
  std::printf("%.0f images in %llu batches, %.0f a second; %s\n", count,
              static_cast<unsigned long long>(totals.batches),
              count / took.count(),
              isSame ? "each as if alone" : "some are not as if alone");
  return isSame ? 0 : 1;
}

int main(int argc, char **argv) try {
  if (argc < 2) {
    std::fprintf(stderr,
                 "usage: 09_server MODEL.sinter [CLIENTS WORKERS IMAGES]\n");
    return 2;
  }
  auto argument = [&](int number, int fallback) {
    if (argc <= number)
      return fallback;
    long value = std::strtol(argv[number], nullptr, 10);
    return static_cast<int>(std::clamp(value, 1L, 100'000L));
  };
  return serve(argv[1], argument(2, 8), argument(3, 2), argument(4, 100));
} catch (const std::exception &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
