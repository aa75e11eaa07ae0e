#pragma once

#include "base/encoding.h"
#include "base/result.h"
#include "trainers/weights/pickle_reader.h"
#include "trainers/weights/pth_tensor.h"

// What torch.save() wrote before PyTorch 1.6, and writes still if asked to: five pickles in a row
// (a magic number, the format's version, facts of the machine, the object, the keys of storages)
// and the storages, each with its size before it.
namespace outlast::trainers {

struct LegacyPth {
  Pickle object;
  FindStorage storages;  // refers to the bytes of the file
};

// kCorrupt if it is not sound: bytes that are missing are named.
Result<LegacyPth> read_legacy_pth(BytesView file);

}  // namespace outlast::trainers
