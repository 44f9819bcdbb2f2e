from __future__ import annotations

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
RowIndices = npt.NDArray[np.intp]
ConfusionTables = npt.NDArray[np.integer]
