// Settings of the kernel solvers as Python passes them.
#pragma once

#include <cstdint>

#include "arrays.hpp"  // IWYU pragma: keep (the name nb)
#include "localsvm/smo.hpp"

namespace localsvm {

struct KernelOptions {
    SmoSettings smo;
    std::int64_t cache_bytes;
    double max_time;
    int n_threads;
    nb::object cancelled;  // returns whether to stop, or None
};

}  // namespace localsvm
