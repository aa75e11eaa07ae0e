#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string_view>

#include "network.h"

// Checkpoints as files "checkpoint_<step>.bin": "LEARNING", version, length of what follows, step,
// loss, weights, velocity; then the checksum of all before it. Numbers are as this machine has
// them.
//
// All functions throw std::runtime_error with a sentence for the user.
namespace learn {

// By step, so that the last is the newest. No folder: none.
std::map<std::uint64_t, std::filesystem::path> find_checkpoints(
    const std::filesystem::path& folder);

// Refuses a file that is not exactly what save_checkpoint() wrote.
Training read_checkpoint(const std::filesystem::path& path);

// The file appears whole or not at all. Of the older ones, one is kept.
void save_checkpoint(const Training& training, const std::filesystem::path& folder);

// FNV-1a.
std::uint64_t checksum(std::string_view bytes);

// The weights as they lie in memory: what the result is the checksum of.
std::string_view bytes_of(const Parameters& parameters);

}  // namespace learn
