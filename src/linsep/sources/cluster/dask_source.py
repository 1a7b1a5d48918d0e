"""Rows on a Dask cluster: work is sent to the partitions, and answers that add up come back.

    first look     each worker looks at its partitions: lengths, labels, kinds of numbers
    scan           each worker scans its partitions; the scans are added up on the way; the first finds NaN
    take, sample   only the partitions that hold the rows are asked, and only these rows leave
    each           a function is sent to the rows
    blocks         one partition after another comes here: only for work that must see the rows in their order

A task depends only on its arguments, so another worker can redo what a lost worker had. Answers come in the order of
the partitions, or their order does not matter, and contain nothing that depends on how the rows are partitioned:
neither the number of partitions nor that of workers changes a verdict or a proof.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial, reduce
from itertools import chain, pairwise
from operator import add, itemgetter
from typing import Any, NamedTuple, final

import numpy as np

from linsep import deadline
from linsep._version import __version__
from linsep.errors import ArgumentError, ClusterError, InputError, LinsepError, MissingPackageError, ShapeError, shown
from linsep.faults import fault, few
from linsep.sources.base import Block, Facts, Floats, Ints, Label, Scan, Source, T, joined
from linsep.sources.cluster.partitions import (
    Columns,
    Known,
    Seen,
    Span,
    Unread,
    block_of,
    ids_from,
    looked,
    places_in,
    scan_partition,
    take_from,
    work_on,
)
from linsep.sources.files.labels import classes_of
from linsep.sources.inputs import is_elsewhere
from linsep.sources.memory import UNKNOWN_LENGTH
from linsep.sources.row_set import Marks
from linsep.tables import read_labels
from linsep.tables.exact_numbers import EXACT
from linsep.tables.given_rows import Missing
from linsep.tables.label_values import distinct
from linsep.tables.row_ids import RowIds

SAMPLE_BYTES = 1 << 24  # of the largest sample of rows held here, as for files; fixed, so that verdicts do not vary
LEAST_AT_HAND = 1 << 10  # rows, however long they are
OWN_SCHEDULERS = ("threads", "processes", "synchronous", "sync", "single-threaded", "threading", "multiprocessing")
PROTOCOLS = ("tcp", "tls", "ws", "wss", "ucx", "ucxx", "inproc")
FAN_IN = 8  # scans added up by one task, or here
A_THREAD = 4  # tasks for each thread, if it does not matter which worker does them
BUNDLES_A_THREAD = 2  # of partitions that workers hold
A_BUNDLE = (
    1 << 28
)  # bytes of such partitions at most: all are in memory at once, even if the worker had put them on disk
A_LOOK_S = 0.05  # seconds between two looks at the time limit, while answers are awaited
REFUSED_S = 2.0  # how long an address may refuse connections: a scheduler may be about to start
ONE_PROCESS = "Write the files with the same types, or open them without a scheduler: one process reads both types."
MOST_TRIED = 1000  # partitions computed one by one, to say which of them cannot be
MOST_AHEAD = 64  # partitions in progress at once for each thread of the cluster, while answers are read one by one


class Partition:
    """The rows of a partition, and its labels if they are separate: not computed yet."""

    __slots__ = ("x", "y")

    def __init__(self, x: Any, y: Any = None) -> None:
        self.x, self.y = x, y

    def name(self, place: int) -> str:
        """What error messages call it."""
        return self.x.name if isinstance(self.x, Unread) else f"partition {place}"


class DaskSource(Source):
    """The rows of the partitions of a Dask collection, or of files that workers read, in order."""

    def __init__(
        self,
        partitions: Sequence[Partition],
        columns: Columns,
        *,
        positive: Any = None,
        scheduler: Any = None,
        files: tuple[str, ...] = (),
        holding: tuple[Any, ...] = (),
    ) -> None:
        self._holding = holding  # collections whose partitions workers drop when no reference is left
        self._cluster = Cluster(scheduler)
        self._cluster.require_linsep()
        if not partitions:
            raise fault("no partition has rows", partitions=0)
        tasks = [(partial(looked, columns, part.name(k)), part.x, part.y) for k, part in enumerate(partitions)]
        seen = [_found(found) for found in self._first_read(tasks, partitions)]
        filled = [k for k, found in enumerate(seen) if found.rows]
        dropped = sum(found.dropped for found in seen)
        if not filled:
            raise (
                fault("all missing", rows=dropped, why="")
                if dropped
                else fault("no partition has rows", partitions=len(seen))
            )
        _require_alike({partitions[k].name(k): seen[k] for k in filled}, is_of_files=bool(files))
        first = seen[filled[0]]
        starts = np.cumsum([0, *(seen[k].rows for k in filled)])
        self._starts: Ints = starts.astype(np.int64)
        all_starts = np.cumsum([0, *(found.rows + found.dropped for found in seen)])
        self._own_starts: Ints = all_starts[filled].astype(np.int64)  # counting the rows that were dropped
        self._partitions = [partitions[k] for k in filled]
        self._places = [
            Span(partitions[k].name(k), int(start), seen[k].rows, seen[k].longest2)
            for k, start in zip(filled, starts[:-1], strict=True)
        ]
        values, codes, labels = _labels(seen, positive, files)
        self.facts = replace(
            _facts([seen[k] for k in filled], labels, files, columns.label),
            rows_left_out=dropped,
            ids=NumberIds(self, "file number" if files else "table number") if dropped else None,
        )
        self._known = Known(columns, replace(self.facts, names=None, files=()), values, codes, first.kind)

    def _first_read(self, tasks: Sequence[Any], partitions: Sequence[Partition]) -> list[Any]:
        """The first read; an error of the user's own code gets the number of the partition that it makes."""
        try:
            return self._cluster.compute(tasks)
        except LinsepError:
            raise
        except Exception as error:
            for k, task in enumerate(tasks[:MOST_TRIED]):
                try:
                    self._cluster.compute([task])
                except Exception as own:
                    raise ClusterError(
                        f"{partitions[k].name(k)} cannot be computed: {type(own).__name__}: {shown(str(own))}.",
                        fix="Correct the function that makes it: its traceback is above.",
                    ) from own
            raise error

    @property
    def cluster(self) -> "Cluster":
        """The cluster that does the work."""
        return self._cluster

    def ask(self, rows: Sequence[int], work: Callable[..., Sequence[Any] | Ints]) -> list[Any]:
        """For each of these rows, the answer of a function of the columns, of places in a partition and the partition.

        It runs only on the partitions that hold some of the rows.
        """
        wanted = np.asarray(rows, dtype=np.int64)
        held = np.searchsorted(self._starts, wanted, side="right") - 1
        tasks, order = [], []
        for k in np.unique(held).tolist():
            order += np.flatnonzero(held == k).tolist()
            places, part = wanted[held == k] - self._starts[k], self._partitions[k]
            tasks.append((partial(work, self._known.columns, places), part.x, part.y))
        found = [answer for answers in self._cluster.compute(tasks) for answer in answers]
        return [answer for _, answer in sorted(zip(order, found, strict=True), key=itemgetter(0))]

    def own_numbers(self, rows: Sequence[int]) -> list[Any]:
        """The numbers of these rows in the table, counting those that were dropped."""
        held = np.searchsorted(self._starts, np.asarray(rows, np.int64), side="right") - 1
        places = self.ask(rows, places_in)
        return [int(first + place) for first, place in zip(self._own_starts[held], places, strict=True)]

    @property
    def n_partitions(self) -> int:
        """How many partitions have rows."""
        return len(self._places)

    def scan(self, w: Floats, b: float, *, worst: int = 0) -> Scan:
        """Each worker scans its partitions; the scans are added up, in any order."""
        _ = self.facts.pair  # more than two labels are refused
        weights = np.ascontiguousarray(w, dtype=np.float64)
        tasks = [
            (partial(scan_partition, self._known, at, weights, float(b), worst), part.x, part.y)
            for at, part in zip(self._places, self._partitions, strict=True)
        ]
        with self._naming():
            total: Scan = self._cluster.total(tasks)
        self._note([total.longest2] * len(tasks))
        return total

    def require_finite(self) -> None:
        """Read the doubles that neither the first look nor a scan has read, and name the first that is not finite."""
        if self.facts.is_finite:
            return
        tasks = [
            (partial(looked, self._known.columns, at.name, reads=True), part.x, part.y)
            for at, part in zip(self._places, self._partitions, strict=True)
        ]
        self._note([_found(found).longest2 for found in self._cluster.compute(tasks)])

    def _note(self, longest2: Sequence[float]) -> None:
        """Keep for later scans that all is finite, and how long the rows of each partition are at most."""
        if not self.facts.is_finite:
            self._places = [replace(at, longest2=own) for at, own in zip(self._places, longest2, strict=True)]
            self.facts = replace(self.facts, is_finite=True)

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """While this is open, of several partitions that cannot be used the first is named, not the fastest."""
        try:
            yield
        except InputError:
            self.require_finite()
            raise

    def each(self, work: Callable[..., T], marks: Marks | None = None) -> Iterator[T]:
        """The results of a function for each partition, in order; at first few are in progress, then more and more."""
        with self._naming():
            yield from self._cluster.ahead(self._asked(work, marks))

    def _asked(self, work: Callable[..., T], marks: Marks | None) -> Iterator[Any]:
        for at, part in zip(self._places, self._partitions, strict=True):
            bits: Any = None
            if marks is not None:
                flags = marks.get(at.start, at.start + at.rows)
                if not flags.any():
                    continue
                bits = True if flags.all() else np.packbits(flags)
            yield partial(work_on, work, self._known, at, bits), part.x, part.y

    def blocks(self, random: np.random.Generator | None = None) -> Iterator[Block]:
        """One partition after another, fetched and held here."""
        order = range(self.n_partitions) if random is None else random.permutation(self.n_partitions).tolist()
        for k in order:
            part = self._partitions[k]
            (block,) = self._cluster.compute([(partial(block_of, self._known, self._places[k]), part.x, part.y)])
            yield block

    def take(self, rows: Sequence[int] | Ints) -> Block:
        """These rows, in this order, from the partitions that hold them."""
        wanted = np.asarray(rows, dtype=np.int64)
        distinct_rows, back = np.unique(wanted, return_inverse=True)
        edges = np.searchsorted(distinct_rows, self._starts)
        held = [(k, distinct_rows[a:b]) for k, (a, b) in enumerate(pairwise(edges.tolist())) if a < b]
        held = held or [(0, distinct_rows)]  # for no rows, an empty block
        tasks = [
            (partial(take_from, self._known, self._places[k], own), self._partitions[k].x, self._partitions[k].y)
            for k, own in held
        ]
        found = joined(self._cluster.compute(tasks))
        return found if np.array_equal(distinct_rows, wanted) else found.take(back)


class AskedIds(RowIds):
    """Names that are looked up from here: they are not sent to workers with the facts about the rows."""

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return _nothing, ()


def _nothing() -> None:
    """What a worker gets instead of names."""


@final
class PartitionIds(AskedIds):
    """What the rows of partitions are called, by their column or their index; looked up where the rows lie."""

    def __init__(self, source: DaskSource, column: str | None) -> None:
        self.source, self.column = source, column

    def at(self, rows: Sequence[int]) -> Sequence[Any]:
        """What these rows are called."""
        return self.source.ask(rows, partial(ids_from, column=self.column))


@final
class NumberIds(AskedIds):
    """The numbers of rows, counting those that were dropped."""

    def __init__(self, source: DaskSource, word: str) -> None:
        self.source, self.word = source, word

    def at(self, rows: Sequence[int]) -> Sequence[Any]:
        """What these rows are called."""
        return self.source.own_numbers(rows)


def _facts(seen: Sequence[Seen], labels: tuple[Label, ...], files: tuple[str, ...], label: str | None) -> Facts:
    """What the first read found, for all partitions together."""
    n_rows, entries = sum(found.rows for found in seen), sum(found.entries for found in seen)
    bits = [found.bits for found in seen]
    return Facts(
        n_rows=n_rows,
        n_columns=seen[0].columns,
        labels=labels,
        names=seen[0].names,
        numbers="exact-integers" if any(found.is_long for found in seen) else "binary64",
        integer_bits=None if None in bits else max(own or 0 for own in bits),
        is_finite=all(found.longest2 != UNKNOWN_LENGTH for found in seen),  # what was read is
        at_hand=max(LEAST_AT_HAND, int(SAMPLE_BYTES / (12 * entries / n_rows + 8))),
        is_elsewhere=True,
        files=files,
        label_column=label,
    )


def _found(found: Seen | InputError) -> Seen:
    if isinstance(found, InputError):
        raise found
    return found


def _require_alike(seen: Mapping[str, Seen], *, is_of_files: bool) -> None:
    """Refuse, by name, partitions whose columns, types or layouts differ; empty ones are not compared."""
    first, known = next(iter(seen.items()))
    for where, found in seen.items():
        if (found.columns, found.names) != (known.columns, known.names):
            told = [few(own.names or (), 8) or str(own.columns) for own in (found, known)]
            raise fault("partition columns", where, seen=told[0], known=told[1], first=first)
        if found.is_sparse != known.is_sparse:
            layouts = ["sparse" if own.is_sparse else "dense" for own in (found, known)]
            raise fault("partition layout", where, seen=layouts[0], known=layouts[1], first=first)
        types = list(zip((*found.types, found.kind), (*known.types, known.kind), strict=True))
        place = next((j for j, (own, other) in enumerate(types) if own != other), None)
        if place is not None:
            own, other = types[place]
            advice = {"fix": ONE_PROCESS} if is_of_files else {}
            what = _column_of(known, place)
            raise fault("partition types", where, what=what, seen=own, known=other, first=first, **advice)


def _column_of(known: Seen, place: int) -> str:
    """What has another type: a column, the labels, or the numbers that columns are read as."""
    if place == len(known.types) - 1:
        return "the labels are"
    is_column = known.names is not None and place < len(known.names) and len(known.types) > len(known.names)
    return f"column {known.names[place]!r} is" if known.names and is_column else "the numbers are"


def _labels(
    seen: Sequence[Seen], positive: Any, files: tuple[str, ...]
) -> tuple[tuple[Label, ...], tuple[int, ...], tuple[Label, ...]]:
    """The values of the labels in increasing order, the class of each, and what the classes are called."""
    every = list(dict.fromkeys(value for found in seen for value in found.labels))
    values, _ = distinct(read_labels(every))
    if files and all(isinstance(value, float) and value.is_integer() and abs(value) < EXACT for value in values):
        values = [int(value) for value in values]  # as in any file
    orders = {found.order for found in seen if found.rows}
    labels, marks = classes_of(values, positive, files or ("",), orders.pop() if len(orders) == 1 else None)
    codes = tuple(int(mark > 0) if len(labels) == 2 else mark for mark in (marks[value] for value in values))
    return tuple(values), codes, labels


# The cluster ---------------------------------------------------------------------------------------


class Holder(NamedTuple):
    """The worker that holds a partition, and its bytes."""

    worker: str
    size: int


class Cluster:
    """The scheduler that runs the tasks: Dask's own, as it is configured, or the one that is named."""

    def __init__(self, scheduler: Any = None) -> None:
        self.dask = _dask()
        self.scheduler = _scheduler(scheduler)
        self._holders: dict[Any, Holder] = {}
        self._threads: Mapping[str, int] = {}

    def compute(self, tasks: Sequence[Any]) -> list[Any]:
        """The result of each task (a function and its arguments), in order."""
        if not tasks:
            return []
        bundles = self._bundled(tasks)
        parts = self._run([self._together(_in_turn, [tasks[k] for k in own]) for own in bundles])
        found = dict(zip(chain.from_iterable(bundles), chain.from_iterable(parts), strict=True))
        return [found[k] for k in range(len(tasks))]

    def total(self, tasks: Sequence[Any]) -> Any:
        """The sum of the results of the tasks, many added up by further tasks; their order must not matter."""
        level = [self._together(_added_in_turn, [tasks[k] for k in own]) for own in self._bundled(tasks)]
        while len(level) > FAN_IN:
            groups = [level[k : k + FAN_IN] for k in range(0, len(level), FAN_IN)]
            level = [self._delayed(_added, *group) for group in groups]
        return reduce(add, self._run(level))

    def ahead(self, tasks: Iterator[Any]) -> Iterator[Any]:
        """The results of the tasks one by one; at first one per thread is started, then twice as many each time."""
        threads = self.n_threads
        at_once, waiting = threads, list(tasks)
        while waiting:
            yield from self.compute(waiting[:at_once])
            del waiting[:at_once]
            at_once = min(2 * at_once, MOST_AHEAD * threads)

    def _bundled(self, tasks: Sequence[Any]) -> Sequence[Sequence[int]]:
        """The places of tasks in bundles, since each costs milliseconds: of those about files or about rows held."""
        one_by_one = [(k,) for k in range(len(tasks))]
        if len(tasks) <= A_THREAD:
            return one_by_one
        parts = [own for task in tasks for own in task[1:] if self.dask.is_dask_collection(own)]
        if parts:
            held = self._held([_key(part) for part in parts])
            return one_by_one if held is None else self._by_worker([held[_key(task[1])] for task in tasks])
        size = -(-len(tasks) // (A_THREAD * self.n_threads))
        return [range(k, min(k + size, len(tasks))) for k in range(0, len(tasks), size)]

    def _held(self, keys: Sequence[Any]) -> dict[Any, Holder] | None:
        """Where partitions are, if workers hold all of them. (If one is lost later, its bundle is done elsewhere.)"""
        client = self.client
        known = {} if client is None else client.futures
        if not all(key in known and known[key].status == "finished" for key in keys):
            return None
        if not self._holders.keys() >= set(keys):
            from distributed import Future

            sizes, places = client.nbytes(keys, summary=False), client.who_has([Future(key, client) for key in keys])
            self._holders |= {key: Holder(min(own), sizes[key]) for key, own in places.items() if own and key in sizes}
            self._threads = client.nthreads()
        return self._holders if self._holders.keys() >= set(keys) else None

    def _by_worker(self, held: Sequence[Holder]) -> list[list[int]]:
        """The places of partitions in bundles that one worker holds: a few for each thread, none of them large."""
        whole = Counter[str]()
        for own in held:
            whole[own.worker] += own.size
        bundles: dict[str, list[list[int]]] = {}
        filled: dict[str, float] = {}
        for k, own in enumerate(held):
            most = min(A_BUNDLE, whole[own.worker] / (BUNDLES_A_THREAD * self._threads.get(own.worker, 1)))
            if own.worker not in bundles or filled[own.worker] + own.size > most:
                bundles.setdefault(own.worker, []).append([])
                filled[own.worker] = 0
            bundles[own.worker][-1].append(k)
            filled[own.worker] += own.size
        return list(chain.from_iterable(bundles.values()))

    def _together(self, way: Callable[..., Any], tasks: Sequence[Any]) -> Any:
        """Tasks as one; a single sum needs no bundle."""
        if any(self.dask.is_dask_collection(own) for own in tasks[0][1:]):
            return self._delayed(
                partial(way, [task[0] for task in tasks]), *(own for task in tasks for own in task[1:])
            )
        return self._delayed(partial(way, [partial(work, *arguments) for work, *arguments in tasks]))

    def _delayed(self, work: Callable[..., Any], *arguments: Any) -> Any:
        return self.dask.delayed(work, pure=False, traverse=False)(*arguments)

    def _run(self, delayed: Sequence[Any]) -> list[Any]:
        try:
            if not deadline.is_limited():
                return list(self.dask.compute(*delayed, scheduler=self.scheduler, traverse=False))
            client = self.client
            return self._run_until(delayed) if client is None else _awaited(client, delayed)
        except LinsepError:
            raise
        except Exception as error:
            if (told := _explained(error)) is error:
                raise
            raise told from error

    def _run_until(self, delayed: Sequence[Any]) -> list[Any]:
        """The same in this process, unless the time limit passes: then tasks that have not begun are given up."""
        from dask.callbacks import Callback

        deadline.require()
        with Callback(posttask=lambda *_: deadline.require()):
            return list(self.dask.compute(*delayed, scheduler=self.scheduler, traverse=False))

    @property
    def client(self) -> Any:
        """The client of a distributed cluster; None if the work is done in this process."""
        from dask.base import get_scheduler

        owner: Any = getattr(get_scheduler(scheduler=self.scheduler), "__self__", None)
        if type(owner).__name__ != "Client":
            return None
        if owner.status in ("closing", "closed"):
            raise _closed()
        return owner

    @property
    def n_threads(self) -> int:
        """How many tasks run at once."""
        from linsep.cores import thread_count

        client = self.client
        return thread_count() if client is None else max(1, sum(client.nthreads().values()))

    def require_linsep(self) -> None:
        """Refuse workers without linsep, or with another version of it, by name."""
        client = self.client
        if client is None:
            return
        try:
            versions = client.run(_version_of(), on_error="return")
        except Exception as error:
            raise _explained(error) from error
        if not versions:
            raise ClusterError(
                f"The scheduler at {client.scheduler.address} has no workers.", fix="Start some: dask worker ADDRESS."
            )
        for worker, version in sorted(versions.items()):
            if isinstance(version, str) and version != __version__:  # else the worker was lost meanwhile
                has = f"linsep {version}" if version else "no linsep"
                raise ClusterError(
                    f"Worker {worker} has {has}; here it is linsep {__version__}.",
                    fix="Install the same version on every worker.",
                )


def _awaited(client: Any, delayed: Sequence[Any]) -> list[Any]:
    """The results from a cluster, unless the time limit passes, when its workers may not even answer."""
    deadline.require()
    futures = client.compute(list(delayed), optimize_graph=True, traverse=False)

    async def results() -> Any:
        return await client.gather(futures, asynchronous=True)

    waiting = asyncio.run_coroutine_threadsafe(results(), client.loop.asyncio_loop)
    try:
        while True:
            with suppress(TimeoutError):
                return list(waiting.result(A_LOOK_S))
            if waiting.done():  # the TimeoutError was that of the cluster
                return list(waiting.result())
            deadline.require()
    finally:
        if not waiting.done():
            waiting.cancel()

            async def cancel() -> None:
                await client.cancel(futures, asynchronous=True, force=True)

            asyncio.run_coroutine_threadsafe(cancel(), client.loop.asyncio_loop)


def _key(part: Any) -> Any:
    """The key that a cluster knows a partition by, if it holds it: those of dataframes have another name for it."""
    return getattr(part.dask.get(part.key), "target", part.key)


def _in_turn(calls: Sequence[Callable[..., Any]], *parts: Any) -> list[Any]:
    """The results of these calls, one after the other; each has as many of the arguments."""
    return list(_each(calls, parts))


def _added_in_turn(calls: Sequence[Callable[..., Any]], *parts: Any) -> Any:
    """The sum of the results of these calls; only one result at a time is held besides the sum."""
    return reduce(add, _each(calls, parts))


def _each(calls: Sequence[Callable[..., Any]], parts: Sequence[Any]) -> Iterator[Any]:
    n = len(parts) // len(calls)
    return (call(*parts[n * k : n * k + n]) for k, call in enumerate(calls))


def _added(*parts: Any) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _version_of() -> Callable[[], str]:
    def version() -> str:  # sent by value: a worker without linsep can run it
        try:
            from linsep._version import __version__ as found
        except ImportError:
            return ""
        return found

    return version


def _scheduler(given: Any) -> Any:
    """A scheduler as Dask accepts it: a client, a function, or one of Dask's names; an address becomes a client."""
    if given is None or callable(given) or type(given).__name__ == "Client" or given in OWN_SCHEDULERS:
        return given
    if isinstance(given, str):
        address = given if "://" in given else f"tcp://{given}"
        protocol, _, place = address.partition("://")
        if protocol in PROTOCOLS and ":" in place:
            return _client_at(address)
        raise ArgumentError(
            f"scheduler is {given!r}: it must be an address such as tcp://HOST:8786, or one of "
            f"{few(OWN_SCHEDULERS, len(OWN_SCHEDULERS))}."
        )
    if hasattr(given, "scheduler_address"):  # a cluster of Dask
        return _client_at(given.scheduler_address)
    raise ArgumentError(f"scheduler is {shown(given)}: it must be a client of Dask, a cluster, or an address.")


def _client_at(address: str) -> Any:
    """A client of the scheduler at this address."""
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingPackageError("distributed", "dask", "Clusters") from error
    try:
        with ThreadPoolExecutor(1) as thread:  # a notebook has an event loop of its own
            kind = thread.submit(asyncio.run, _kind_at(address)).result()
        if kind == "Scheduler":
            return Client(address, set_as_default=False)
        raise ValueError(f"what answers is a {kind}")
    except Exception as error:  # a web server's answer, say, is read as a message of 5 EB
        raise ClusterError(
            f"No scheduler answers at {address}.", fix="Start one (dask scheduler), or check the address."
        ) from error


async def _kind_at(address: str) -> Any:
    """What kind of server is at this address, as it says itself. A client would wait for ever if nothing answers."""
    import dask.config
    from dask.utils import parse_timedelta
    from distributed import Security
    from distributed.core import rpc

    seconds = parse_timedelta(dask.config.get("distributed.comm.timeouts.connect"))
    async with asyncio.timeout(seconds):
        await _require_listener(address, min(seconds, REFUSED_S))
        async with rpc(address, connection_args=Security().get_connection_args("client")) as there:
            return (await there.identity())["type"]


async def _require_listener(address: str, seconds: float) -> None:
    """Raise if the address still refuses connections after some seconds: Dask would try for half a minute."""
    from distributed.comm.addressing import parse_address, parse_host_port

    protocol, place = parse_address(address)
    if protocol not in ("tcp", "tls"):
        return
    host, port = parse_host_port(place)
    end = time.monotonic() + seconds
    while True:
        try:
            _, stream = await asyncio.open_connection(host, port)
        except OSError:  # of several addresses, as localhost may have, not a ConnectionRefusedError
            if time.monotonic() >= end:
                raise
            await asyncio.sleep(0.1)
        else:
            stream.close()
            return


def _explained(error: Exception) -> Exception:
    """An error about the cluster in our words; other errors unchanged."""
    kind, said = type(error).__name__, " ".join(str(error).split())
    if kind == "KilledWorker":
        worker = getattr(getattr(error, "last_worker", None), "address", "a worker")
        return ClusterError(
            f"Workers died repeatedly during the same piece of work; the last one was {worker}.",
            fix="They may have too little memory: use smaller partitions, or workers with more.",
        )
    if kind == "ClosedClientError":
        return _closed()
    if isinstance(error, ModuleNotFoundError):
        return ClusterError(f"A worker has no {error.name}.", fix="Install it on every worker.")
    if "lost dependencies" in said:  # the cluster is well, the graph is not
        return ClusterError(
            f"Dask gave up part of the work: {said.rstrip('. ')}.",
            fix="Make the collection again, or compute it by itself: something that it is made of is no longer held.",
        )
    if kind in ("CommClosedError", "CancelledError", "FutureCancelledError", "FuturesCancelledError", "TimeoutError"):
        return ClusterError(f"The cluster no longer answers: {said.rstrip('. ') or kind}.", fix="Start it again.")
    if isinstance(error, OSError):
        return ClusterError(f"A worker could not read its rows: {said}.")
    return error


def _closed() -> ClusterError:
    return ClusterError("The client of Dask is closed.", fix="Make another, and open the rows with it.")


def _dask() -> Any:
    try:
        import dask
    except ImportError as error:
        raise MissingPackageError("dask", "dask", "Clusters") from error
    return dask


# Collections ---------------------------------------------------------------------------------------


def source_of(
    X: Any,
    label: Any = None,
    *,
    columns: Sequence[str | int] | None = None,
    positive: Any = None,
    scheduler: Any = None,
    ids: str | None = None,
    missing: Missing = None,
) -> DaskSource:
    """A Dask dataframe or array as a source, with labels of the same partitions or the name of its label column."""
    if label is None:
        raise ArgumentError("y is missing: each row of X needs a label.")
    name = label if isinstance(label, str) else None
    _require_collection("X", X)
    _require_collection("y", label)
    if getattr(X, "ndim", 2) == 1 and getattr(X, "chunks", None) is None:
        raise ShapeError(
            f"X is a {type(X).__name__} of Dask; a table has two dimensions, rows and columns.",
            fix="A single column is X.to_frame().",
        )
    if isinstance(label, int | np.integer):
        raise ArgumentError(
            f"The label is {label}, a number: columns of a Dask collection have no positions.",
            fix="Give the name of the label column, or a Dask series or array of the same partitions.",
        )
    if name is None and not is_elsewhere(label):
        raise ArgumentError(
            f"X is a Dask collection, but its labels are of type {type(label).__name__}.",
            fix="Give a Dask series or array of the same partitions, or the name of the label column.",
        )
    if not (name is None and columns is None and ids is None) and getattr(X, "chunks", None) is not None:
        raise ArgumentError("A Dask array has no column names: give its labels as a Dask array, and no ids.")
    rows = _delayed_parts(X)
    labels = [None] * len(rows) if name is not None else _delayed_parts(label, like=X)
    if len(rows) != len(labels):
        raise ArgumentError(
            f"X has {len(rows)} partitions, but y has {len(labels)}.",
            fix="Partition y as X is: take both from one dataframe, or rechunk y.",
        )
    chosen = Columns(name, None if columns is None else tuple(map(str, columns)), ids, missing == "drop")
    parts = [Partition(own, known) for own, known in zip(rows, labels, strict=True)]
    source = DaskSource(parts, chosen, positive=positive, scheduler=scheduler, holding=(X, label))
    if ids is not None or _has_names(X, source.n_rows + source.facts.rows_left_out):
        source.facts = replace(source.facts, ids=PartitionIds(source, ids))
    return source


def _require_collection(name: str, given: Any) -> None:
    """Refuse what Dask has besides tables: their attributes answer to any name, or they hold any objects."""
    kind = type(given).__name__
    if kind.startswith("Delayed"):
        raise ArgumentError(
            f"{name} is a Delayed of Dask, whose partitions are not known.",
            fix="Make a collection of it: dask.dataframe.from_delayed or dask.array.from_delayed.",
        )
    if kind in ("Bag", "Item"):
        raise ArgumentError(
            f"{name} is a {kind} of Dask, not a table.", fix="Make a table of a bag: bag.to_dataframe()."
        )


def _has_names(X: Any, n_rows: int) -> bool:
    """Whether the index of a dataframe names its rows: text, or numbers that are not 0, 1, ... over all partitions."""
    index = getattr(getattr(X, "_meta", None), "index", None)
    if index is None or getattr(X, "chunks", None) is not None:
        return False
    if index.dtype.kind not in "iu" or index.name is not None:
        return True
    ends = X.divisions if X.known_divisions else (0, n_rows - 1)
    return (ends[0], ends[-1]) != (0, n_rows - 1)


def _delayed_parts(X: Any, like: Any = None) -> list[Any]:
    """The partitions of a dataframe, a series or a bag; the rows of chunks of an array."""
    chunks = getattr(X, "chunks", None)
    if chunks is None:
        return list(X.to_delayed())
    known = getattr(like, "chunks", None)
    if X.ndim == 1:
        if known is not None and known[0] != chunks[0] and not np.isnan([*known[0], *chunks[0]]).any():
            X = X.rechunk((known[0],))
        return list(X.to_delayed().ravel())
    if X.ndim == 2:
        return list((X if len(chunks[1]) == 1 else X.rechunk({1: -1})).to_delayed()[:, 0])
    raise fault("array shape", name="X", seen=X.shape)
