"""REGATTA: measure test suites for enterprise agents against source-cited requirements and seeded faults."""
