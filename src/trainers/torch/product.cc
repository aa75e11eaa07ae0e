#include "trainers/torch/product.h"

#include <oneapi/dnnl/dnnl.h>

#include "base/check.h"

namespace outlast::trainers {

void multiply(const Factor& left, const Factor& right, const ProductSize& size,
              const Target& target) {
  if (size.rows == 0 || size.columns == 0) return;
  const dnnl_status_t status =
      dnnl_sgemm(left.transposed ? 'T' : 'N', right.transposed ? 'T' : 'N', size.rows, size.columns,
                 size.inner, size.scale, left.data, left.stride, right.data, right.stride,
                 target.add ? 1.0F : 0.0F, target.data, target.stride);
  // It refuses only sizes and strides that contradict each other.
  OUTLAST_CHECK(status == dnnl_success, "dnnl_sgemm {}", static_cast<int>(status));
}

}  // namespace outlast::trainers
