"""Kill -9 at twenty random moments, resume, and end where an uninterrupted run ends."""

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager

import pytest

from regatta_lib.models import totals
from regatta_lib.models.transcripts import events, transcript_files
from tests.kill_driver import ITEMS, requests
from tests.server import Server

KILLS = 20
MESSAGES = {request.params["messages"][0]["content"]: request.call for request in requests()}
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork and no kill -9")


def script():
    """The same answer to the same item each time; some are cut off under the first cap, some fail every other time."""
    seen = Counter()

    def reply_to(number: int, body: dict) -> str:
        prompt = body["messages"][0]["content"]
        seen[prompt] += 1
        digest = hashlib.sha256(prompt.encode()).digest()[0]
        if digest < 20 and body["max_tokens"] == 50:
            return "truncated"
        if digest > 235 and seen[prompt] % 2:
            return "500"
        return f"say {prompt}: {'yes' if digest % 2 else 'no'}"

    return reply_to


@contextmanager
def driver():
    """The driver process; ``start(url, folder)`` begins a run and returns its process id, ``ended()`` its exit status."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.kill_driver"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"

    def start(url, folder):
        process.stdin.write(f"{url} {folder}\n")
        process.stdin.flush()
        return int(process.stdout.readline())

    yield start, lambda: int(process.stdout.readline())
    process.stdin.close()
    assert process.wait(10) == 0
    process.stdout.close()


def settled_calls(folder) -> set[str]:
    """The calls that need no further attempt, by the files alone."""
    return {
        event["call"]
        for path in transcript_files(folder / "transcripts")
        for _, event in events(path)
        if event["event"] == "outcome" and event["final"]
    }


def wait_for(condition) -> None:
    limit = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < limit, "the run did not get on"
        time.sleep(0.001)


def test_a_run_killed_twenty_times_ends_as_one_left_alone(tmp_path):
    generator = random.Random(20261030)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    stopped_in_flight = 0
    with Server(script(), latency=0.004) as server, driver() as (start, ended):
        start(server.url, whole)
        assert ended() == 0
        before = len(server.received)
        uninterrupted = {received.prompt for received in server.received}

        for _ in range(KILLS):
            settled = settled_calls(killed)
            sent = len(server.received)
            process = start(server.url, killed)
            more = generator.randint(1, 12)
            wait_for(lambda target=sent + more: len(server.received) >= target)
            time.sleep(generator.uniform(0, 0.012))
            os.kill(process, signal.SIGKILL)
            assert ended() == -signal.SIGKILL
            assert not (killed / "verdicts.json").exists()
            again = {MESSAGES[received.prompt] for received in server.received[sent:]}
            assert not again & settled, "a settled call was sent again"
            assert settled <= settled_calls(killed), "a stored reply was lost"
            stopped_in_flight += totals(killed / "transcripts", {}).unfinished > 0

        settled, sent = settled_calls(killed), len(server.received)
        assert 0 < len(settled) < ITEMS
        start(server.url, killed)
        assert ended() == 0
        assert not {MESSAGES[received.prompt] for received in server.received[sent:]} & settled

    assert (killed / "verdicts.json").read_bytes() == (whole / "verdicts.json").read_bytes()
    assert {received.prompt for received in server.received[before:]} == uninterrupted == set(MESSAGES)
    assert len(settled_calls(killed)) == ITEMS
    assert stopped_in_flight >= KILLS // 2
    assert totals(killed / "transcripts", {}).attempts >= len(server.received) - before
