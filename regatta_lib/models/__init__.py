"""One call to whoever answers it: live servers, an exchange of files, stored transcripts; and what it costs."""

from regatta_lib.models.batches import (
    PLACEMENT_TABLE,
    Collector,
    Placement,
    batch_texts,
    collected,
    deal_batches,
    dealt_kinds,
    placement_table,
    undealt,
)
from regatta_lib.models.calls import Body, MissingTranscript, Model, Pending, Reply, Request, Schema
from regatta_lib.models.endpoints import Endpoint, Prices
from regatta_lib.models.exchange import Exchange
from regatta_lib.models.live import Live
from regatta_lib.models.model import Replay, Routed, Scripted
from regatta_lib.models.preflight import Preflight, probe
from regatta_lib.models.replies import json_object, objects
from regatta_lib.models.smoke import serving
from regatta_lib.models.spend import Totals, price_list, totals, watched
from regatta_lib.models.transcripts import Transcripts, pack_file

__all__ = [
    "PLACEMENT_TABLE", "Body", "Collector", "Endpoint", "Exchange", "Live", "MissingTranscript", "Model", "Pending",
    "Placement", "Preflight", "Prices", "Replay", "Reply", "Request", "Routed", "Schema", "Scripted", "Totals",
    "Transcripts", "batch_texts", "collected", "deal_batches", "dealt_kinds", "json_object", "objects", "pack_file",
    "placement_table", "price_list", "probe", "serving", "totals", "undealt", "watched"
]  # fmt: skip
