"""Functions of `pl` that are loops over simpler ones, written in the language."""

from __future__ import annotations

import pyto.language as pl


@pl.jit.inline
def wrapped(index, count, mode):
    if mode == "clamp":
        return pl.max(pl.min(index, count - 1), 0)
    if mode == "wrap":
        return index % count
    return index


@pl.jit.inline
def gather_rows(out, tensor, index, mode):
    for r in pl.range(out.shape[0]):
        row = wrapped(pl.read(index, r), tensor.shape[0], mode)
        out[r : r + 1, :] = tensor[row, 0 : out.shape[1]]
    return out


@pl.jit.inline
def gather_elements(out, tensor, index, mode, count):
    for r in pl.range(out.shape[0]):
        for k in pl.range(out.shape[1]):
            pl.write(out, [r, k], pl.read(tensor, wrapped(pl.read(index, [r, k]), count, mode)))
    return out


@pl.jit.inline
def scatter_elements(source, index, tensor):
    for r in pl.range(source.shape[0]):
        for k in pl.range(source.shape[1]):
            pl.write(tensor, pl.read(index, [r, k]), pl.read(source, [r, k]))
    return tensor


@pl.jit.inline
def update_rows(target, index, rows):
    for r in pl.range(rows.shape[0]):
        target[pl.read(index, r), :] = rows[r : r + 1, :]
    return target


@pl.jit.inline
def gather_pages(out, source, index, table, page, count, col):
    for r in pl.range(count):
        i = pl.read(index, r)
        row = pl.read(table, i // page) * page + i % page
        out[r : r + 1, :] = source[row, col : col + out.shape[1]]
    return out
