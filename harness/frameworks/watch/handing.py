"""Known calls through which data goes on: as it is, in another type or shape, in another order."""

from __future__ import annotations

HANDS_ON = {"DataLoader", "tqdm", "iter", "list", "tuple", "cycle", "Subset", "to_device"}
CONVERTS = {"tensor", "as_tensor", "from_numpy", "FloatTensor", "LongTensor", "Tensor", "array", "asarray", "constant", "Series",
             "convert_to_tensor", "DataFrame"}
METHODS = {"long", "float", "int", "double", "bool", "astype", "numpy", "tolist", "to_numpy", "unsqueeze", "squeeze", "view", "reshape",
            "type", "half", "flatten", "ravel"}
COMPUTES = {"map", "apply", "fillna", "replace", "masked_fill", "masked_fill_", "clamp", "clip", "index_fill"}
MOVES = {"to", "cuda", "cpu", "contiguous", "clone", "copy"}
DATASETS = {"from_tensor_slices", "from_dict", "from_list", "from_pandas"}
PARTS = ("item", "train", "test")
ROWWISE = {"batch", "prefetch", "repeat", "cache", "take", "skip", "select", "filter", "with_format", "train_test_split", "cast_column",
            "shuffle", "rename_column", "rename_columns", "remove_columns", "head", "reset_index", "drop", "dropna"}
# Of whole rows; where only one of labels and inputs goes through one of these, they come apart.
MOVES_ROWS = {"shuffle", "select", "filter", "drop", "dropna", "sample"}
REORDERS = {"permutation", "shuffle", "sample", "sort", "argsort", "sorted", "sort_values", "randperm", "roll", "flip", "reversed",
             "flipud", "choice"}
# Methods of tables, whatever they are given.
OF_FRAMES = {"sort_values", "sort_index", "sample"}
