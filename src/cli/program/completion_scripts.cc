// The scripts are thin: they hand the words to the hidden command '__complete' and show its answer,
// so that a new command or option needs no new script.

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "cli/program/command_spec.h"
#include "cli/program/completion.h"

namespace outlast::cli {
namespace {

// In the scripts, @PROGRAM@ is the program's name, and @FUNCTION@ a name for what it defines: not
// every shell takes "-" in one.
constexpr const char* kBash = R"script(# bash completion for @PROGRAM@.
# For every new shell:  @PROGRAM@ completion bash > ~/.local/share/bash-completion/completions/@PROGRAM@
# For this shell only:  source <(@PROGRAM@ completion bash)

@FUNCTION@() {
    local program=${1/#\~/$HOME} word current='' line joined=() files=''
    # bash cuts words at "="; put --option=value together again.
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [[ $word == = && ${#joined[@]} -gt 0 && ${joined[-1]} == --* ]]; then
            joined[-1]+='='
        elif [[ ${#joined[@]} -gt 0 && ${joined[-1]} == --*= ]]; then
            joined[-1]+=$word
        else
            joined+=("$word")
        fi
    done
    current=${joined[-1]}
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            files=yes
            continue
        fi
        line=${line%%$'\t'*}
        # What stands before "=" is on the line already.
        [[ $current == --*=* ]] && line=${line#*=}
        COMPREPLY+=("$line")
    done < <("$program" __complete -- "${joined[@]}" 2>/dev/null)
    if [[ -n $files ]]; then
        compopt -o filenames 2>/dev/null
        [[ $current == --*=* ]] && current=${current#*=}
        while IFS= read -r line; do
            COMPREPLY+=("$line")
        done < <(compgen -f -- "$current")
    fi
}
complete -F @FUNCTION@ @PROGRAM@
)script";

constexpr const char* kZsh = R"script(#compdef @PROGRAM@
# zsh completion for @PROGRAM@.
# For every new shell:  @PROGRAM@ completion zsh > ~/.zfunc/@FUNCTION@, with this in ~/.zshrc:
#                       fpath=(~/.zfunc $fpath); autoload -U compinit; compinit
# For this shell only:  source <(@PROGRAM@ completion zsh)

@FUNCTION@() {
    local line word files='' tab=$'\t'
    local -a candidates
    for line in "${(@f)$("${(Q)~words[1]}" __complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
        if [[ $line == :files ]]; then
            files=yes
        elif [[ -n $line ]]; then
            # In a candidate, ":" begins its description.
            word=${${line%%$tab*}//:/\\:}
            if [[ $line == *$tab* ]]; then
                candidates+=("$word:${line#*$tab}")
            else
                candidates+=("$word")
            fi
        fi
    done
    (( ${#candidates} )) && _describe @PROGRAM@ candidates
    if [[ -n $files ]]; then
        [[ $PREFIX == --*=* ]] && compset -P '*='
        _files
    fi
}

# Read by compinit from a file, this is the body of the function; sourced, it is not.
if [[ ${funcstack[1]:-} == @FUNCTION@ ]]; then
    @FUNCTION@ "$@"
else
    compdef @FUNCTION@ @PROGRAM@
fi
)script";

constexpr const char* kFish = R"script(# fish completion for @PROGRAM@.
# For every new shell:  @PROGRAM@ completion fish > ~/.config/fish/completions/@PROGRAM@.fish
# For this shell only:  @PROGRAM@ completion fish | source

function _@FUNCTION@_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program (string replace -r '^~' $HOME -- $words[1])
    for line in ($program __complete -- $words[2..] "$current" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path (string replace -r '^--[^=]*=' '' -- "$current")
        else
            echo $line
        end
    end
end
complete -c @PROGRAM@ -f -a '(_@FUNCTION@_complete)'
)script";

struct Replacement {
  std::string_view word;
  std::string_view by;
};

void replace_all(std::string& text, Replacement replacement) {
  for (std::size_t at = text.find(replacement.word); at != std::string::npos;
       at = text.find(replacement.word, at + replacement.by.size())) {
    text.replace(at, replacement.word.size(), replacement.by);
  }
}

const char* template_for(const std::string& shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  OUTLAST_CHECK(shell == "fish", "no completion for '{}'", shell);
  return kFish;
}

}  // namespace

std::span<const std::string> completion_shells() {
  static const std::vector<std::string> shells = {"bash", "zsh", "fish"};
  return shells;
}

std::string completion_script(const ProgramSpec& program, const std::string& shell) {
  std::string function = "_" + program.name;
  std::ranges::replace(function, '-', '_');
  std::string script = template_for(shell);
  replace_all(script, {.word = "@PROGRAM@", .by = program.name});
  replace_all(script, {.word = "@FUNCTION@", .by = function});
  return script;
}

}  // namespace outlast::cli
