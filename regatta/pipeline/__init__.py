"""Reproduction: run every offline stage again, and compare what it made with what is committed."""

from regatta.pipeline.reproduction import committed_digests, committed_files, differences, record, run_pipeline

__all__ = ["committed_digests", "committed_files", "differences", "record", "run_pipeline"]
