#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

// What each kind of scalar in a job file may be: one function per kind, named by the field table.
namespace outlast::job {

// The canonical text, or what is wrong with the one given, as the end of a sentence that already
// says what was expected ("it leaves the folder"); empty when there is nothing to add.
using ScalarReading = tl::expected<std::string, std::string>;
using ScalarReader = ScalarReading (*)(std::string_view);

ScalarReading read_name(std::string_view text);
ScalarReading read_root(std::string_view text);
// A shell command, of one or more lines; white space at its end is dropped.
ScalarReading read_command(std::string_view text);
ScalarReading read_env_name(std::string_view text);
ScalarReading read_env_value(std::string_view text);
ScalarReading read_file(std::string_view text);
ScalarReading read_cache(std::string_view text);
ScalarReading read_checkpoint_dir(std::string_view text);
ScalarReading read_every(std::string_view text);
ScalarReading read_on_failed(std::string_view text);
ScalarReading read_span(std::string_view text);
// What compile_progress_regex() takes.
ScalarReading read_progress_regex(std::string_view text);
// Money that is not nothing.
ScalarReading read_money(std::string_view text);
ScalarReading read_disk(std::string_view text);
ScalarReading read_git_url(std::string_view text);
ScalarReading read_git_revision(std::string_view text);
ScalarReading read_container(std::string_view text);
ScalarReading read_webhook(std::string_view text);
ScalarReading read_host(std::string_view text);
ScalarReading read_user(std::string_view text);
// What a provider calls something: a machine type, a zone, a partition. No spaces, and nothing that
// a command line could take for an option.
ScalarReading read_token(std::string_view text);
// The same, with the operators of Slurm's --constraint.
ScalarReading read_constraint(std::string_view text);

}  // namespace outlast::job
