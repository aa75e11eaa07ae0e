#pragma once

// What every ObjectStore must do. Include it in one .cc of a test program and instantiate it there:
//
//   INSTANTIATE_TEST_SUITE_P(Memory, StoreSuite, ::testing::Values(maker));
//
// No test depends on another, and none asserts how long something takes.

#include "store/testing/store_fixture.h"       // IWYU pragma: export
#include "store/testing/store_list_tests.h"    // IWYU pragma: export
#include "store/testing/store_maker.h"         // IWYU pragma: export
#include "store/testing/store_object_tests.h"  // IWYU pragma: export
#include "store/testing/store_race_tests.h"    // IWYU pragma: export
#include "store/testing/store_upload_tests.h"  // IWYU pragma: export
