#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tidy/tidy.h"

namespace outlast::tidy {
namespace {

// Files whose very bytes are what is tested.
bool is_raw_material(std::string_view path) {
  return path.starts_with("tests/bad-jobs/") || path.starts_with("tests/golden/") ||
         path.starts_with("tests/corpus/") || path.find("/corpus/") != std::string_view::npos;
}

// In two halves, so that this file is not its own first finding.
const std::array<std::string, 3> kNotes = {std::string("TO") + "DO", std::string("FIX") + "ME",
                                           std::string("XX") + "X"};

bool has_word(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string_view::npos;
       at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool starts = at == 0 || !is_identifier_char(line[at - 1]);
    const bool ends = end == line.size() || !is_identifier_char(line[end]);
    if (starts && ends) return true;
  }
  return false;
}

void check_line(const SourceFile& file, std::string_view line, int number,
                std::vector<Finding>& findings) {
  const auto report = [&](std::string text) {
    findings.push_back({file.path, number, "text", std::move(text)});
  };
  if (line.ends_with('\r')) {
    report("a line ends in CRLF: use LF");
    line.remove_suffix(1);
  }
  if (line.find('\t') != std::string_view::npos) report("a tab: use spaces");
  if (line.ends_with(' ')) report("white space at the end of the line: remove it");
  for (const std::string& note : kNotes) {
    if (has_word(line, note)) report(note + ": do it now, or write it where work is planned");
  }
}

// The targets of [text](target) in one line, outside `code`.
std::vector<std::string> link_targets(std::string_view line) {
  std::string plain(line);
  for (std::size_t open = plain.find('`'); open != std::string::npos;) {
    const std::size_t close = plain.find('`', open + 1);
    if (close == std::string::npos) break;
    std::fill(plain.begin() + static_cast<std::ptrdiff_t>(open),
              plain.begin() + static_cast<std::ptrdiff_t>(close) + 1, ' ');
    open = plain.find('`', close + 1);
  }
  std::vector<std::string> targets;
  for (std::size_t at = plain.find("]("); at != std::string::npos; at = plain.find("](", at + 2)) {
    const std::size_t end = plain.find_first_of(" )", at + 2);
    if (end != std::string::npos) targets.push_back(plain.substr(at + 2, end - at - 2));
  }
  return targets;
}

bool leads_somewhere(const Tree& tree, const SourceFile& document, std::string target) {
  if (target.find(':') != std::string::npos) return true;  // https:, mailto:
  target.resize(std::min(target.find('#'), target.size()));
  if (target.empty()) return true;  // a heading of the same document
  const auto folder = std::filesystem::path(document.path).parent_path();
  std::string path = (folder / target).lexically_normal().generic_string();
  if (path.ends_with('/')) path.pop_back();
  return path == "." || tree.paths.contains(path);
}

void check_links(const Tree& tree, const SourceFile& document, std::vector<Finding>& findings) {
  bool in_code_block = false;
  int number = 0;
  for (const std::string_view line : split_lines(document.text)) {
    ++number;
    if (line.starts_with("```")) in_code_block = !in_code_block;
    if (in_code_block) continue;
    for (const std::string& target : link_targets(line)) {
      if (leads_somewhere(tree, document, target)) continue;
      findings.push_back({document.path, number, "link",
                          "the link to '" + target + "' leads nowhere: correct or remove it"});
    }
  }
}

}  // namespace

std::vector<Finding> check_texts(const Tree& tree) {
  std::vector<Finding> findings;
  for (const SourceFile& file : tree.files) {
    if (is_raw_material(file.path)) continue;
    const auto lines = split_lines(file.text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      check_line(file, lines[i], static_cast<int>(i) + 1, findings);
    }
    if (!file.text.empty() && !file.text.ends_with('\n')) {
      findings.push_back({file.path, static_cast<int>(lines.size()), "text",
                          "the file does not end in a newline: add one"});
    }
    if (file.path.ends_with(".md")) check_links(tree, file, findings);
  }
  return findings;
}

}  // namespace outlast::tidy
