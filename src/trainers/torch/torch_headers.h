#pragma once

// What this folder uses of libtorch, compiled once for all its files (CMakeLists.txt): each costs
// seconds. Headers here that name torch's types include this, and nothing outside of this folder
// includes those.
#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/types.h>
#include <torch/utils.h>
