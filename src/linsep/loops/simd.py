"""Dot products of rows of floats with double weights, eight entries at a time, the last few under a mask.

The compiler's own loop finishes each row one entry at a time, which is slow for short rows. And for short rows in the
cache, adding up lanes and branching takes longer than reading: `four_ahead` lets four rows share both.
`python benchmarks/lanes.py` measures the gain.

Both add up a row in the same order, whatever its place in memory, so a score is the same to the last bit.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, register_jitable

LINE, LANES = 64, 8  # bytes and doubles in a cache line
IN_CACHE = 1 << 21  # numbers that the caches may hold, more or less
SHORT_ROW = 32  # up to this many columns four rows at a time are faster than one
BYTES_UNDER_WAY, MOST_UNDER_WAY = 3072, 12  # measured: fetched earlier, rows push each other out again

_i1, _i32, _i64, _f64 = ir.IntType(1), ir.IntType(32), ir.IntType(64), ir.DoubleType()
_doubles = ir.VectorType(_f64, LANES)
_indices = ir.VectorType(_i64, LANES)
_mask = ir.VectorType(_i1, LANES)
_four_doubles, _four_bytes = ir.VectorType(_f64, 4), ir.VectorType(ir.IntType(8), 4)
_zeros = ir.Constant(_doubles, [_f64(0.0)] * LANES)
_lanes = ir.Constant(_indices, [_i64(k) for k in range(LANES)])


@intrinsic
def row_dot(typing_context: Any, values: Any, i: Any, w: Any) -> Any:
    """x_i·w for row i of a C-ordered float64 or float32 table, summed in doubles."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row, weights, length = _row_and_weights(context, builder, signature.args, args)
        [sums] = _sum_lanes(builder, [row], weights, length)
        return _sum(builder, sums)

    return types.float64(values, i, w), emit


@intrinsic
def four_ahead(typing_context: Any, values: Any, y: Any, i: Any, w: Any, b: Any, near: Any) -> Any:
    """How many of the four short rows from i on come before the first without near < y·score < inf.

    The scores are those of `row_dot`, to the last bit.
    """

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows, weights, length = _four_rows(context, builder, signature, args)
        sums = _sum_lanes(builder, rows, weights, length)
        scores = builder.fadd(_sum_four(builder, sums), _splat(builder, args[4], _four_doubles))
        labels = context.make_array(signature.args[1])(context, builder, args[1])
        place = builder.bitcast(builder.gep(labels.data, [args[2]]), _four_bytes.as_pointer())
        signed = builder.fmul(builder.sitofp(builder.load(place, align=1), _four_doubles), scores)
        right = builder.and_(
            builder.fcmp_ordered(">", signed, _splat(builder, args[5], _four_doubles)),
            builder.fcmp_ordered("<", signed, ir.Constant(_four_doubles, [_f64(float("inf"))] * 4)),
        )
        wrong = builder.zext(builder.not_(builder.bitcast(right, ir.IntType(4))), _i64)
        return builder.cttz(builder.or_(wrong, _i64(16)), _i1(1))

    return types.int64(values, y, i, w, b, near), emit


def _four_rows(context: Any, builder: Any, signature: Any, args: Any) -> tuple[list[Any], Any, Any]:
    """Where the rows from i on begin; args are (table, y, i, w, ...)."""
    kinds, given = zip(*[(signature.args[k], args[k]) for k in (0, 2, 3)], strict=True)
    row, weights, length = _row_and_weights(context, builder, kinds, given)
    return [builder.gep(row, [builder.mul(_i64(k), length)]) for k in range(4)], weights, length


def _row_and_weights(context: Any, builder: Any, kinds: Any, args: Any) -> tuple[Any, Any, Any]:
    """Where row i and the weights begin, and how long they are; args are (table, i, w)."""
    table = context.make_array(kinds[0])(context, builder, args[0])
    w = context.make_array(kinds[2])(context, builder, args[2])
    length = builder.extract_value(w.shape, 0)
    return builder.gep(table.data, [builder.mul(args[1], length)]), w.data, length


def _sum_lanes(builder: Any, rows: list[Any], weights: Any, length: Any) -> list[Any]:
    """Each row's eight sums: lane k adds up the products k, k + 8, k + 16, ..."""
    totals = [cgutils.alloca_once(builder, _doubles) for _ in rows]
    position = cgutils.alloca_once(builder, _i64)
    check, body, rest = (builder.append_basic_block(name) for name in ("check", "body", "rest"))
    for total in totals:
        builder.store(_zeros, total)
    builder.store(_i64(0), position)
    builder.branch(check)

    builder.position_at_end(check)
    at = builder.load(position)
    after = builder.add(at, _i64(LANES))
    builder.cbranch(builder.icmp_unsigned("<=", after, length), body, rest)

    def add_entries(mask: Any = None) -> list[Any]:
        w = _load(builder, weights, at, mask)
        pairs = zip(totals, [_load(builder, row, at, mask) for row in rows], strict=True)
        return [_add_product(builder, builder.load(total), x, w) for total, x in pairs]

    builder.position_at_end(body)
    for total, added in zip(totals, add_entries(), strict=True):
        builder.store(added, total)
    builder.store(after, position)
    builder.branch(check)

    builder.position_at_end(rest)
    return add_entries(builder.icmp_unsigned("<", _lanes, _splat(builder, builder.sub(length, at))))


def _prefetcher(cache: int) -> Any:
    """An instruction that asks for the line of an element of a C-ordered array, to be read, into one of the caches."""

    @intrinsic
    def prefetch(typing_context: Any, values: Any, at: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, args[0])
            bytes_ = ir.IntType(8).as_pointer()
            place = builder.bitcast(builder.gep(array.data, [args[1]]), bytes_)
            kind = ir.FunctionType(ir.VoidType(), [bytes_, _i32, _i32, _i32])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            builder.call(function, [place, _i32(0), _i32(4 - cache), _i32(1)])  # to read, how near, data
            return context.get_dummy_value()

        return types.void(values, at), emit

    return prefetch


prefetch_near, prefetch_far = _prefetcher(1), _prefetcher(2)


@register_jitable(forceinline=True)
def prefetch_line(values: Any, at: Any) -> Any:
    """Ask for the line that holds the element at this place.

    Of a table that the last cache may hold, into the first cache. Of a larger one, whose lines are long under way, into
    the second: it can wait for more of them.
    """
    if values.size > IN_CACHE:
        prefetch_far(values, at)
    else:
        prefetch_near(values, at)


@intrinsic
def in_a_line(typing_context: Any, values: Any) -> Any:
    """How many elements of an array stand in a cache line: known when a loop is compiled, as `itemsize` is not."""
    size = LINE * 8 // values.dtype.bitwidth
    return types.uint64(values), lambda context, builder, signature, args: _i64(size)


@register_jitable
def rows_under_way(row_bytes: Any) -> Any:
    """How many rows of this size the memory can be asked for at a time, at its best."""
    return max(2, min(MOST_UNDER_WAY, BYTES_UNDER_WAY // max(1, row_bytes)))


def _load(builder: Any, base: Any, at: Any, mask: Any = None) -> Any:
    """Eight entries as doubles; those outside the mask are 0."""
    element = base.type.pointee
    vector = ir.VectorType(element, LANES)
    place = builder.bitcast(builder.gep(base, [at]), vector.as_pointer())
    size = 8 if element == _f64 else 4
    if mask is None:
        entries = builder.load(place, align=size)
    else:
        kind = ir.FunctionType(vector, [vector.as_pointer(), _i32, _mask, vector])
        load = cgutils.get_or_insert_function(builder.module, kind, f"llvm.masked.load.v{LANES}f{8 * size}.p0")
        entries = builder.call(load, [place, _i32(size), mask, ir.Constant(vector, None)])
    return entries if element == _f64 else builder.fpext(entries, _doubles)


def _splat(builder: Any, value: Any, kind: Any = _indices) -> Any:
    undefined = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(undefined, value, _i32(0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_i32, kind.count), None))


def _add_product(builder: Any, total: Any, a: Any, b: Any) -> Any:
    return builder.fadd(total, builder.fmul(a, b, flags=("contract",)), flags=("contract",))


def _sum(builder: Any, vector: Any) -> Any:
    """The eight sums added up, by the same tree as in `_sum_four`."""
    half = _fold(builder, vector)
    a, b, c, d = (builder.extract_element(half, _i32(k)) for k in range(4))
    return builder.fadd(builder.fadd(a, b), builder.fadd(c, d))


def _sum_four(builder: Any, vectors: list[Any]) -> Any:
    """Four times eight sums added up, as one vector of four."""
    a, b, c, d = (_fold(builder, vector) for vector in vectors)
    ab = builder.fadd(_shuffle(builder, a, b, 0, 4, 2, 6), _shuffle(builder, a, b, 1, 5, 3, 7))
    cd = builder.fadd(_shuffle(builder, c, d, 0, 4, 2, 6), _shuffle(builder, c, d, 1, 5, 3, 7))
    return builder.fadd(_shuffle(builder, ab, cd, 0, 1, 4, 5), _shuffle(builder, ab, cd, 2, 3, 6, 7))


def _fold(builder: Any, vector: Any) -> Any:
    low = _shuffle(builder, vector, vector, 0, 1, 2, 3)
    high = _shuffle(builder, vector, vector, 4, 5, 6, 7)
    return builder.fadd(low, high)


def _shuffle(builder: Any, a: Any, b: Any, *places: int) -> Any:
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_i32, len(places)), [_i32(k) for k in places]))
