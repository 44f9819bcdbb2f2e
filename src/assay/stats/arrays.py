"""The kinds of arrays that several files name; each is defined here and nowhere else."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
CountArray = npt.NDArray[np.int32]
GradeArray = npt.NDArray[np.int8]
RowIndices = npt.NDArray[np.intp]
ConfusionTables = npt.NDArray[np.integer]
