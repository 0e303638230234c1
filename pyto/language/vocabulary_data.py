"""Functions that move elements about and are made of others. `tmp` is a scratch tile of the original."""

from __future__ import annotations

# name -> (signature, text)
STRUCTURE = {
    "fillpad": ("value, pad_value=0", "The tile with pad_value (a pl.PadValue) in its lanes that are not valid."),
    "fillpad_inplace": ("value, pad_value=0", "The same as pl.fillpad."),
    "fillpad_expand": ("value, shape, pad_value=0", "A larger tile: the valid part of this one, then pad_value."),
    "gather_flat": ("src, indices, tmp=None", "out[r, k] = the element of src at indices[r, k], counted row by row."),
    "gather_row": (
        "acc, src, dst_offset, src_offset, shapes, transpose=False, *, valid_shape=None",
        "The tile with a window of a tensor at dst_offset.",
    ),
    "scatter_flat": ("dst, src, indexes", "dst with src[r, k] at indexes[r, k], counted row by row."),
    "scatter_update": (
        "input, *operands, dim=None, index=None, src=None",
        "Rows of src to the rows of a tensor or tile that the index names; the last of equal indices counts.",
    ),
    "mgather": (
        "mem, idx, coalesce='row', *, gather_oob='undefined', target_memory=None, scratch=None, valid_shape=None",
        "The rows of a tensor that idx names as a tile, or with coalesce='elem' its elements, counted in order.",
    ),
    "paged_gather": (
        "src, indices, block_table, block_size, size, max_indices, *, space=None, col_off=0, is_trans=False,"
        " is_b_matrix=False",
        "Rows of a pool of pages as a tile: row block_table[i // block_size] * block_size + i % block_size for each"
        " index i.",
    ),
    "mscatter": ("src, idx, output_tensor", "Elements of a tile to a tensor by index."),
}  # fmt: skip

# Functions of `pl.tile` that differ from those of `pl` and `pl.tensor`.
TILE_NAMES = {"gather": "gather_flat", "scatter": "scatter_flat"}
