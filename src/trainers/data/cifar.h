#pragma once

#include <string>

#include "base/result.h"
#include "sys/file_system.h"
#include "trainers/data/image_set.h"

namespace outlast::trainers {

// The CIFAR data sets in their binary form, as their authors publish them: 32x32 pixels, 3
// channels. The files lie in `folder` itself, or in the folder that their archive unpacks to
// (cifar-10-batches-bin, cifar-100-binary) inside it. Where a file with the classes' names is
// missing the classes are called "0", "1", ...
//
// Errors: kNotFound names the files that belong into the folder and where they come from; kCorrupt
// names the file, its size or the record, and what it should be.

// data_batch_1.bin to data_batch_5.bin and test_batch.bin; batches.meta.txt has the names.
Result<ImageData> read_cifar10(sys::FileSystem& files, const std::string& folder);
// train.bin and test.bin, by their 100 fine labels; fine_label_names.txt has the names.
Result<ImageData> read_cifar100(sys::FileSystem& files, const std::string& folder);

}  // namespace outlast::trainers
