"""A run to be killed: asks ITEMS calls of a server and, at the end, writes what each came to.

Started once, it loads everything and then forks one run for each line on standard input, so that a run starts at once.
It prints the process id of the run and, when that has ended, its exit status.
"""

import asyncio
import json
import os
import sys
from contextlib import aclosing
from pathlib import Path

import anthropic  # noqa: F401  loaded here once, not in each run

from regatta_lib.base import write_atomic
from regatta_lib.models import Endpoint, Live, Request, Transcripts
from regatta_lib.models.live import Retry

ITEMS = 300


def requests() -> list[Request]:
    """Items of four suites."""
    return [
        Request(
            f"coverage/own.S{1 + number % 4}.us_insurance.r1/s{number}",
            {"model": "judge", "max_tokens": 50, "messages": [{"role": "user", "content": f"item {number}"}]},
        )
        for number in range(ITEMS)
    ]


async def run(url: str, folder: Path) -> None:
    place = Endpoint(protocol="anthropic", base_url=url, key_env="DRIVER_KEY", model="judge", concurrency=8, timeout=5.0)
    transcripts = Transcripts(folder / "transcripts")
    async with aclosing(Live(place, transcripts, Retry(tries=6, first=0.005, ceiling=0.02))) as model:
        replies = await asyncio.gather(*(model.complete(request) for request in requests()))
    transcripts.close()
    verdicts = {reply.call: [reply.state, reply.text] for reply in replies}
    write_atomic(folder / "verdicts.json", json.dumps(verdicts, indent=0, sort_keys=True))


def main() -> None:
    os.environ["DRIVER_KEY"] = "dummy-driver-key"
    print("ready", flush=True)
    for line in sys.stdin:
        url, folder = line.split()
        process = os.fork()
        if process == 0:
            asyncio.run(run(url, Path(folder)))
            os._exit(0)
        print(process, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
