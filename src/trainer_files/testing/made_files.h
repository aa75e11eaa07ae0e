#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Files as trainers write them, made by hand.
namespace outlast::trainer_files::testing {

inline std::string number_bytes(std::uint64_t number, std::size_t width) {
  std::string bytes;
  for (std::size_t i = 0; i < width; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xFFU);
  return bytes;
}

struct ZipKind {
  bool is_large = false;  // with the records of 64 bits, as PyTorch has them always
  std::string_view comment = {};
};

// A zip file with one stored entry.
inline std::string made_zip(std::string_view content, const ZipKind& kind = {}) {
  constexpr std::string_view kName = "archive/data.pkl";
  const std::string sizes = number_bytes(content.size(), 4) + number_bytes(content.size(), 4);
  std::string file = "PK\x03\x04" + number_bytes(20, 2) + std::string(12, '\0') + sizes +
                     number_bytes(kName.size(), 2) + number_bytes(0, 2) + std::string(kName) +
                     std::string(content);
  const std::uint64_t directory_at = file.size();
  file += "PK\x01\x02" + number_bytes(20, 2) + number_bytes(20, 2) + std::string(12, '\0') + sizes +
          number_bytes(kName.size(), 2) + std::string(16, '\0') + std::string(kName);
  const std::uint64_t directory_bytes = file.size() - directory_at;
  if (kind.is_large) {
    const std::uint64_t record_at = file.size();
    file += "PK\x06\x06" + number_bytes(44, 8) + number_bytes(45, 2) + number_bytes(45, 2) +
            std::string(8, '\0') + number_bytes(1, 8) + number_bytes(1, 8) +
            number_bytes(directory_bytes, 8) + number_bytes(directory_at, 8);
    file += "PK\x06\x07" + number_bytes(0, 4) + number_bytes(record_at, 8) + number_bytes(1, 4);
  }
  file += "PK\x05\x06" + std::string(4, '\0') + number_bytes(1, 2) + number_bytes(1, 2);
  file += kind.is_large ? number_bytes(0xFFFFFFFF, 4) + number_bytes(0xFFFFFFFF, 4)
                        : number_bytes(directory_bytes, 4) + number_bytes(directory_at, 4);
  return file + number_bytes(kind.comment.size(), 2) + std::string(kind.comment);
}

inline std::string made_safetensors(std::size_t tensor_bytes) {
  const std::string end = std::to_string(tensor_bytes);
  const std::string header = R"({"__metadata__":{"format":"pt"},"w":{"dtype":"U8",)"
                             R"("shape":[)" +
                             end + R"(],"data_offsets":[0,)" + end + "]}}";
  return number_bytes(header.size(), 8) + header + std::string(tensor_bytes, 'w');
}

// A superblock of this version, and then nothing but data.
inline std::string made_hdf5(int version, std::size_t size) {
  const std::string nowhere(8, '\xff');
  std::string file = "\x89HDF\r\n\x1a\n" + number_bytes(static_cast<std::uint64_t>(version), 1);
  if (version < 2) {
    file += std::string(4, '\0') + "\x08\x08" + std::string(1, '\0') + number_bytes(4, 2) +
            number_bytes(16, 2) + std::string(4, '\0');
    if (version == 1) file += number_bytes(32, 2) + std::string(2, '\0');
    file += number_bytes(0, 8) + nowhere + number_bytes(size, 8) + nowhere;
  } else {
    file += std::string("\x08\x08") + std::string(1, '\0') + number_bytes(0, 8) + nowhere +
            number_bytes(size, 8) + number_bytes(48, 8) + std::string(4, '\x11');
  }
  file.resize(size, 'd');
  return file;
}

// Of protocol 4, with one frame.
inline std::string made_pickle(std::string_view text) {
  const std::string frame = "\x8c" + number_bytes(text.size(), 1) + std::string(text) + "\x94.";
  return "\x80\x04\x95" + number_bytes(frame.size(), 8) + frame;
}

}  // namespace outlast::trainer_files::testing
