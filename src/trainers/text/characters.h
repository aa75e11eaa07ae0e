#pragma once

#include <string>
#include <string_view>

// What a tokenizer asks about characters, for those that are met in texts of a data set. The tables
// are Unicode 14's, as far as they go; what is missing is said with each function.
namespace outlast::trainers {

// The text as BERT's uncased model wants it: without control characters, every kind of blank as '
// ', in lower case and without accents (canonically decomposed, marks dropped), with ' ' around
// each CJK ideograph. Bytes that are not UTF-8 are dropped.
//
// Case and accents of Latin, Greek and basic Cyrillic letters are known, and Hangul syllables are
// taken apart; letters of other scripts stay as they are, with their marks, except for those of
// U+0300 to U+036F. Unassigned characters stay, too.
std::u32string normalised(std::string_view text);

// Punctuation by Unicode up to U+FFFF, and all of ASCII that is printed and neither letter nor
// digit.
bool is_punctuation(char32_t character);

std::string to_utf8(std::u32string_view text);

}  // namespace outlast::trainers
