#include "arrays.hpp"

NB_MODULE(_core, module) {
    module.doc() =
        "Compiled solvers of localsvm: arrays in, arrays out, no validation.";
    localsvm::bind_matrix(module);
    localsvm::bind_dual_cd(module);
    localsvm::bind_decision(module);
    localsvm::bind_kernel(module);
    localsvm::bind_neighborhoods(module);
    localsvm::bind_threshold(module);
    localsvm::bind_additive(module);
    localsvm::bind_nearest(module);
    localsvm::bind_preparation(module);
    localsvm::bind_rows(module);
}
