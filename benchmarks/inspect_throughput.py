"""Inspect AI's calls per second against a server: ``inspect_throughput.py URL CALLS IN_FLIGHT LOG_FOLDER``.

Run in an environment of its own (``pip install inspect-ai anthropic``). Each call is one sample of one task, logged to
disk as Inspect does by default.
"""

import sys
import time

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model
from inspect_ai.solver import generate

url, calls, in_flight, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
PROMPT = "A scenario, a rule, and the question whether the one would expose a breach of the other. " * 22
samples = [Sample(input=f"{number} {PROMPT}", target="yes") for number in range(calls)]
model = get_model("anthropic/judge", base_url=url, api_key="dummy")
started = time.perf_counter()
[log] = eval(
    Task(dataset=samples, solver=generate()),
    model=model,
    max_connections=in_flight,
    max_samples=in_flight,
    log_dir=folder,
    display="none",
    max_retries=0,
    max_tokens=300,
)
assert log.status == "success" and log.results.completed_samples == calls, log.error
print(calls / (time.perf_counter() - started))
