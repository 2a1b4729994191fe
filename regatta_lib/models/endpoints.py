"""Endpoints: a server, one of its models, and what its tokens cost."""

from typing import Any, Literal

from pydantic import Field

from regatta_lib.base import Section


class Prices(Section):
    """US dollars per million tokens, and the day they were read."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    date: str = Field(pattern=r"^20\d\d-\d\d-\d\d$")


class Endpoint(Section):
    """A server and one of its models.

    ``protocol``: the Messages API, or OpenAI's chat completions. ``key_env``: the environment variable that holds the
    key, none for a server without keys; ``key_header``: ``x-api-key`` sends it in that header too, for older gateways.
    ``api_version``: the ``anthropic-version`` header. ``sampling``: send the sampling fields of a request (temperature
    and the like) or leave them out, as newer models refuse them. ``structured``: how a JSON schema is asked for: by the
    server's own structured output, by a forced tool, or in the prompt. ``body``: further fields of every request, for
    example ``thinking``. ``concurrency`` calls are in flight at once; ``timeout`` in seconds.
    """

    protocol: Literal["anthropic", "openai"]
    base_url: str = Field(pattern=r"^https?://[^@?\s]+$")
    key_env: str | None = None
    key_header: Literal["authorization", "x-api-key"] = "authorization"
    model: str = Field(min_length=1)
    api_version: str = "2026-10-21"
    sampling: bool = False
    structured: Literal["schema", "tool", "prompt"] = "schema"
    body: dict[str, Any] = Field(default_factory=dict)
    concurrency: int = Field(default=4, ge=1, le=1_000)
    timeout: float = Field(default=600.0, gt=0)
    prices: Prices | None = None
