"""Throughput and memory of live models against a loopback server, beside a bare SDK loop and, if given, Inspect AI.

    python -m benchmarks.throughput [--calls 1000] [--rounds 7] [--memory 50000] [--inspect PYTHON]

The server runs in a process of its own and answers after 50 ms; 100 calls are in flight. Ours stores every attempt
durably; the bare loops store nothing: one is the SDK as it comes, one goes over aiohttp as ours does. Rounds alternate
between them, so that a busy machine slows all.
Exit code 1 if ours makes less than 0.80 of the bare SDK's calls per second (median of the rounds).
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

from regatta_lib.models import Endpoint, Live, Request, Transcripts
from tests.server import Server

LATENCY, IN_FLIGHT, PER_SUITE = 0.05, 100, 1_110
LEAST = 0.80
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


async def in_flight(calls: int, call: Callable) -> tuple[float, float]:
    """Make the calls with a fixed number of workers. Returns calls per second, and milliseconds of CPU a call."""
    numbers = iter(range(calls))

    async def worker() -> None:
        for number in numbers:
            await call(number)

    started, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))
    return calls / (time.perf_counter() - started), 1e3 * (time.process_time() - cpu) / calls


async def bare(url: str, calls: int, http_client: type | None = None) -> tuple[float, float]:
    """The SDK alone."""
    transport = {"http_client": http_client()} if http_client else {}
    async with anthropic.AsyncAnthropic(api_key="dummy", base_url=url, max_retries=0, **transport) as client:
        return await in_flight(calls, lambda number: client.messages.create(**params(number)))


async def ours(url: str, calls: int, folder: Path, every: int = 0, memory: list | None = None) -> tuple[float, float]:
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
    parser.add_argument("--calls", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--memory", type=int, default=50_000)
    parser.add_argument("--inspect", metavar="PYTHON")
    args = parser.parse_args()
    with server_process() as url, tempfile.TemporaryDirectory(prefix=".bench-", dir=".") as folder:
        asyncio.run(bare(url, 500))
        ratios: dict[str, list[float]] = {"bare SDK": [], "bare SDK over aiohttp": []}
        for number in range(1, args.rounds + 1):
            measured = {
                "bare SDK": asyncio.run(bare(url, args.calls)),
                "ours": asyncio.run(ours(url, args.calls, Path(folder) / f"round{number}")),
                "bare SDK over aiohttp": asyncio.run(bare(url, args.calls, anthropic.DefaultAioHttpClient)),
            }
            shown = (f"{name} {rate:.0f} calls/s, {cpu:.2f} ms CPU a call" for name, (rate, cpu) in measured.items())
            print(f"round {number}: {'; '.join(shown)}", flush=True)
            for name, found in ratios.items():
                found.append(measured["ours"][0] / measured[name][0])
        for name, found in ratios.items():
            print(f"ours / {name}: median {statistics.median(found):.2f} ({min(found):.2f} to {max(found):.2f})")
        print(f"expected: ours / bare SDK at least {LEAST:.2f}", flush=True)
        if args.inspect:
            print(f"Inspect AI: {inspect_rate(args.inspect, url, args.calls):.0f} calls/s", flush=True)
        if args.memory:
            memory: list[tuple[int, float]] = []
            rate, _ = asyncio.run(ours(url, args.memory, Path(folder) / "memory", args.memory // 10, memory))
            for calls, megabytes in memory:
                print(f"{calls:>7,} calls: {megabytes:.0f} MB resident")
            growth = memory[-1][1] - memory[0][1]
            print(f"{args.memory:,} calls at {rate:.0f} calls/s; memory {growth:+.1f} MB from the first tenth to the last")
    if (reached := statistics.median(ratios["bare SDK"])) < LEAST:
        raise SystemExit(f"ours / bare SDK: median {reached:.2f}, expected at least {LEAST:.2f}")


if __name__ == "__main__":
    main()
