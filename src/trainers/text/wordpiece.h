#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "sys/file_system.h"

namespace outlast::trainers {

// A text as a network reads it. A value.
struct EncodedText {
  std::vector<std::int32_t> ids = {};   // [CLS], the text, [SEP], then [PAD] up to the length
  std::vector<std::int32_t> mask = {};  // 1 for each that is not padding
};

// BERT's uncased tokenizer: characters.h cleans the text; it is split at blanks and around each
// punctuation mark; of each word the longest beginning that the vocabulary has is taken, then of
// the rest, as "##rest", and so on. A word of which some part is not there, or of more than 100
// characters, is [UNK]. "[SEP]" and the like in a text are plain text. Immutable after
// construction.
class WordPiece {
 public:
  // A vocabulary as vocab.txt has it: one token to a line, whose number, from 0, is its id.
  // kCorrupt if [PAD], [UNK], [CLS] or [SEP] is not in it, or a token twice; `name` is the file's.
  static Result<WordPiece> parse(std::string_view vocabulary, const std::string& name);
  // The same from a file.
  static Result<WordPiece> read(sys::FileSystem& files, const std::string& path);

  std::size_t vocabulary_size() const { return tokens_.size(); }
  // id < vocabulary_size()
  const std::string& token(std::int32_t id) const { return tokens_[static_cast<std::size_t>(id)]; }

  // The text's tokens without anything around them.
  std::vector<std::int32_t> tokenize(std::string_view text) const;
  // Exactly `length` (at least 2) ids: what does not fit between [CLS] and [SEP] is cut off.
  EncodedText encode(std::string_view text, std::size_t length) const;

 private:
  struct TextHash : std::hash<std::string_view> {
    using is_transparent = void;  // NOLINT: the name that the standard library looks for
  };
  using Ids = std::unordered_map<std::string, std::int32_t, TextHash, std::equal_to<>>;

  WordPiece() = default;
  void append_word(std::u32string_view word, std::vector<std::int32_t>& ids) const;

  std::vector<std::string> tokens_;
  Ids beginnings_;     // by token
  Ids continuations_;  // by token, without its "##"
  std::int32_t pad_ = 0;
  std::int32_t unknown_ = 0;
  std::int32_t begin_ = 0;
  std::int32_t end_ = 0;
};

// The vocabulary of trainers/data/synthetic.h's texts, for parse().
std::string synthetic_vocabulary();

}  // namespace outlast::trainers
