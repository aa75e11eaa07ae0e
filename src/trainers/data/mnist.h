#pragma once

#include <string>

#include "base/result.h"
#include "sys/file_system.h"
#include "trainers/data/image_set.h"

namespace outlast::trainers {

// MNIST and what comes in the same four files (Fashion-MNIST, KMNIST): train-images-idx3-ubyte,
// train-labels-idx1-ubyte, t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, in `folder` or in the
// MNIST/raw that torchvision makes in it. One channel; classes "0" to "9". Names with a dot
// (train-images.idx3-ubyte) are known, too.
//
// Errors: kNotFound names the files and where they come from, or says that a .gz is to be unpacked
// first; kCorrupt names the file and what is wrong with it.
Result<ImageData> read_mnist(sys::FileSystem& files, const std::string& folder);

}  // namespace outlast::trainers
