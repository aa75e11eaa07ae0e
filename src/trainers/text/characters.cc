#include "trainers/text/characters.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace outlast::trainers {
namespace {

struct CharacterRange {
  char32_t first = 0;
  char32_t last = 0;
};

// What each letter becomes in lower case and without its marks; '?' stands for itself.
constexpr std::u32string_view kLatin =  // from U+00C0
    U"aaaaaaæceeeeiiiiðnooooo×øuuuuyþßaaaaaaæceeeeiiii"
    U"ðnooooo÷øuuuuyþyaaaaaaccccccccddđđeeeeeeeeeegggg"
    U"gggghhħħiiiiiiiiiıĳĳjjkkĸllllllŀŀłłnnnnnnŉŋŋoooo"
    U"ooœœrrrrrrssssssssttttŧŧuuuuuuuuuuuuwwyyyzzzzzzſ"
    U"ƀɓƃƃƅƅɔƈƈɖɗƌƌƍǝəɛƒƒɠɣƕɩɨƙƙƚƛɯɲƞɵooƣƣƥƥʀƨƨʃƪƫƭƭʈu"
    U"uʊʋƴƴƶƶʒƹƹƺƻƽƽƾƿǀǁǂǃǆǆǆǉǉǉǌǌǌaaiioouuuuuuuuuuǝaa"
    U"aaææǥǥggkkooooʒʒjǳǳǳggƕƿnnaaææøøaaaaeeeeiiiioooo"
    U"rrrruuuussttȝȝhhƞȡȣȣȥȥaaeeooooooooyyȴȵȶȷȸȹⱥȼȼƚⱦȿ"
    U"ɀɂɂƀʉʌɇɇɉɉɋɋɍɍɏɏ";
constexpr std::u32string_view kGreek =  // from U+0370
    U"ͱͱͳͳʹ͵ͷͷ??ͺͻͼͽ;ϳ????΄¨α·εηι?ο?υωιαβγδεζηθικλμνξο"
    U"πρ?στυφχψωιυαεηιυαβγδεζηθικλμνξοπρςστυφχψωιυουωϗ"
    U"ϐϑϒϒϒϕϖϗϙϙϛϛϝϝϟϟϡϡϣϣϥϥϧϧϩϩϫϫϭϭϯϯϰϱϲϳθϵ϶ϸϸϲϻϻϼͻͼͽ";
constexpr std::u32string_view kCyrillic =  // from U+0400
    U"ееђгєѕііјљњћкиуџабвгдежзииклмнопрстуфхцчшщъыьэюя"
    U"абвгдежзииклмнопрстуфхцчшщъыьэюяееђгєѕііјљњћкиуџ"
    U"ѡѡѣѣѥѥѧѧѩѩѫѫѭѭѯѯѱѱѳѳѵѵѵѵѹѹѻѻѽѽѿѿҁҁ";
constexpr std::u32string_view kMoreLatin =  // from U+1E00
    U"aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiii"
    U"kkkkkkllllllllmmmmmmnnnnnnnnoooooooopppprrrrrrrr"
    U"ssssssssssttttttttuuuuuuuuuuvvvvwwwwwwwwwwxxxxyy"
    U"zzzzzzhtwyẚſẜẝßẟaaaaaaaaaaaaaaaaaaaaaaaaeeeeeeee"
    U"eeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuu"
    U"uuyyyyyyyyỻỻỽỽỿỿ";
constexpr std::u32string_view kMoreGreek =  // from U+1F00
    U"ααααααααααααααααεεεεεε??εεεεεε??ηηηηηηηηηηηηηηηη"
    U"ιιιιιιιιιιιιιιιιοοοοοο??οοοοοο??υυυυυυυυ?υ?υ?υ?υ"
    U"ωωωωωωωωωωωωωωωωααεεηηιιοουυωω??αααααααααααααααα"
    U"ηηηηηηηηηηηηηηηηωωωωωωωωωωωωωωωωααααα?ααααααα᾽ι᾿"
    U"῀¨ηηη?ηηεεηηη᾿᾿᾿ιιιι??ιιιιιι?῾῾῾υυυυρρυυυυυυρ¨¨`"
    U"??ωωω?ωωοοωωω´῾?";
constexpr CharacterRange kPunctuation[] = {
    {0xA1, 0xA1},     {0xA7, 0xA7},     {0xAB, 0xAB},     {0xB6, 0xB7},     {0xBB, 0xBB},
    {0xBF, 0xBF},     {0x37E, 0x37E},   {0x387, 0x387},   {0x55A, 0x55F},   {0x589, 0x58A},
    {0x5BE, 0x5BE},   {0x5C0, 0x5C0},   {0x5C3, 0x5C3},   {0x5C6, 0x5C6},   {0x5F3, 0x5F4},
    {0x609, 0x60A},   {0x60C, 0x60D},   {0x61B, 0x61B},   {0x61D, 0x61F},   {0x66A, 0x66D},
    {0x6D4, 0x6D4},   {0x700, 0x70D},   {0x7F7, 0x7F9},   {0x830, 0x83E},   {0x85E, 0x85E},
    {0x964, 0x965},   {0x970, 0x970},   {0x9FD, 0x9FD},   {0xA76, 0xA76},   {0xAF0, 0xAF0},
    {0xC77, 0xC77},   {0xC84, 0xC84},   {0xDF4, 0xDF4},   {0xE4F, 0xE4F},   {0xE5A, 0xE5B},
    {0xF04, 0xF12},   {0xF14, 0xF14},   {0xF3A, 0xF3D},   {0xF85, 0xF85},   {0xFD0, 0xFD4},
    {0xFD9, 0xFDA},   {0x104A, 0x104F}, {0x10FB, 0x10FB}, {0x1360, 0x1368}, {0x1400, 0x1400},
    {0x166E, 0x166E}, {0x169B, 0x169C}, {0x16EB, 0x16ED}, {0x1735, 0x1736}, {0x17D4, 0x17D6},
    {0x17D8, 0x17DA}, {0x1800, 0x180A}, {0x1944, 0x1945}, {0x1A1E, 0x1A1F}, {0x1AA0, 0x1AA6},
    {0x1AA8, 0x1AAD}, {0x1B5A, 0x1B60}, {0x1B7D, 0x1B7E}, {0x1BFC, 0x1BFF}, {0x1C3B, 0x1C3F},
    {0x1C7E, 0x1C7F}, {0x1CC0, 0x1CC7}, {0x1CD3, 0x1CD3}, {0x2010, 0x2027}, {0x2030, 0x2043},
    {0x2045, 0x2051}, {0x2053, 0x205E}, {0x207D, 0x207E}, {0x208D, 0x208E}, {0x2308, 0x230B},
    {0x2329, 0x232A}, {0x2768, 0x2775}, {0x27C5, 0x27C6}, {0x27E6, 0x27EF}, {0x2983, 0x2998},
    {0x29D8, 0x29DB}, {0x29FC, 0x29FD}, {0x2CF9, 0x2CFC}, {0x2CFE, 0x2CFF}, {0x2D70, 0x2D70},
    {0x2E00, 0x2E2E}, {0x2E30, 0x2E4F}, {0x2E52, 0x2E5D}, {0x3001, 0x3003}, {0x3008, 0x3011},
    {0x3014, 0x301F}, {0x3030, 0x3030}, {0x303D, 0x303D}, {0x30A0, 0x30A0}, {0x30FB, 0x30FB},
    {0xA4FE, 0xA4FF}, {0xA60D, 0xA60F}, {0xA673, 0xA673}, {0xA67E, 0xA67E}, {0xA6F2, 0xA6F7},
    {0xA874, 0xA877}, {0xA8CE, 0xA8CF}, {0xA8F8, 0xA8FA}, {0xA8FC, 0xA8FC}, {0xA92E, 0xA92F},
    {0xA95F, 0xA95F}, {0xA9C1, 0xA9CD}, {0xA9DE, 0xA9DF}, {0xAA5C, 0xAA5F}, {0xAADE, 0xAADF},
    {0xAAF0, 0xAAF1}, {0xABEB, 0xABEB}, {0xFD3E, 0xFD3F}, {0xFE10, 0xFE19}, {0xFE30, 0xFE52},
    {0xFE54, 0xFE61}, {0xFE63, 0xFE63}, {0xFE68, 0xFE68}, {0xFE6A, 0xFE6B}, {0xFF01, 0xFF03},
    {0xFF05, 0xFF0A}, {0xFF0C, 0xFF0F}, {0xFF1A, 0xFF1B}, {0xFF1F, 0xFF20}, {0xFF3B, 0xFF3D},
    {0xFF3F, 0xFF3F}, {0xFF5B, 0xFF5B}, {0xFF5D, 0xFF5D}, {0xFF5F, 0xFF65}};

constexpr CharacterRange kIdeographs[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},
                                          {0xF900, 0xFAFF},   {0x20000, 0x2A6DF},
                                          {0x2A700, 0x2CEAF}, {0x2F800, 0x2FA1F}};

constexpr CharacterRange kBlanks[] = {
    {0x9, 0xA},       {0xD, 0xD},       {0x20, 0x20},     {0xA0, 0xA0},     {0x1680, 0x1680},
    {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}};

// Control, format and private characters, and the one that stands for a broken one.
constexpr CharacterRange kDropped[] = {
    {0x0, 0x1F},      {0x7F, 0x9F},     {0xAD, 0xAD},     {0x600, 0x605},   {0x61C, 0x61C},
    {0x6DD, 0x6DD},   {0x70F, 0x70F},   {0x180E, 0x180E}, {0x200B, 0x200F}, {0x202A, 0x202E},
    {0x2060, 0x206F}, {0xE000, 0xF8FF}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFD}, {0xE0001, 0x10FFFF}};

// `ranges` are in order and apart.
bool is_in(std::span<const CharacterRange> ranges, char32_t character) {
  const auto after = std::upper_bound(
      ranges.begin(), ranges.end(), character,
      [](char32_t wanted, const CharacterRange& range) { return wanted < range.first; });
  return after != ranges.begin() && character <= std::prev(after)->last;
}

std::optional<char32_t> from_table(std::u32string_view table, char32_t first, char32_t character) {
  if (character < first || character - first >= table.size()) return std::nullopt;
  const char32_t folded = table[character - first];
  return folded == U'?' ? character : folded;
}

char32_t folded_letter(char32_t character) {
  if (character < 0x80) {
    return character >= U'A' && character <= U'Z' ? character + 32 : character;
  }
  if (const auto latin = from_table(kLatin, 0xC0, character)) return *latin;
  if (const auto greek = from_table(kGreek, 0x370, character)) return *greek;
  if (const auto cyrillic = from_table(kCyrillic, 0x400, character)) return *cyrillic;
  if (const auto latin = from_table(kMoreLatin, 0x1E00, character)) return *latin;
  if (const auto greek = from_table(kMoreGreek, 0x1F00, character)) return *greek;
  return character;
}

// A Hangul syllable is two or three letters, which its number tells.
void append_hangul(char32_t syllable, std::u32string& text) {
  const char32_t index = syllable - 0xAC00;
  text += static_cast<char32_t>(0x1100 + index / 588);
  text += static_cast<char32_t>(0x1161 + index % 588 / 28);
  if (index % 28 != 0) text += static_cast<char32_t>(0x11A7 + index % 28);
}

void append_normalised(char32_t character, std::u32string& text) {
  if (is_in(kBlanks, character)) {
    text += U' ';
  } else if (is_in(kDropped, character) || (character >= 0x300 && character <= 0x36F)) {
    return;
  } else if (is_in(kIdeographs, character)) {
    text += {U' ', character, U' '};
  } else if (character >= 0xAC00 && character <= 0xD7A3) {
    append_hangul(character, text);
  } else {
    text += folded_letter(character);
  }
}

}  // namespace

std::u32string normalised(std::string_view text) {
  std::u32string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::optional<Utf8Character> character = decode_utf8(text, at);
    if (character) append_normalised(character->code, result);
    at += character ? character->bytes : 1;
  }
  return result;
}

bool is_punctuation(char32_t character) {
  if (character < 0x80) {
    const bool letter =
        (character >= U'a' && character <= U'z') || (character >= U'A' && character <= U'Z');
    const bool digit = character >= U'0' && character <= U'9';
    return character > U' ' && character < 0x7F && !letter && !digit;
  }
  return is_in(kPunctuation, character);
}

std::string to_utf8(std::u32string_view text) {
  std::string bytes;
  const auto follow = [&](char32_t character, unsigned shift) {
    bytes += static_cast<char>(0x80U | ((character >> shift) & 0x3FU));
  };
  for (const char32_t character : text) {
    if (character < 0x80) {
      bytes += static_cast<char>(character);
    } else if (character < 0x800) {
      bytes += static_cast<char>(0xC0U | (character >> 6U));
      follow(character, 0);
    } else if (character < 0x10000) {
      bytes += static_cast<char>(0xE0U | (character >> 12U));
      follow(character, 6);
      follow(character, 0);
    } else {
      bytes += static_cast<char>(0xF0U | (character >> 18U));
      follow(character, 12);
      follow(character, 6);
      follow(character, 0);
    }
  }
  return bytes;
}

}  // namespace outlast::trainers
