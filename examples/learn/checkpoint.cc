#include "checkpoint.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "network.h"

namespace learn {
namespace {

constexpr std::string_view kMagic = "LEARNING";
constexpr std::uint64_t kVersion = 1;

std::uint64_t payload_bytes() {
  return sizeof(Training::step) + sizeof(Training::epoch_loss) +
         2 * parameter_count() * sizeof(float);
}

template <typename T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// Takes the values off the beginning of `bytes`.
template <typename T>
void take(std::string_view& bytes, std::span<T> values) {
  std::memcpy(values.data(), bytes.data(), values.size_bytes());
  bytes.remove_prefix(values.size_bytes());
}

template <typename T>
T take_one(std::string_view& bytes) {
  T value = {};
  take(bytes, std::span<T>(&value, 1));
  return value;
}

std::string to_bytes(const Training& training) {
  std::string bytes(kMagic);
  append(bytes, kVersion);
  append(bytes, payload_bytes());
  append(bytes, training.step);
  append(bytes, training.epoch_loss);
  bytes += bytes_of(training.weights);
  bytes += bytes_of(training.velocity);
  append(bytes, checksum(bytes));
  return bytes;
}

}  // namespace

std::map<std::uint64_t, std::filesystem::path> find_checkpoints(
    const std::filesystem::path& folder) {
  constexpr std::string_view kBegin = "checkpoint_";
  constexpr std::string_view kEnd = ".bin";
  constexpr std::size_t kDigitsMax = 18;
  std::map<std::uint64_t, std::filesystem::path> found;
  std::error_code no_folder;
  for (const auto& entry : std::filesystem::directory_iterator(folder, no_folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) continue;
    const std::string step = name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
    const bool is_number = step.find_first_not_of("0123456789") == std::string::npos;
    if (step.empty() || step.size() > kDigitsMax || !is_number) continue;
    found[std::stoull(step)] = entry.path();
  }
  return found;
}

Training read_checkpoint(const std::filesystem::path& path) {
  const auto refuse = [&](const std::string& why) {
    return std::runtime_error(path.string() + " " + why +
                              ". Remove it to go on from the checkpoint before it.");
  };
  std::ifstream file(path, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw refuse("cannot be read");
  if (!all.starts_with(kMagic)) throw refuse("is no checkpoint of this program");
  const std::size_t expected_bytes = kMagic.size() + 3 * sizeof(std::uint64_t) + payload_bytes();
  if (all.size() != expected_bytes) {
    throw refuse("has " + std::to_string(all.size()) + " bytes and should have " +
                 std::to_string(expected_bytes));
  }
  std::string_view rest = std::string_view(all).substr(kMagic.size());
  const auto version = take_one<std::uint64_t>(rest);
  if (version != kVersion || take_one<std::uint64_t>(rest) != payload_bytes()) {
    throw refuse("was written by another version of this program");
  }
  Training training;
  training.step = take_one<std::uint64_t>(rest);
  training.epoch_loss = take_one<double>(rest);
  take(rest, std::span(training.weights));
  take(rest, std::span(training.velocity));
  const std::string_view covered = std::string_view(all).substr(0, all.size() - rest.size());
  if (take_one<std::uint64_t>(rest) != checksum(covered)) {
    throw refuse("is damaged: its checksum does not fit");
  }
  return training;
}

void save_checkpoint(const Training& training, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  // Under another name first: whoever sees the final name sees all of the file.
  const std::filesystem::path unfinished = folder / "checkpoint.tmp";
  std::ofstream file(unfinished, std::ios::binary | std::ios::trunc);
  file << to_bytes(training);
  file.close();
  if (!file) throw std::runtime_error("cannot write " + unfinished.string() + ": is there room?");
  std::filesystem::rename(unfinished,
                          folder / ("checkpoint_" + std::to_string(training.step) + ".bin"));
  auto all = find_checkpoints(folder);
  constexpr std::size_t kKept = 2;
  while (all.size() > kKept) {
    std::filesystem::remove(all.begin()->second);
    all.erase(all.begin());
  }
}

std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  }
  return hash;
}

std::string_view bytes_of(const Parameters& parameters) {
  return {reinterpret_cast<const char*>(parameters.data()), parameters.size() * sizeof(float)};
}

}  // namespace learn
