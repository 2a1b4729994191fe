"""Throughput and memory of live models against a loopback server, beside a bare SDK loop and, if given, Inspect AI.

    python -m benchmarks.throughput [--calls 3000] [--rounds 3] [--memory 50000] [--inspect PYTHON]

The server runs in a process of its own and answers after 50 ms; 100 calls are in flight. Ours stores every attempt
durably; the bare loop stores nothing. Rounds alternate between the two, so that a busy machine slows both.
``--inspect`` names the Python of an environment in which Inspect AI is installed.
"""

import argparse
import asyncio
import multiprocessing
import os
import statistics
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path

import anthropic

from regatta_lib.live import Live
from regatta_lib.params import Endpoint
from regatta_lib.records import Request
from regatta_lib.transcripts import Transcripts
from tests.server import Server

LATENCY, IN_FLIGHT, PER_SUITE = 0.05, 100, 1_110
PROMPT = "A scenario, a rule, and the question whether the one would expose a breach of the other. " * 22


def params(number: int) -> dict:
    """A judge's request: about two thousand characters."""
    return {"model": "judge", "max_tokens": 300, "messages": [{"role": "user", "content": f"{number} {PROMPT}"}]}


def serve(connection) -> None:
    """The server's process: says where it is, and ends when told."""
    with Server(latency=LATENCY) as server:
        server.received = deque(maxlen=1)
        connection.send(server.url)
        connection.recv()


@contextmanager
def server_process() -> Iterator[str]:
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(there,), daemon=True)
    process.start()
    yield here.recv()
    here.send("stop")
    process.join(10)


async def in_flight(calls: int, call: Callable) -> float:
    """Make the calls with a fixed number of workers. Returns calls per second."""
    numbers = iter(range(calls))

    async def worker() -> None:
        for number in numbers:
            await call(number)

    started = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))
    return calls / (time.perf_counter() - started)


async def bare(url: str, calls: int) -> float:
    """The SDK alone."""
    async with anthropic.AsyncAnthropic(api_key="dummy", base_url=url, max_retries=0) as client:
        return await in_flight(calls, lambda number: client.messages.create(**params(number)))


async def ours(url: str, calls: int, folder: Path, every: int = 0, memory: list | None = None) -> float:
    """Live models with durable transcripts; the resident memory is noted after each ``every`` calls."""
    place = Endpoint(protocol="anthropic", base_url=url, model="judge", concurrency=IN_FLIGHT, timeout=30.0)
    transcripts = Transcripts(folder)

    async def call(number: int) -> None:
        reply = await model.complete(Request(f"coverage/own.S1.cell_{number // PER_SUITE}.r1/{number}", params(number)))
        assert reply.state == "answered", reply.error
        if every and (number + 1) % every == 0:
            memory.append((number + 1, resident()))

    async with aclosing(Live(place, transcripts)) as model:
        rate = await in_flight(calls, call)
    transcripts.close()
    return rate


def resident() -> float:
    """Resident memory of this process in MB (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def inspect_rate(python: str, url: str, calls: int) -> float:
    """Inspect AI on the same server, in its own environment."""
    script = Path(__file__).with_name("inspect_throughput.py")
    with tempfile.TemporaryDirectory() as folder:
        command = [python, str(script), url, str(calls), str(IN_FLIGHT), folder]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=3_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", type=int, default=50_000)
    parser.add_argument("--inspect", metavar="PYTHON")
    args = parser.parse_args()
    with server_process() as url, tempfile.TemporaryDirectory(dir=".") as folder:
        asyncio.run(bare(url, 500))
        ratios = []
        for number in range(1, args.rounds + 1):
            alone = asyncio.run(bare(url, args.calls))
            stored = asyncio.run(ours(url, args.calls, Path(folder) / f"round{number}"))
            ratios.append(stored / alone)
            print(f"round {number}: bare SDK {alone:.0f} calls/s, ours {stored:.0f} calls/s", flush=True)
            if args.inspect:
                rate = inspect_rate(args.inspect, url, args.calls)
                print(f"round {number}: Inspect AI {rate:.0f} calls/s", flush=True)
        print(f"ours / bare SDK: median {statistics.median(ratios):.2f}, expected at least 0.80", flush=True)
        if args.memory:
            memory: list[tuple[int, float]] = []
            rate = asyncio.run(ours(url, args.memory, Path(folder) / "memory", args.memory // 10, memory))
            for calls, megabytes in memory:
                print(f"{calls:>7,} calls: {megabytes:.0f} MB resident")
            growth = memory[-1][1] - memory[0][1]
            print(f"{args.memory:,} calls at {rate:.0f} calls/s; memory {growth:+.1f} MB from the first tenth to the last")


if __name__ == "__main__":
    main()
