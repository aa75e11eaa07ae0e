#include "trainers/torch/bert_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "sys/file_ops.h"
#include "sys/threads.h"
#include "trainers/data/synthetic.h"
#include "trainers/data/text_set.h"
#include "trainers/text/wordpiece.h"

namespace outlast::trainers {
namespace {

constexpr std::uint64_t kInputBytesMax = 1U << 30U;
constexpr std::uint64_t kClassFileBytesMax = 1U << 20U;
constexpr std::size_t kTextsPerThread = 500;  // fewer are not worth one

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

Result<WordPiece> open_vocabulary(sys::FileSystem& files, const BertTextOptions& options) {
  if (!options.vocabulary.empty()) return WordPiece::read(files, options.vocabulary);
  if (options.data == "synthetic") return WordPiece::parse(synthetic_vocabulary(), "synthetic");
  const std::string path = sys::join_path(options.data, "vocab.txt");
  if (!files.stat(path)) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("there is no {}: put the vocabulary of the model there, or name it "
                             "with --vocab",
                             path));
  }
  return WordPiece::read(files, path);
}

std::vector<std::int32_t> tokens_of(const WordPiece& vocabulary, const std::string& text,
                                    std::size_t length_max) {
  EncodedText encoded = vocabulary.encode(text, length_max);
  const auto length = std::accumulate(encoded.mask.begin(), encoded.mask.end(), std::int32_t{0});
  encoded.ids.resize(static_cast<std::size_t>(length));
  return std::move(encoded.ids);
}

struct Tokenizing {
  sys::Threads& threads;
  const WordPiece& vocabulary;
  std::size_t length_max = 0;
  unsigned threads_max = 1;
};

// By several threads, each of which does the texts of a part of the set.
TokenBatch make_tokens(const Tokenizing& how, const std::vector<std::string>& texts) {
  std::vector<std::vector<std::int32_t>> tokens(texts.size());
  const std::size_t parts =
      std::clamp<std::size_t>(texts.size() / kTextsPerThread, 1, how.threads_max);
  const auto work = [&](std::size_t part) {
    const std::size_t end = texts.size() * (part + 1) / parts;
    for (std::size_t i = texts.size() * part / parts; i < end; ++i) {
      tokens[i] = tokens_of(how.vocabulary, texts[i], how.length_max);
    }
  };
  {
    std::vector<std::unique_ptr<sys::Thread>> others;
    for (std::size_t part = 1; part < parts; ++part) {
      others.push_back(
          how.threads.spawn("tokens", [&work, part](const std::stop_token&) { work(part); }));
    }
    work(0);
    for (const std::unique_ptr<sys::Thread>& other : others) other->join();
  }
  TokenBatch batch;
  for (const std::vector<std::int32_t>& text : tokens) batch.add(text);
  return batch;
}

Result<TextData> read_texts(sys::FileSystem& files, const BertTextOptions& options) {
  if (options.data == "synthetic") return synthetic_texts({.seed = options.seed});
  return read_text_folder(files, options.data);
}

// The names of the classes, if there is a file of them that fits.
std::vector<std::string> read_labels(sys::FileSystem& files, const std::string& folder,
                                     std::size_t classes) {
  for (const char* name : {"class.txt", "classes.txt"}) {
    const auto text = sys::read_file(files, sys::join_path(folder, name), kClassFileBytesMax);
    if (!text) continue;
    std::vector<std::string> labels = lines_of(*text);
    if (labels.size() == classes) return labels;
  }
  return {};
}

}  // namespace

Result<BertTexts> read_bert_texts(sys::World& world, const BertTextOptions& options) {
  OUTLAST_TRY_ASSIGN(const WordPiece vocabulary, open_vocabulary(world.files, options));
  OUTLAST_TRY_ASSIGN(TextData data, read_texts(world.files, options));
  if (data.train.texts.empty() && options.mode == Mode::kTrain) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("there is no text to learn from in {}", data.from));
  }
  const Tokenizing how{.threads = world.threads,
                       .vocabulary = vocabulary,
                       .length_max = options.length_max,
                       .threads_max = options.threads};
  BertTexts texts{.classes = std::max(data.train.class_count, data.test.class_count),
                  .vocabulary = vocabulary.vocabulary_size(),
                  .from = data.from};
  if (options.data != "synthetic") {
    texts.labels = read_labels(world.files, options.data, texts.classes);
  }
  if (options.mode == Mode::kTrain) {
    texts.sets.train = {.texts = make_tokens(how, data.train.texts), .labels = data.train.labels};
  }
  if (!options.input.empty()) {
    OUTLAST_TRY_ASSIGN(const std::string input,
                       sys::read_file(world.files, options.input, kInputBytesMax));
    texts.sets.asked = {.texts = make_tokens(how, lines_of(input))};
    return texts;
  }
  TokenSet test{.texts = make_tokens(how, data.test.texts), .labels = data.test.labels};
  (options.mode == Mode::kPredict ? texts.sets.asked : texts.sets.test) = std::move(test);
  return texts;
}

}  // namespace outlast::trainers
