"""Ascend C of the cases: name -> body. `p` holds the arguments, `r` takes results, `at<T>(byte)` is a tensor in UB.

Operand arguments come as byte offsets into UB; scalars as the bits of their type.
"""

from __future__ import annotations

CASES: dict[str, str] = {}

BINARY = {
    "Add": ["half", "float", "int16_t", "int32_t"],
    "Sub": ["half", "float", "int16_t", "int32_t"],
    "Mul": ["half", "float", "int16_t", "int32_t"],
    "Div": ["half", "float"],
    "Max": ["half", "float", "int16_t", "int32_t"],
    "Min": ["half", "float", "int16_t", "int32_t"],
    "And": ["int16_t", "uint16_t"],
    "Or": ["int16_t", "uint16_t"],
    "AddRelu": ["half", "float", "int16_t"],
    "SubRelu": ["half", "float", "int16_t"],
    "FusedMulAdd": ["half", "float"],
    "FusedMulAddRelu": ["half", "float"],
    "MulAddRelu": ["half", "float"],
}
UNARY = {
    "Relu": ["half", "float", "int32_t"],
    "Exp": ["half", "float"],
    "Ln": ["half", "float"],
    "Abs": ["half", "float"],
    "Reciprocal": ["half", "float"],
    "Rsqrt": ["half", "float"],
    "Sqrt": ["half", "float"],
    "Not": ["int16_t", "uint16_t"],
}
SCALAR = {
    "Adds": ["half", "float", "int16_t", "int32_t"],
    "Muls": ["half", "float", "int16_t", "int32_t"],
    "Maxs": ["half", "float", "int16_t", "int32_t"],
    "Mins": ["half", "float", "int16_t", "int32_t"],
    "LeakyRelu": ["half", "float"],
    "ShiftLeft": ["int16_t", "uint16_t", "int32_t", "uint32_t"],
    "ShiftRight": ["int16_t", "uint16_t", "int32_t", "uint32_t"],
}
WIDE = [("half", "half"), ("float", "float"), ("float", "half")]  # (dst, src) of MulAddDst and Axpy
#: (to, from): rounding modes, numbered as in RoundMode.
FIVE = (1, 2, 3, 4, 5)
CASTS: dict[tuple[str, str], tuple[int, ...]] = {
    ("half", "float"): (0, *FIVE, 6),
    ("bfloat16_t", "float"): FIVE,
    ("int16_t", "float"): FIVE,
    ("int32_t", "float"): FIVE,
    ("int64_t", "float"): FIVE,
    ("float", "float"): FIVE,
    ("float", "half"): (0,),
    ("int8_t", "half"): (0, *FIVE),
    ("uint8_t", "half"): (0, *FIVE),
    ("int16_t", "half"): FIVE,
    ("int32_t", "half"): FIVE,
    ("float", "bfloat16_t"): (0,),
    ("int32_t", "bfloat16_t"): FIVE,
    ("half", "int8_t"): (0,),
    ("half", "uint8_t"): (0,),
    ("half", "int16_t"): (0, *FIVE),
    ("float", "int16_t"): (0,),
    ("float", "int32_t"): (0, *FIVE),
    ("int16_t", "int32_t"): (0,),
    ("int64_t", "int32_t"): (0,),
    ("int32_t", "int64_t"): (0,),
    ("float", "int64_t"): FIVE,
}
FILL = ["half", "bfloat16_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "float"]
FLOATING = ["half", "float"]

P2 = "{uint16_t(p[%d]), uint16_t(p[%d]), uint8_t(p[%d]), uint8_t(p[%d])}"
P3 = "{uint8_t(p[%d]), uint8_t(p[%d]), uint8_t(p[%d]), uint8_t(p[%d]), uint8_t(p[%d]), uint8_t(p[%d])}"


def add(name: str, body: str) -> None:
    assert name not in CASES, name
    CASES[name] = body


# dst, src0, src1, then count | mask, repeat, strides | low, high, repeat, strides
for _op, _types in BINARY.items():
    for _t in _types:
        _tensors = f"at<{_t}>(p[0]), at<{_t}>(p[1]), at<{_t}>(p[2])"
        add(f"{_op}.{_t}.count", f"{_op}({_tensors}, int32_t(p[3]));")
        add(f"{_op}.{_t}.mask", f"{_op}({_tensors}, uint64_t(p[3]), uint8_t(p[4]), {P3 % (5, 6, 7, 8, 9, 10)});")
        _bits = "uint64_t m[2] = {uint64_t(p[3]), uint64_t(p[4])};"
        add(f"{_op}.{_t}.bits", f"{_bits} {_op}({_tensors}, m, uint8_t(p[5]), {P3 % (6, 7, 8, 9, 10, 11)});")
for _t, _u in WIDE:
    _tensors = f"at<{_t}>(p[0]), at<{_u}>(p[1]), at<{_u}>(p[2])"
    add(f"MulAddDst.{_t}.{_u}.count", f"MulAddDst({_tensors}, int32_t(p[3]));")
    _params = P3 % (6, 7, 8, 9, 10, 11)
    _bits = "const uint64_t m[2] = {uint64_t(p[3]), uint64_t(p[4])};"
    add(f"MulAddDst.{_t}.{_u}.bits", f"{_bits} MulAddDst({_tensors}, m, uint8_t(p[5]), {_params});")

# dst, src, then count | mask, repeat, strides | low, high, repeat, strides
for _op, _types in UNARY.items():
    for _t in _types:
        _tensors = f"at<{_t}>(p[0]), at<{_t}>(p[1])"
        add(f"{_op}.{_t}.count", f"{_op}({_tensors}, int32_t(p[2]));")
        add(f"{_op}.{_t}.mask", f"{_op}({_tensors}, uint64_t(p[2]), uint8_t(p[3]), {P2 % (4, 5, 6, 7)});")
        _bits = "uint64_t m[2] = {uint64_t(p[2]), uint64_t(p[3])};"
        add(f"{_op}.{_t}.bits", f"{_bits} {_op}({_tensors}, m, uint8_t(p[4]), {P2 % (5, 6, 7, 8)});")

# dst, src, scalar, then as above
for _op, _types in SCALAR.items():
    for _t in _types:
        _tensors = f"at<{_t}>(p[0]), at<{_t}>(p[1]), as<{_t}>(p[2])"
        add(f"{_op}.{_t}.count", f"{_op}({_tensors}, int32_t(p[3]));")
        _round = ", p[9] != 0" if _op == "ShiftRight" else ""
        add(f"{_op}.{_t}.mask", f"{_op}({_tensors}, uint64_t(p[3]), uint8_t(p[4]), {P2 % (5, 6, 7, 8)}{_round});")
        _bits = "uint64_t m[2] = {uint64_t(p[3]), uint64_t(p[4])};"
        add(f"{_op}.{_t}.bits", f"{_bits} {_op}({_tensors}, m, uint8_t(p[5]), {P2 % (6, 7, 8, 9)});")
for _t, _u in WIDE:
    _tensors = f"at<{_t}>(p[0]), at<{_u}>(p[1]), as<{_u}>(p[2])"
    add(f"Axpy.{_t}.{_u}.count", f"Axpy({_tensors}, int32_t(p[3]));")
    add(f"Axpy.{_t}.{_u}.mask", f"Axpy({_tensors}, uint64_t(p[3]), uint8_t(p[4]), {P2 % (5, 6, 7, 8)});")

# dst, src, mode, then as above
for _t, _u in CASTS:
    _tensors = f"at<{_t}>(p[0]), at<{_u}>(p[1]), RoundMode(p[2])"
    add(f"Cast.{_t}.{_u}.count", f"Cast({_tensors}, uint32_t(p[3]));")
    add(f"Cast.{_t}.{_u}.mask", f"Cast({_tensors}, uint64_t(p[3]), uint8_t(p[4]), {P2 % (5, 6, 7, 8)});")
    _bits = "const uint64_t m[2] = {uint64_t(p[3]), uint64_t(p[4])};"
    add(f"Cast.{_t}.{_u}.bits", f"{_bits} Cast({_tensors}, m, uint8_t(p[5]), {P2 % (6, 7, 8, 9)});")
for _t, _u in (("int4b_t", "half"), ("half", "int4b_t")):
    _tensors = ", ".join(
        f"at<int8_t>(p[{i}]).ReinterpretCast<int4b_t>()" if t == "int4b_t" else f"at<half>(p[{i}])"
        for i, t in enumerate((_t, _u))
    )
    add(f"Cast.{_t}.{_u}.count", f"Cast({_tensors}, RoundMode(p[2]), uint32_t(p[3]));")
    add(f"Cast.{_t}.{_u}.mask", f"Cast({_tensors}, RoundMode(p[2]), uint64_t(p[3]), 4, {P2 % (5, 6, 7, 8)});")
add(
    "Cast.half.int32_t.count",
    "SetDeqScale(as<half>(p[2])); Cast(at<half>(p[0]), at<int32_t>(p[1]), RoundMode::CAST_NONE, uint32_t(p[3]));",
)
add(
    "AddDeqRelu.count",
    "SetDeqScale(as<half>(p[3])); AddDeqRelu(at<half>(p[0]), at<int32_t>(p[1]), at<int32_t>(p[2]), int32_t(p[4]));",
)
for _t in ("int8_t", "uint8_t"):
    add(
        f"CastDequant.{_t}.one",
        f"SetDeqScale(as<float>(p[2]), int16_t(p[3]), {'true' if _t == 'int8_t' else 'false'});"
        f" CastDequant<{_t}, int16_t, false, true>(at<{_t}>(p[0]), at<int16_t>(p[1]), uint32_t(p[4]));",
    )
for _name, _t, _u in (
    ("AddReluCast", "half", "float"),
    ("AddReluCast", "int8_t", "half"),
    ("AddReluCast", "int8_t", "int16_t"),
    ("SubReluCast", "half", "float"),
    ("MulCast", "int8_t", "half"),
    ("MulCast", "uint8_t", "half"),
):
    add(f"{_name}.{_t}.{_u}.count", f"{_name}(at<{_t}>(p[0]), at<{_u}>(p[1]), at<{_u}>(p[2]), uint32_t(p[3]));")

for _t in FILL:
    _start = f"Duplicate(at<{_t}>(p[0]), as<{_t}>(p[1]), "
    add(f"Duplicate.{_t}.count", f"{_start}int32_t(p[2]));")
    add(f"Duplicate.{_t}.mask", f"{_start}uint64_t(p[2]), uint8_t(p[3]), uint16_t(p[4]), uint8_t(p[5]));")
    _bits = "uint64_t m[2] = {uint64_t(p[2]), uint64_t(p[3])};"
    add(f"Duplicate.{_t}.bits", f"{_bits} {_start}m, uint8_t(p[4]), uint16_t(p[5]), uint8_t(p[6]));")
    add(f"Brcb.{_t}", f"Brcb(at<{_t}>(p[0]), at<{_t}>(p[1]), uint8_t(p[2]), {{uint16_t(p[3]), uint16_t(p[4])}});")
    _strides = "{uint16_t(p[4]), uint16_t(p[5]), uint16_t(p[6]), uint16_t(p[7])}"
    add(f"Copy.{_t}", f"Copy(at<{_t}>(p[0]), at<{_t}>(p[1]), uint64_t(p[2]), uint8_t(p[3]), {_strides});")
    add(
        f"Gather.{_t}.count",
        f"Gather(at<{_t}>(p[0]), at<{_t}>(p[1]), at<uint32_t>(p[2]), uint32_t(p[3]), uint32_t(p[4]));",
    )
    add(
        f"Gather.{_t}.mask",
        f"Gather(at<{_t}>(p[0]), at<{_t}>(p[1]), at<uint32_t>(p[2]), uint32_t(p[3]), uint64_t(p[4]), uint8_t(p[5]),"
        " uint16_t(p[6]));",
    )
    _pattern = "uint16_t" if _t in ("half", "bfloat16_t", "int16_t", "uint16_t") else "uint32_t"
    _tail = "p[3] != 0, uint32_t(p[4]), {uint8_t(p[5]), uint16_t(p[6]), uint16_t(p[7]), uint8_t(p[8])}, kept);"
    _result = "r[0] = int64_t(kept);"
    add(
        f"GatherMask.{_t}.pattern",
        f"uint64_t kept = 0; GatherMask(at<{_t}>(p[0]), at<{_t}>(p[1]), uint8_t(p[2]), {_tail} {_result}",
    )
    add(
        f"GatherMask.{_t}.tensor",
        f"uint64_t kept = 0; GatherMask(at<{_t}>(p[0]), at<{_t}>(p[1]), at<{_pattern}>(p[2]), {_tail} {_result}",
    )
for _t in ("half", "int16_t", "float", "int32_t"):
    add(f"CreateVecIndex.{_t}.count", f"CreateVecIndex(at<{_t}>(p[0]), as<{_t}>(p[1]), uint32_t(p[2]));")
    add(
        f"CreateVecIndex.{_t}.mask",
        f"auto d = at<{_t}>(p[0]); CreateVecIndex(d, as<{_t}>(p[1]), uint64_t(p[2]), uint8_t(p[3]), uint16_t(p[4]),"
        " uint8_t(p[5]));",
    )
for _t in ("uint16_t", "uint32_t"):
    add(
        f"Gatherb.{_t}",
        f"Gatherb(at<{_t}>(p[0]), at<{_t}>(p[1]), at<uint32_t>(p[2]), uint8_t(p[3]),"
        " {uint8_t(p[4]), uint8_t(p[5])});",
    )

for _t in FLOATING:
    _tensors = f"at<{_t}>(p[0]), at<{_t}>(p[1])"
    _bits = "uint64_t m[2] = {uint64_t(p[2]), uint64_t(p[3])};"
    _strides = "int32_t(p[4]), int32_t(p[5]), int32_t(p[6]), int32_t(p[7])"
    add(f"WholeReduceSum.{_t}", f"{_bits} WholeReduceSum({_tensors}, m, {_strides});")
    add(f"WholeReduceSum.{_t}.mask", f"WholeReduceSum({_tensors}, int32_t(p[2]), {_strides});")
    add(
        f"RepeatReduceSum.{_t}.mask",
        f"RepeatReduceSum({_tensors}, int32_t(p[4]), int32_t(p[2]), 0, int32_t(p[6]), int32_t(p[5]), int32_t(p[7]));",
    )
    for _op in ("Max", "Min"):
        _spr = f" {_t} v, i; GetReduceRepeatMaxMinSpr(v, i); r[0] = bits(v); r[1] = bits(i);"
        add(f"WholeReduce{_op}.{_t}", f"{_bits} WholeReduce{_op}({_tensors}, m, {_strides}, ReduceOrder(p[8]));{_spr}")
        add(
            f"Reduce{_op}.{_t}.count",
            f"Reduce{_op}({_tensors}, at<{_t}>(p[2]), int32_t(p[3]), p[4] != 0);",
        )
        add(
            f"Reduce{_op}.{_t}.mask",
            f"Reduce{_op}({_tensors}, at<{_t}>(p[2]), int32_t(p[3]), int32_t(p[4]), int32_t(p[5]), p[6] != 0);",
        )
    for _op in ("Sum", "Max", "Min"):
        add(
            f"BlockReduce{_op}.{_t}",
            f"{_bits} BlockReduce{_op}({_tensors}, int32_t(p[4]), m, int32_t(p[5]), int32_t(p[6]), int32_t(p[7]));",
        )
    add(
        f"PairReduceSum.{_t}",
        f"{_bits} PairReduceSum({_tensors}, int32_t(p[4]), m, int32_t(p[5]), int32_t(p[6]), int32_t(p[7]));",
    )
    add(
        f"ReduceSum.{_t}.count",
        f"ReduceSum({_tensors}, at<{_t}>(p[2]), int32_t(p[3])); r[0] = bits(GetAccVal<{_t}>());",
    )
    add(
        f"ReduceSum.{_t}.mask",
        f"ReduceSum({_tensors}, at<{_t}>(p[2]), int32_t(p[3]), int32_t(p[4]), int32_t(p[5]));",
    )

# Compare: dst, src0, src1, mode, count | repeat, strides
for _t in ("half", "float", "int32_t"):
    _tensors = f"at<uint8_t>(p[0]), at<{_t}>(p[1]), at<{_t}>(p[2]), CMPMODE(p[3])"
    add(f"Compare.{_t}.count", f"Compare({_tensors}, uint32_t(p[4]));")
    add(f"Compare.{_t}.repeat", f"Compare({_tensors}, uint64_t(0), uint8_t(p[4]), {P3 % (5, 6, 7, 8, 9, 10)});")
    _scalar = f"at<uint8_t>(p[0]), at<{_t}>(p[1]), as<{_t}>(p[2]), CMPMODE(p[3])"
    add(f"Compares.{_t}.count", f"Compares({_scalar}, uint32_t(p[4]));")
    add(f"CompareScalar.{_t}.count", f"CompareScalar({_scalar}, uint32_t(p[4]));")
for _t in FLOATING:
    add(
        f"Compare.{_t}.register",
        f"uint64_t m[2] = {{uint64_t(p[4]), uint64_t(p[5])}}; SetCmpMask(at<uint64_t>(p[3]));"
        f" Compare(at<{_t}>(p[1]), at<{_t}>(p[2]), CMPMODE(p[6]), m, BinaryRepeatParams());"
        " GetCmpMask(at<uint64_t>(p[0]));",
    )
    _sel = f"at<{_t}>(p[0]), at<uint8_t>(p[1]), at<{_t}>(p[2])"
    add(f"Select.{_t}.tensor.count", f"Select({_sel}, at<{_t}>(p[3]), SELMODE(p[4]), uint32_t(p[5]));")
    add(
        f"Select.{_t}.scalar.count",
        f"Select({_sel}, as<{_t}>(p[3]), SELMODE::VSEL_TENSOR_SCALAR_MODE, uint32_t(p[5]));",
    )
    _bits = "uint64_t m[2] = {uint64_t(p[5]), uint64_t(p[6])};"
    _params = P3 % (8, 9, 10, 11, 12, 13)
    add(
        f"Select.{_t}.tensor.bits",
        f"{_bits} Select({_sel}, at<{_t}>(p[3]), SELMODE(p[4]), m, uint8_t(p[7]), {_params});",
    )
    add(
        f"Select.{_t}.scalar.bits",
        f"{_bits} Select({_sel}, as<{_t}>(p[3]), SELMODE::VSEL_TENSOR_SCALAR_MODE, m, uint8_t(p[7]), {_params});",
    )
    _set = f"SetVectorMask<{_t}>(uint64_t(p[6]), uint64_t(p[5])); SetCmpMask("
    _plain = f"at<{_t}>(p[0]), at<{_t}>(p[2]), at<{_t}>(p[3]), uint8_t(p[7]), {_params}"
    add(f"Select.{_t}.register", f"{_set}at<uint8_t>(p[1])); Select<{_t}, SELMODE::VSEL_CMPMASK_SPR>({_plain});")
    add(
        f"Select.{_t}.address",
        f"at<uint64_t>(p[14]).SetValue(0, uint64_t(uint32_t(at<uint8_t>(p[1]).GetPhyAddr())));"
        f" {_set}at<uint64_t>(p[14])); Select<{_t}, SELMODE::VSEL_TENSOR_TENSOR_MODE>({_plain});"
        " at<uint64_t>(p[14]).SetValue(0, 0);",
    )
    add(
        f"Select.{_t}.held_scalar",
        f"Duplicate(at<{_t}>(p[14]), as<{_t}>(p[3]), 16); {_set}at<{_t}>(p[14]));"
        f" Select({_sel}, uint8_t(p[7]), {_params});",
    )

for _t in FLOATING:
    add(f"Sort32.{_t}", f"Sort32(at<{_t}>(p[0]), at<{_t}>(p[1]), at<uint32_t>(p[2]), int32_t(p[3]));")
    add(
        f"MrgSort.{_t}",
        f"MrgSortSrcList<{_t}> s(at<{_t}>(p[1]), at<{_t}>(p[2]), at<{_t}>(p[3]), at<{_t}>(p[4]));"
        " const uint16_t n[4] = {uint16_t(p[5]), uint16_t(p[6]), uint16_t(p[7]), uint16_t(p[8])};"
        f" MrgSort(at<{_t}>(p[0]), s, MrgSort4Info(n, p[9] != 0, uint16_t(p[10]), uint16_t(p[11])));"
        " uint16_t a, b, c, d; GetMrgSortResult(a, b, c, d); r[0] = a; r[1] = b; r[2] = c; r[3] = d;",
    )
    add(
        f"Sort.{_t}",
        f"LocalTensor<{_t}> c, t = at<{_t}>(p[3]); Concat(c, at<{_t}>(p[1]), t, int32_t(p[4]));"
        f" Sort<{_t}, true>(at<{_t}>(p[0]), c, at<uint32_t>(p[2]), t, int32_t(p[4]));"
        f" Extract(at<{_t}>(p[5]), at<uint32_t>(p[6]), at<{_t}>(p[0]), int32_t(p[4]));"
        f" r[0] = GetSortOffset<{_t}>(3); r[1] = GetSortLen<{_t}>(5);",
    )

for _t in ("int16_t", "uint16_t", "half"):
    add(f"Transpose.{_t}", f"Transpose(at<{_t}>(p[0]), at<{_t}>(p[1]));")
for _t in ("int8_t", "half", "float"):
    add(
        f"Transpose.{_t}.planes",
        f"Transpose(at<{_t}>(p[0]), at<{_t}>(p[1]), at<uint8_t>(p[2]),"
        " {uint16_t(p[3]), uint16_t(p[4]), uint16_t(p[5]), uint16_t(p[6]), TransposeType(p[7])});",
    )
    _lists = (
        f"for (int i = 0; i < 16; ++i) {{ d[i] = at<{_t}>(p[0] + i * p[2]).GetPhyAddr();"
        f" s[i] = at<{_t}>(p[1] + i * p[3]).GetPhyAddr(); }}"
    )
    _params = "{p[4] != 0, p[5] != 0, uint8_t(p[6]), uint16_t(p[7]), uint16_t(p[8])}"
    add(f"TransDataTo5HD.{_t}", f"uint64_t d[16], s[16]; {_lists} TransDataTo5HD<{_t}>(d, s, {_params});")
add(
    "TransDataTo5HD.half.tensors",
    "LocalTensor<half> d[16], s[16]; for (int i = 0; i < 16; ++i) { d[i] = at<half>(p[0] + i * p[2]);"
    f" s[i] = at<half>(p[1] + i * p[3]); }} TransDataTo5HD<half>(d, s, {_params});",
)

# The chip's library overwrites UB from TMP_UB_OFFSET in two modes of Select.
add(
    "Select.scratch",
    "LocalTensor<uint32_t> s(TPosition::VECCALC, TMP_UB_OFFSET, 64);"
    " Duplicate(s, 0xabcdef01u, 64);"
    " Select(at<float>(p[0]), at<uint8_t>(p[1]), at<float>(p[2]), at<float>(p[3]), SELMODE(0), 64);"
    " r[0] = s.GetValue(31); Duplicate(s, 0xabcdef01u, 64);"
    " Select(at<float>(p[0]), at<uint8_t>(p[1]), at<float>(p[2]), at<float>(p[3]), SELMODE(2), 64);"
    " r[1] = s.GetValue(31); r[2] = s.GetValue(32); Duplicate(s, 0xabcdef01u, 64);"
    " Select(at<float>(p[0]), at<uint8_t>(p[1]), at<float>(p[2]), 2.0f, SELMODE(1), 64);"
    " r[3] = s.GetValue(31); r[4] = s.GetValue(32);",
)
# The state of the mask.
add(
    "mask.level0_stays",
    "Add(at<float>(p[0]), at<float>(p[1]), at<float>(p[2]), 5, 1, {1, 1, 1, 8, 8, 8});"
    " Sub<float, false>(at<float>(p[3]), at<float>(p[1]), at<float>(p[2]), MASK_PLACEHOLDER, 2, {1, 1, 1, 8, 8, 8});",
)
add(
    "mask.level2_resets",
    "SetVectorMask<float>(0, 7); Add(at<float>(p[0]), at<float>(p[1]), at<float>(p[2]), 5);"
    " Sub<float, false>(at<float>(p[3]), at<float>(p[1]), at<float>(p[2]), MASK_PLACEHOLDER, 1, {1, 1, 1, 8, 8, 8});",
)
add(
    "mask.reset",
    "SetVectorMask<half>(0, 7); ResetMask();"
    " Sub<half, false>(at<half>(p[3]), at<half>(p[1]), at<half>(p[2]), MASK_PLACEHOLDER, 1, {1, 1, 1, 8, 8, 8});",
)
add(
    "mask.counter",
    "SetMaskCount(); SetVectorMask<float, MaskMode::COUNTER>(0, uint64_t(p[4]));"
    " Sub<float, false>(at<float>(p[0]), at<float>(p[1]), at<float>(p[2]), MASK_PLACEHOLDER, 1,"
    f" {P3 % (5, 6, 7, 8, 9, 10)}); SetMaskNorm(); ResetMask();",
)
add(
    "mask.counter_argument",
    "SetMaskCount(); uint64_t m[2] = {uint64_t(p[4]), 0};"
    f" Sub(at<float>(p[0]), at<float>(p[1]), at<float>(p[2]), m, 1, {P3 % (5, 6, 7, 8, 9, 10)});"
    " SetMaskNorm(); ResetMask();",
)
add(
    "mask.count_form_uses_register",
    "SetVectorMask<half>(0, 7); Adds<half, false>(at<half>(p[0]), at<half>(p[1]), as<half>(p[2]), 1); ResetMask();",
)
add(
    "mask.length",
    "SetVectorMask<half>(int32_t(p[3]));"
    " Adds<half, false>(at<half>(p[0]), at<half>(p[1]), as<half>(p[2]), MASK_PLACEHOLDER, 1, {1, 1, 8, 8});"
    " ResetMask();",
)
add("mask.too_many", "Add(at<float>(p[0]), at<float>(p[1]), at<float>(p[2]), 65, 1, {1, 1, 1, 8, 8, 8});")
add(
    "mask.counter_needs_array",
    "SetMaskCount(); Add(at<float>(p[0]), at<float>(p[1]), at<float>(p[2]), 64, 1, {1, 1, 1, 8, 8, 8});",
)
