#pragma once

#include <string>

#include "base/encoding.h"
#include "base/result.h"
#include "sys/file_system.h"
#include "trainers/weights/pth_value.h"
#include "trainers/weights/weight_file.h"

// PyTorch's own files, as torch.save() and torch.load() know them.
namespace outlast::trainers {

// Whether bytes begin as such a file does: as a zip or a pickle.
bool may_be_pth(BytesView file);

// What a file holds, whichever of PyTorch's two formats it has. Nothing of it is run: kCorrupt,
// with the name, if it wants anything of Python that is not a tensor. Tensors that share memory in
// PyTorch are copies of each other here. Parameters are tensors; sets are lists; devices and dtypes
// are their names; the attributes of dictionaries are left out. Also kCorrupt if it is nested
// deeper than 100, refers to itself, or needs many times the memory of the file.
Result<PthValue> read_pth(sys::FileSystem& files, const std::string& path);
// The same from its bytes.
Result<PthValue> parse_pth(BytesView file);

// Writes the file whole or not at all, durably, in the zip format: torch.load() reads it, also with
// weights_only=True, from PyTorch 1.13 on (which can read no float that way, whoever wrote it).
// kInvalidArgument if PyTorch has no such dtype, a shape does not fit its bytes, a text is not
// UTF-8, or a key is there twice.
Result<void> write_pth(sys::FileSystem& files, const std::string& path, const PthValue& value);
// A plain ordered dictionary from names to tensors, as load_state_dict() takes it. The scalars are
// not written.
Result<void> write_pth(sys::FileSystem& files, const std::string& path, const Weights& weights);

}  // namespace outlast::trainers
