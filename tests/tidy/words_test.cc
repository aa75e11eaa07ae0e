#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tidy/planted.h"

namespace outlast::tidy {
namespace {

struct WordCase {
  std::string code;
  std::string word;  // empty: nothing is found
  std::string rule;
};

class TidyWords : public testing::TestWithParam<WordCase> {};

TEST_P(TidyWords, AreJudgedInProductCode) {
  const auto findings = findings_with(job_code(GetParam().code));
  if (GetParam().word.empty()) {
    EXPECT_EQ(findings, std::vector<std::string>{}) << GetParam().code;
    return;
  }
  ASSERT_EQ(findings.size(), 1U) << GetParam().code;
  EXPECT_TRUE(findings[0].starts_with("src/job/spec.cc:3: '" + GetParam().word + "' here: "))
      << findings[0];
  EXPECT_TRUE(findings[0].ends_with(" [" + GetParam().rule + "]")) << findings[0];
}

INSTANTIATE_TEST_SUITE_P(
    Forbidden, TidyWords,
    testing::Values(WordCase{"auto t = C::now();", "now", "real-time"},
                    WordCase{"using C = std::chrono::steady_clock;", "steady_clock", "real-time"},
                    WordCase{"auto t = time(nullptr);", "time", "real-time"},
                    WordCase{"return std::time(nullptr);", "time", "real-time"},
                    WordCase{"gettimeofday(&t, nullptr);", "gettimeofday", "real-time"},
                    WordCase{"::clock_gettime(0, &t);", "clock_gettime", "real-time"},
                    WordCase{"std::this_thread::sleep_for(s);", "this_thread", "sleep"},
                    WordCase{"std::this_thread::sleep_until(s);", "this_thread", "sleep"},
                    WordCase{"usleep(1);", "usleep", "sleep"},
                    WordCase{"nanosleep(&t, nullptr);", "nanosleep", "sleep"},
                    WordCase{"if (x) sleep(1);", "sleep", "sleep"},
                    WordCase{"std::random_device d;", "random_device", "random"},
                    WordCase{"n = a * rand();", "rand", "random"},
                    WordCase{"std::srand(1);", "srand", "random"},
                    WordCase{"auto* v = std::getenv(\"HOME\");", "getenv", "environment"},
                    WordCase{"setenv(\"A\", \"b\", 1);", "setenv", "environment"},
                    WordCase{"std::thread t(f);", "thread", "thread"},
                    WordCase{"std::vector<std::jthread> t;", "jthread", "thread"},
                    WordCase{"auto f = std::async(g);", "async", "thread"},
                    WordCase{"pthread_create(&t, n, f, n);", "pthread_create", "thread"},
                    WordCase{"std::mutex m;", "mutex", "lock"},
                    WordCase{"std::condition_variable c;", "condition_variable", "lock"}));

INSTANTIATE_TEST_SUITE_P(
    ForbiddenToo, TidyWords,
    testing::Values(WordCase{"if (fork() == 0) f();", "fork", "process"},
                    WordCase{"::execvp(a, b);", "execvp", "process"},
                    WordCase{"posix_spawn(&p, a, b, c, d, e);", "posix_spawn", "process"},
                    WordCase{"auto* p = popen(a, b);", "popen", "process"},
                    WordCase{"std::system(c);", "system", "process"},
                    WordCase{"const int s = ::socket(a, b, c);", "socket", "socket"},
                    WordCase{"return connect(a, b, c);", "connect", "socket"},
                    WordCase{"if (!bind(a, b, c)) f();", "bind", "socket"},
                    WordCase{"#include <sys/socket.h>", "sys/socket.h", "socket"},
                    WordCase{"#include <curl/curl.h>", "curl/", "socket"},
                    WordCase{"std::ifstream in(p);", "ifstream", "file"},
                    WordCase{"auto* f = fopen(p, m);", "fopen", "file"},
                    WordCase{"std::filesystem::remove(p);", "filesystem", "file"},
                    WordCase{"namespace fs = std::filesystem;", "filesystem", "file"},
                    WordCase{"#include <fcntl.h>", "fcntl.h", "file"},
                    WordCase{"std::cout << 1;", "cout", "print"},
                    WordCase{"std::cerr << 1;", "cerr", "print"},
                    WordCase{"std::printf(f);", "printf", "print"}));

INSTANTIATE_TEST_SUITE_P(
    Harmless, TidyWords,
    testing::Values(
        WordCase{"// std::this_thread::sleep_for, rand()", "", ""},
        WordCase{"f(\"std::thread, time(nullptr)\");", "", ""},
        WordCase{"auto t = clock.mono_now();", "", ""}, WordCase{"auto n = clock.now();", "", ""},
        WordCase{"WallTime time(d);", "", ""}, WordCase{"clock.sleep_until(t, ctx);", "", ""},
        WordCase{"auto child = random.fork();", "", ""}, WordCase{"Random fork();", "", ""},
        WordCase{"Result<void> connect(int n);", "", ""}, WordCase{"File* popen(int n);", "", ""},
        WordCase{"sim::connect(n);", "", ""}, WordCase{"link->connect(n);", "", ""},
        WordCase{"auto f = std::bind(g, 1);", "", ""}, WordCase{"bool operand(int n);", "", ""},
        WordCase{"std::filesystem::path p;", "", ""}, WordCase{"std::snprintf(b, n, f);", "", ""},
        WordCase{"int thread = 0;", "", ""}));

TEST(TidyWords, AreFreeWhereTheWorldIsTouched) {
  const std::string code = "std::this_thread::sleep_for(s); std::thread t; getenv(x);\n";
  EXPECT_EQ(findings_with({{"src/sys/CMakeLists.txt",
                            "HEADERS clock.h testing/suite.h SOURCES posix_clock.cc\n"},
                           {"src/sys/posix_clock.cc", code},
                           {"src/job/spec_test.cc", "#include \"job/spec.h\"\n" + code},
                           {"apps/outlast.cc", code},
                           {"bench/bench.cc", code},
                           {"tests/e2e/run.cc", code}}),
            std::vector<std::string>{});
}

}  // namespace
}  // namespace outlast::tidy
