"""The nouns of a call to a model: a request, the reply it came to, and whoever answers it."""

from typing import Annotated, Any, Literal, Protocol

from pydantic import Field, StringConstraints
from pydantic.dataclasses import dataclass

from regatta_lib.base import LAZY, Positive, RegattaError

ReplyState = Literal["answered", "refused", "truncated", "empty", "error"]
Body = dict[str, Any]  # the body of a request in the shape of an API, as JSON has it
Schema = dict[str, Any]  # a JSON schema
Usage = dict[str, int]  # token counts by the names of the Messages API; at least input_tokens and output_tokens


@dataclass(frozen=True, config=LAZY)
class Request:
    """One call to a model.

    ``call`` is a readable name, ``<role>/<suite_id>/…``, for example
    ``coverage/sonnet5.S1.us_insurance.r1/IN-01/s03``; its second part names the transcript file. ``params`` is a body in
    the shape of the Messages API; its ``model`` is the name of an endpoint. ``draw`` tells apart the samples of equal
    requests: two requests with equal ``params`` and ``draw`` in one suite get the same reply.
    """

    call: Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+/[A-Za-z0-9][A-Za-z0-9_.]*(/[A-Za-z0-9_.-]+)*$")]
    params: Body
    draw: Positive = 1


@dataclass(frozen=True, config=LAZY)
class Reply:
    """What a call came to after all its attempts.

    ``state`` is the state of the last attempt; whether an answered text can be read is for the verdict to say.
    ``usage`` holds the token counts of the last attempt as the server gave them. ``attempts`` counts every time the
    request was sent, in this run and earlier ones, and ``maybe_billed`` those of them whose outcome on the server is not
    known. ``error`` says what went wrong, in one line. ``temperature`` is the one sent, None where none was.
    """

    call: str
    key: str
    state: ReplyState
    text: str
    stop_reason: str | None
    requested_model: str
    served_model: str | None
    usage: Usage | None
    attempts: Positive
    maybe_billed: Annotated[int, Field(ge=0)]
    error: str | None
    temperature: float | None = None


class MissingTranscript(RegattaError):
    """The stored transcripts hold no reply to this request. The message names the call."""


class Pending(Exception):
    """The request waits in an exchange for its answer. The message names the call.

    It is no error of a user: whoever asks through an exchange catches it, and asks the rest.
    """


class Model(Protocol):
    """Whoever answers requests. ``complete`` may run many times at once; ``aclose`` ends the work.

    Models name it as their base, so that a type checker holds each class to it; whatever has both methods will do.
    """

    async def complete(self, request: Request) -> Reply: ...

    async def aclose(self) -> None: ...
