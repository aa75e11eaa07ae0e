// A trainer for measurements: each of its steps is the same work, and its checkpoint is one file of
// a wanted size, full of what looks like float32 weights.
//
// usage: steady_trainer FOLDER MIB SHARE polite|rude [TIMES]
//
// It reads FOLDER/state.ckpt if that is there, else writes it. Then it counts steps of about 5 ms;
// each multiple of 20 is printed, and so is the first. On SIGUSR2 it saves a state of which SHARE
// percent differ from the one before; "polite" ones also on SIGTERM, and leave. TIMES: a file that
// gets the time at the end of each step, in nanoseconds of the monotonic clock, 8 bytes each.
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kMib = 1 << 20, kStepRounds = 2600, kLeft = 75 };

static volatile sig_atomic_t g_save = 0;
static volatile sig_atomic_t g_leave = 0;

static void on_save(int number) {
  (void)number;
  g_save = 1;
}

static void on_leave(int number) {
  (void)number;
  g_leave = 1;
}

static void die(const char* what) {
  perror(what);
  exit(1);
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

// Weights between -1/8 and 1/8: random mantissas below few exponents.
static void change(unsigned char* state, size_t size, unsigned share, uint64_t seed) {
  uint64_t random = seed * 0x9e3779b97f4a7c15U + 1;
  uint64_t* const words = (uint64_t*)(void*)state;
  // In one piece at the end, as the last layers of a network are trained alone.
  for (size_t i = size / 8 - size / 8 * share / 100; i < size / 8; ++i) {
    random ^= random << 13U;
    random ^= random >> 7U;
    random ^= random << 17U;
    words[i] = (random & 0x83ffffff83ffffffU) | 0x3c0000003c000000U;
  }
}

static void save(const char* folder, const unsigned char* state, size_t size) {
  char temporary[4096], name[4096];
  snprintf(temporary, sizeof temporary, "%s/state.ckpt.tmp", folder);
  snprintf(name, sizeof name, "%s/state.ckpt", folder);
  const int file = open(temporary, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
  if (file < 0) die(temporary);
  for (size_t at = 0; at < size;) {
    const ssize_t written = write(file, state + at, size - at > 8 * kMib ? 8 * kMib : size - at);
    if (written < 0) die(temporary);
    at += (size_t)written;
  }
  if (close(file) != 0 || rename(temporary, name) != 0) die(name);
}

static int load(const char* folder, unsigned char* state, size_t size) {
  char name[4096];
  snprintf(name, sizeof name, "%s/state.ckpt", folder);
  const int file = open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  size_t at = 0;
  while (at < size) {
    const ssize_t got = read(file, state + at, size - at > 8 * kMib ? 8 * kMib : size - at);
    if (got <= 0) die(name);
    at += (size_t)got;
  }
  close(file);
  return 1;
}

// What a step does stays in the first cache, so that only the processor's time is measured.
static float train_one_step(void) {
  static float weights[2048];
  float sum = 0;
  for (int round = 0; round < kStepRounds; ++round) {
    for (int i = 0; i < 2048; ++i) {
      weights[i] = weights[i] * 0.999F + 0.001F * (float)(i & 15);
      sum += weights[i];
    }
  }
  return sum;
}

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const char* const folder = argv[1];
  const size_t size = (size_t)atol(argv[2]) * kMib;
  const unsigned share = (unsigned)atoi(argv[3]);
  signal(SIGUSR2, on_save);
  if (strcmp(argv[4], "polite") == 0) signal(SIGTERM, on_leave);
  FILE* const times = argc > 5 ? fopen(argv[5], "wb") : NULL;
  unsigned char* const state = malloc(size);
  if (state == NULL) die("malloc");
  uint64_t seed = now_ns();
  if (!load(folder, state, size)) {
    change(state, size, 100, seed);
    save(folder, state, size);
  }
  change(state, size, share, ++seed);  // what the first steps would do
  printf("pid %ld\n", (long)getpid());
  for (uint64_t step = 1;; ++step) {
    volatile float sum = train_one_step();
    (void)sum;
    const uint64_t now = now_ns();
    if (times != NULL) fwrite(&now, sizeof now, 1, times);
    if (step % 20 == 1) printf("step %llu\n", (unsigned long long)step);
    if (g_save || g_leave) {
      const uint64_t began = now_ns();
      save(folder, state, size);
      printf("saved in %.3f s\n", (double)(now_ns() - began) / 1e9);
      if (g_leave) return kLeft;
      g_save = 0;
      change(state, size, share, ++seed);
    }
    fflush(stdout);
    if (times != NULL) fflush(times);
  }
}
