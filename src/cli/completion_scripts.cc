// The scripts are thin: they hand the words to the hidden command '__complete' and show its answer,
// so that a new command or option needs no new script.

#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "cli/completion.h"

namespace outlast::cli {
namespace {

constexpr const char* kBash = R"script(# bash completion for outlast.
# For every new shell:  outlast completion bash > ~/.local/share/bash-completion/completions/outlast
# For this shell only:  source <(outlast completion bash)

_outlast() {
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
complete -F _outlast outlast
)script";

constexpr const char* kZsh = R"script(#compdef outlast
# zsh completion for outlast.
# For every new shell:  outlast completion zsh > ~/.zfunc/_outlast, with this in ~/.zshrc:
#                       fpath=(~/.zfunc $fpath); autoload -U compinit; compinit
# For this shell only:  source <(outlast completion zsh)

_outlast() {
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
    (( ${#candidates} )) && _describe outlast candidates
    if [[ -n $files ]]; then
        [[ $PREFIX == --*=* ]] && compset -P '*='
        _files
    fi
}

# Read by compinit from a file, this is the body of the function; sourced, it is not.
if [[ ${funcstack[1]:-} == _outlast ]]; then
    _outlast "$@"
else
    compdef _outlast outlast
fi
)script";

constexpr const char* kFish = R"script(# fish completion for outlast.
# For every new shell:  outlast completion fish > ~/.config/fish/completions/outlast.fish
# For this shell only:  outlast completion fish | source

function __outlast_complete
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
complete -c outlast -f -a '(__outlast_complete)'
)script";

}  // namespace

std::span<const std::string> completion_shells() {
  static const std::vector<std::string> shells = {"bash", "zsh", "fish"};
  return shells;
}

std::string completion_script(const std::string& shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  OUTLAST_CHECK(shell == "fish", "no completion for '{}'", shell);
  return kFish;
}

}  // namespace outlast::cli
