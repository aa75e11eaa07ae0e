#include "trainers/text/wordpiece.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/result.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "trainers/data/synthetic.h"
#include "trainers/text/characters.h"

namespace outlast::trainers {
namespace {

constexpr std::size_t kWordMax = 100;

}  // namespace

Result<WordPiece> WordPiece::parse(std::string_view vocabulary, const std::string& name) {
  WordPiece result;
  for (std::size_t at = 0; at < vocabulary.size();) {
    const std::size_t end = std::min(vocabulary.find('\n', at), vocabulary.size());
    std::string token(vocabulary.substr(at, end - at));
    if (token.ends_with('\r')) token.pop_back();
    at = end + 1;
    const auto id = static_cast<std::int32_t>(result.tokens_.size());
    const bool goes_on = token.size() > 2 && token.starts_with("##");
    Ids& ids = goes_on ? result.continuations_ : result.beginnings_;
    if (!ids.emplace(goes_on ? token.substr(2) : token, id).second) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("line {} of the vocabulary {} has '{}' a second time: take the "
                               "model's own vocab.txt",
                               id + 1, name, token));
    }
    result.tokens_.push_back(std::move(token));
  }
  for (const auto& [token, id] : {std::pair("[PAD]", &result.pad_),
                                  {"[UNK]", &result.unknown_},
                                  {"[CLS]", &result.begin_},
                                  {"[SEP]", &result.end_}}) {
    const auto found = result.beginnings_.find(std::string_view(token));
    if (found == result.beginnings_.end()) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("the vocabulary {} lacks {}: take the vocab.txt "
                               "of a BERT model, one token to a line",
                               name, token));
    }
    *id = found->second;
  }
  return result;
}

Result<WordPiece> WordPiece::read(sys::FileSystem& files, const std::string& path) {
  OUTLAST_TRY_ASSIGN(const std::string text, sys::read_file(files, path, 64U << 20U));
  return parse(text, path);
}

void WordPiece::append_word(std::u32string_view word, std::vector<std::int32_t>& ids) const {
  const std::size_t before = ids.size();
  if (word.size() > kWordMax) {
    ids.push_back(unknown_);
    return;
  }
  // Where each character begins in the bytes, so that a piece is cut out without a copy.
  const std::string bytes = to_utf8(word);
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if ((static_cast<unsigned char>(bytes[i]) & 0xC0U) != 0x80U) starts.push_back(i);
  }
  starts.push_back(bytes.size());
  for (std::size_t begin = 0; begin < word.size();) {
    const Ids& pieces = begin == 0 ? beginnings_ : continuations_;
    std::size_t end = word.size();
    for (; end > begin; --end) {
      const auto piece =
          pieces.find(std::string_view(bytes).substr(starts[begin], starts[end] - starts[begin]));
      if (piece == pieces.end()) continue;
      ids.push_back(piece->second);
      break;
    }
    if (end == begin) {
      ids.resize(before);
      ids.push_back(unknown_);
      return;
    }
    begin = end;
  }
}

std::vector<std::int32_t> WordPiece::tokenize(std::string_view text) const {
  const std::u32string clean = normalised(text);
  const std::u32string_view all = clean;
  std::vector<std::int32_t> ids;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= all.size(); ++at) {
    const bool mark = at < all.size() && is_punctuation(all[at]);
    if (at < all.size() && all[at] != U' ' && !mark) continue;
    if (at > begin) append_word(all.substr(begin, at - begin), ids);
    if (mark) append_word(all.substr(at, 1), ids);
    begin = at + 1;
  }
  return ids;
}

EncodedText WordPiece::encode(std::string_view text, std::size_t length) const {
  OUTLAST_CHECK(length >= 2, "a text of {} tokens", length);
  EncodedText encoded;
  std::vector<std::int32_t> ids = tokenize(text);
  ids.resize(std::min(ids.size(), length - 2));
  encoded.ids.reserve(length);
  encoded.ids.push_back(begin_);
  encoded.ids.insert(encoded.ids.end(), ids.begin(), ids.end());
  encoded.ids.push_back(end_);
  encoded.mask.assign(encoded.ids.size(), 1);
  encoded.ids.resize(length, pad_);
  encoded.mask.resize(length, 0);
  return encoded;
}

std::string synthetic_vocabulary() {
  std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n,\n.\n";
  for (const std::string& word : synthetic_words()) vocabulary += word + '\n';
  return vocabulary;
}

}  // namespace outlast::trainers
