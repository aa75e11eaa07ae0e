#include "job/progress_reader.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "job/line_pattern.h"

namespace outlast::job {
namespace {
namespace progress_reader_test {

Progress read_lines(std::initializer_list<std::string_view> lines) {
  ProgressReader reader;
  for (const std::string_view line : lines) {
    reader.feed(line);
    reader.feed("\n");
  }
  return reader.latest();
}

Progress read_by(std::string_view regex, std::string_view text) {
  ProgressReader reader(*compile_progress_regex(regex));
  reader.feed(text);
  return reader.latest();
}

using Metrics = std::map<std::string, double>;

TEST(KnownFormats, Tqdm) {
  const Progress bar =
      read_lines({" 45%|####   | 450/1000 [00:10<00:12, 45.0it/s, loss=0.5, acc=0.75]"});
  EXPECT_EQ(
      bar,
      (Progress{
          .step = 450, .total = 1000, .rate = 45.0, .metrics = {{"loss", 0.5}, {"acc", 0.75}}}));
  EXPECT_EQ(read_lines({"train:  9%|▉         | 9/100 [00:10<01:41,  2.00s/it]"}),
            (Progress{.step = 9, .total = 100, .rate = 0.5}));
  EXPECT_EQ(read_lines({"450it [00:10, 45.00it/s]"}), (Progress{.step = 450, .rate = 45}));
  EXPECT_EQ(read_lines({"  0%|          | 0/10 [00:00<?, ?it/s]"}),
            (Progress{.step = 0, .total = 10}));
}

TEST(KnownFormats, BarsOfSomethingElseAreNotTraining) {
  for (const std::string_view line :
       {"Downloading: 45%|####   | 450/1000 [00:10<00:12, 45.0it/s]",
        "Evaluating: 45%|####   | 450/1000 [00:10<00:12, 45.0it/s]",
        "Validation DataLoader 0: 45%|####   | 450/1000 [00:10<00:12, 45.0it/s]",
        "model.bin: 45%|####   | 450/1000 [00:10<00:12, 4.50MB/s]"}) {
    EXPECT_EQ(read_lines({line}), Progress{}) << line;
  }
}

TEST(KnownFormats, Lightning) {
  EXPECT_EQ(
      read_lines({"Epoch 3:  45%|████▌     | 450/1000 [00:10<00:12, 45.00it/s, v_num=0, "
                  "train_loss=0.5]"}),
      (Progress{
          .step = 450, .total = 1000, .epoch = 3, .rate = 45, .metrics = {{"train_loss", 0.5}}}));
  EXPECT_EQ(
      read_lines({"\x1B[37mEpoch 3/9\x1B[0m ━━━━━━ 450/1000 0:00:10 • 0:00:12 45.00it/s v_num: "
                  "0.000 train_loss: 0.500"}),
      (Progress{.step = 450,
                .total = 1000,
                .epoch = 3,
                .epochs = 9,
                .rate = 45,
                .metrics = {{"train_loss", 0.5}}}));
}

TEST(KnownFormats, Keras) {
  const Progress expected = {.step = 32,
                             .total = 32,
                             .epoch = 3,
                             .epochs = 70,
                             .rate = 1 / (12 * 1e-3),
                             .metrics = {{"loss", 0.3}, {"val_loss", 0.4}}};
  EXPECT_EQ(read_lines({"Epoch 3/70",
                        "32/32 [==============================] - 1s 12ms/step - "
                        "loss: 0.3 - val_loss: 0.4"}),
            expected);
  EXPECT_EQ(read_lines({"Epoch 3/70",
                        "\x1B[1m32/32\x1B[0m \x1B[32m━━━━━━\x1B[0m\x1B[37m\x1B[0m "
                        "\x1B[1m1s\x1B[0m 12ms/step - loss: 0.3 - val_loss: 0.4"}),
            expected);
  EXPECT_EQ(read_lines({"32/32 [====] - 1s - loss: 0.3 - val_loss: 0.4"}),
            (Progress{.step = 32, .total = 32, .metrics = {{"loss", 0.3}, {"val_loss", 0.4}}}));
}

TEST(KnownFormats, HuggingFace) {
  EXPECT_EQ(read_lines({"{'loss': 0.5, 'grad_norm': 1.25, 'learning_rate': 5e-05, 'epoch': 1.5}"}),
            (Progress{.epoch = 1.5,
                      .metrics = {{"loss", 0.5}, {"grad_norm", 1.25}, {"learning_rate", 5e-05}}}));
  EXPECT_EQ(read_lines({"{'eval_loss': 0.25, 'eval_runtime': 2.5}"}).metrics.at("eval_loss"), 0.25);
  EXPECT_EQ(read_lines({"***** Running training *****", "  Num examples = 60,000",
                        "  Num Epochs = 3", "  Total optimization steps = 1,000"}),
            Progress{});
}

TEST(KnownFormats, PlainLines) {
  EXPECT_EQ(read_lines({"epoch 3 step 400 loss 0.12"}),
            (Progress{.step = 400, .epoch = 3, .metrics = {{"loss", 0.12}}}));
  EXPECT_EQ(read_lines({"iter 5,120: loss 1.5000, time 120.5ms, mfu 12.5%"}),
            (Progress{.step = 5120, .metrics = {{"loss", 1.5}}}));
  EXPECT_EQ(read_lines({"2026-11-16 10:00:00,123 INFO global_step=7 loss=tensor(0.5, "
                        "device='cuda:0')"}),
            (Progress{.step = 7, .metrics = {{"loss", 0.5}}}));
}

TEST(KnownFormats, PyTorchExamples) {
  const Progress imagenet = read_lines(
      {"Epoch: [3][ 40/100]\tTime  0.10 ( 0.20)\tLoss 1.2000e+00 (1.3000e+00)\tAcc@1  12.50 ( "
       "10.00)"});
  EXPECT_EQ(
      imagenet,
      (Progress{
          .step = 40, .total = 100, .epoch = 3, .metrics = {{"loss", 1.2}, {"acc@1", 12.5}}}));
  EXPECT_EQ(
      read_lines({"Epoch: [3]  [  40/5004]  eta: 0:12:34  lr: 0.1  loss: 6.9 (6.8)"}),
      (Progress{.step = 40, .total = 5004, .epoch = 3, .metrics = {{"lr", 0.1}, {"loss", 6.9}}}));
  EXPECT_EQ(read_lines({"Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.25"}),
            (Progress{.step = 640, .total = 60000, .epoch = 1, .metrics = {{"loss", 2.25}}}));
  EXPECT_EQ(
      read_lines({"Epoch [1/10], Step [100/600], Loss: 0.25"}),
      (Progress{.step = 100, .total = 600, .epoch = 1, .epochs = 10, .metrics = {{"loss", 0.25}}}));
}

TEST(KnownFormats, OtherLinesSayNothing) {
  for (const std::string_view line :
       {"", "Hello", "listening on port: 8080", "lr: 0.1", "took 12/11/2026", "loss", "loss: high",
        "stepping 3", "epochs: 90", "step: 1s", "epoch at 0:12:34", "step -4", "loss: information",
        "[1/2] Building CXX object", "step: 99999999999999999999999"}) {
    EXPECT_EQ(read_lines({line}), Progress{}) << line;
  }
}

TEST(KnownFormats, WhatIsNotFiniteIsNamed) {
  Progress progress = read_lines({"step 1 loss: 0.5", "step 2 loss: nan"});
  EXPECT_EQ(progress.step, 2U);
  EXPECT_EQ(progress.metrics, Metrics{});
  EXPECT_EQ(progress.not_finite, std::set<std::string>{"loss"});
  progress = read_lines({"step 1 loss=-inf", "step 2 loss=0.5"});
  EXPECT_EQ(progress.metrics, (Metrics{{"loss", 0.5}}));
  EXPECT_TRUE(progress.not_finite.empty());
}

TEST(ProgressRegex, NamesWhatIsTaken) {
  const Progress progress = read_by(
      "it=(?<step>\\d+) of (?<total>\\S+) e(?P<epoch>[\\d.]+) (?<loss>\\S+) (?<BLEU>\\S+) "
      "(?<rate>\\S+)",
      "it=4 of 1,000 e1.5 -2e-1 nan 30\n");
  EXPECT_EQ(progress, (Progress{.step = 4,
                                .total = 1000,
                                .epoch = 1.5,
                                .rate = 30,
                                .metrics = {{"loss", -0.2}},
                                .not_finite = {"bleu"}}));
}

TEST(ProgressRegex, OnlyItIsUsedIfThereIsOne) {
  EXPECT_EQ(read_by("at (?<step>\\d+)", "step 4 loss 0.5\n"), Progress{});
  EXPECT_EQ(read_by("at (?<step>\\S+)", "at home\n"), Progress{});
}

TEST(ProgressRegex, MustNameSomething) {
  EXPECT_EQ(compile_progress_regex("step (\\d+)").error().sentence(), "no group has a name");
  EXPECT_EQ(compile_progress_regex("(?<step>\\d+").error().sentence(), "missing ): (?P<step>\\d+");
}

TEST(ProgressReader, CarriageReturnsSeparateUpdates) {
  ProgressReader reader;
  reader.feed("\r 1%|# | 1/100 [00:01<01:39, 1.00it/s]\r 2%|# | 2/100 [00:02<01:38, 1.00it/s]");
  EXPECT_EQ(reader.latest().step, 1U);  // the second is not complete: more digits may come
  EXPECT_EQ(reader.updates(), 1U);
  reader.feed("\r\n");
  EXPECT_EQ(reader.latest().step, 2U);
  EXPECT_EQ(reader.updates(), 2U);
}

TEST(ProgressReader, OfALongLineTheBeginningCounts) {
  ProgressReader reader;
  reader.feed("step 4 ");
  const std::string block(1U << 20U, 'x');
  for (int i = 0; i < 100; ++i) reader.feed(block);
  reader.feed(" step 5\nstep 6\n");
  EXPECT_EQ(reader.latest().step, 6U);
  EXPECT_EQ(reader.updates(), 2U);
  ProgressReader other;
  other.feed(std::string(kProgressLineMax, ' ') + "step 5\n");
  EXPECT_EQ(other.latest(), Progress{});
}

TEST(ProgressReader, ManyMetricsAreBounded) {
  ProgressReader reader;
  for (int i = 0; i < 1'000; ++i) {
    reader.feed("step " + std::to_string(i) + " m" + std::to_string(i) + "=1 n=nan\n");
  }
  const Progress& progress = reader.latest();
  EXPECT_EQ(progress.step, 999U);
  EXPECT_EQ(progress.metrics.size() + progress.not_finite.size(), kProgressMetricsMax);
  reader.feed("loss 1 " + std::string(kProgressNameMax + 1, 'n') + "=1\n");
  EXPECT_EQ(reader.latest().metrics.size(), progress.metrics.size());
}

std::string any_output() {
  return *rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
                           "step", " ", "4", "\n", "\r", "loss", ":", "=", "0.5", "nan", "/", "[",
                           "]", "|", "%", "Epoch", "\xFF", "\x1B[", "━", "it/s", "it [", "-",
                           "1e999", ",", "000", "\t", "tensor(")),
                       [](const std::vector<std::string>& pieces) {
                         std::string text;
                         for (const std::string& piece : pieces) text += piece;
                         return text;
                       });
}

RC_GTEST_PROP(ProgressReaderProperty, PiecesOfAnySizeGiveTheSame, ()) {
  const std::string output = any_output() + "\n";
  ProgressReader whole;
  whole.feed(output);
  ProgressReader pieces;
  for (std::size_t at = 0; at < output.size();) {
    const auto size = *rc::gen::inRange<std::size_t>(1, 10);
    pieces.feed(std::string_view(output).substr(at, size));
    at += size;
  }
  RC_ASSERT(whole.latest() == pieces.latest());
  RC_ASSERT(whole.updates() == pieces.updates());
}

RC_GTEST_PROP(ProgressReaderProperty, ArbitraryBytesAreHarmless, ()) {
  ProgressReader reader;
  reader.feed(*rc::gen::arbitrary<std::string>() + any_output());
  for (const auto& [name, value] : reader.latest().metrics) {
    RC_ASSERT(!name.empty() && value == value && value - value == 0);
  }
}

}  // namespace progress_reader_test
}  // namespace
}  // namespace outlast::job
