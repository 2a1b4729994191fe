"""Asking a model in a role of a study: from a prompt to a request, and many questions at once."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from regatta_lib.models import Body, Model, Pending, Reply, Request
from regatta_lib.studies.design import Role
from regatta_lib.studies.prompts import Prompt, without_bounds

IN_FLIGHT = 256
T = TypeVar("T")
A = TypeVar("A")
Second = TypeVar("Second")
C = TypeVar("C")


def request_params(role: Role, prompt: Prompt) -> Body:
    """The body of a request, in the shape of the Messages API. ``model`` is the endpoint's name.

    The bounds of the reply's schema are sent only for a role that is ``bounded``.
    """
    params: Body = {
        "model": role.endpoint,
        "max_tokens": role.max_tokens,
        "system": prompt.system,
        "messages": [{"role": "user", "content": prompt.user}],
    }
    if role.temperature is not None:
        params["temperature"] = role.temperature
    if prompt.schema is not None:
        schema = prompt.schema if role.bounded else without_bounds(prompt.schema)
        params["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    return params


async def ask(model: Model, role: Role, prompt: Prompt, call: str, draw: int = 1) -> Reply:
    """One question. Raises models.Pending where the answer is still to come through an exchange."""
    return await model.complete(Request(call, request_params(role, prompt), draw))


async def gathered(jobs: Iterable[Coroutine[Any, Any, T]], at_once: int = IN_FLIGHT) -> list[T]:
    """The results of all jobs, in order; at most ``at_once`` jobs exist at a time, so memory stays flat.

    Jobs that wait for an exchange do not stop the others: each runs as far as it can, so that all requests that can be
    asked now are gathered before ``Pending`` is raised. Any other error stops the start of new jobs and is raised.
    """
    slots = asyncio.Semaphore(at_once)
    failed = asyncio.Event()

    async def run(job: Coroutine[Any, Any, T]) -> T:
        try:
            return await job
        except Pending:
            raise
        except BaseException:
            failed.set()
            raise
        finally:
            slots.release()

    tasks: list[asyncio.Task[T]] = []
    for job in jobs:
        await slots.acquire()
        if failed.is_set():
            job.close()
            break
        tasks.append(asyncio.create_task(run(job)))
    results = await asyncio.gather(*tasks, return_exceptions=True)
    errors = [result for result in results if isinstance(result, BaseException)]
    if errors:
        raise min(errors, key=lambda error: isinstance(error, Pending))
    return [task.result() for task in tasks]


async def together(
    first: Coroutine[Any, Any, A], second: Coroutine[Any, Any, Second], third: Coroutine[Any, Any, C]
) -> tuple[A, Second, C]:
    """The results of three jobs of different kinds, run at once like those of ``gathered``."""
    jobs: list[Coroutine[Any, Any, Any]] = [first, second, third]
    one, two, three = await gathered(jobs)
    return one, two, three
