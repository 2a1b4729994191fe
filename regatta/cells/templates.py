"""The templates of a new cell's files: one example entry each, comments for the writer, TODO where text is due."""

CELL = """\
# Step 1, scope: industry, jurisdiction, point of view, and what is left out. Fix it before any requirement is written.
cell: CELL
title: TODO
jurisdiction: TODO
scope: >-
  TODO
as_of: "2026-01-01"
limits: >-
  Research instrument, audited by TODO as of TODO. No legal advice.
protocol:
  - {step: scope, done: null, note: TODO}
  - {step: requirements, done: null, note: TODO}
  - {step: ontology, done: null, note: TODO}
  - {step: faults, done: null, note: TODO}
  - {step: audit, done: null, note: TODO}
  - {step: pilot, done: null, note: TODO}
"""

REQUIREMENTS = """\
# Step 2, requirements: 25 from primary sources with pinpoint citations. One example stands here.
# Judge side: nothing that generates scenarios may read this file.
cell: CELL
requirements:
  - id: XX-01
    area: TODO
    kind: regulatory # or metric
    as_written:
      citation: TODO
      text: >-
        TODO one rule, one sentence, with its number
    corrected:
      authority: TODO article and paragraph
      text: >-
        TODO the rule in force
      in_force_since: null # or a quoted date, "2026-01-01"
      supersedes: null
    audit:
      audit_class: clean # or substance_error, citation_defect, source_flag
      decided_by: first
      confidence: low
      reviewer_status: AI review only
      finding: >-
        TODO what was seen, and what rests on general knowledge
      sources:
        - tier: primary # law; official-secondary: an authority about it; secondary: anybody else
          title: TODO
          url: https://example.org/
"""

FAULTS = """\
# Step 4, faults: one in each category (threshold_error, missing_regulation, role_boundary, adversarial_vulnerability,
# metric_error), each with a witness: when must a faulty and a correct agent answer differently?
# Judge side: nothing that generates scenarios may read this file.
cell: CELL
faults:
  - id: XX-F1
    category: threshold_error
    severity: critical # or high
    title: TODO
    related_requirements: [XX-01]
    as_written:
      injected_behavior: >-
        TODO what the faulty agent is told to do
      correct_behavior: >-
        TODO what a correct agent does
    corrected:
      correct_behavior: >-
        TODO the rule in force
      authority: TODO
      in_force_since: null
      supersedes: null
    witness:
      prose: >-
        TODO the facts on which the two must differ
      variable: TODO # null, with unit null and no bounds, where no figure decides
      unit: eur # usd, vnd, eur, percent, days, level, ratio
      stated: true # does a scenario state the figure itself?
      low: 10
      high: 20
      low_inclusive: false
      high_inclusive: true
      correct_answer: >-
        TODO
      faulty_answer: >-
        TODO
      near_miss: >-
        TODO facts on which both agents agree
    audit:
      audit_class: clean
      ground_truth: correct # or partly_incorrect, incorrect
      decided_by: first
      confidence: low
      reviewer_status: AI review only
      finding: >-
        TODO
      sources:
        - tier: primary
          title: TODO
          url: https://example.org/
"""

LEDGER = """\
# Step 5, source audit: every verdict on every item (first, second, adjudicated, recheck).
# The last step decides, except second; where first and second differ in class, adjudicated must follow.
# Judge side: nothing that generates scenarios may read this file.
cell: CELL
items:
  - id: XX-01
    verdicts:
      - step: first
        audit_class: clean
        confidence: low
        reason: >-
          TODO what was seen, and what rests on general knowledge
        rule: >-
          TODO the rule in force
        authority: TODO article and paragraph
        sources:
          - tier: primary
            title: TODO
            url: https://example.org/
"""

ONTOLOGY = """\
# Step 3, ontology: the structured context of S4, written by somebody who does not look at requirements.yaml.
cell: CELL
industry: TODO
jurisdiction: TODO
agent_role: >-
  TODO
roles:
  - role: TODO
    responsibilities: [TODO]
    may: [TODO]
    must_escalate: [TODO]
    must_not: [TODO]
    vocabulary: [TODO]
regulations:
  - key: todo
    instrument: TODO
    constraint: >-
      TODO
metrics:
  - key: todo
    definition: TODO
    unit: percent
    threshold: null
    regulation: null # the key of the regulation whose rule it repeats, if any
entities: [TODO]
workflows:
  - workflow: TODO
    steps: [TODO]
    approvals: [TODO]
    adversarial_surface: [TODO]
"""

DOCUMENTS = """\
# Step 3, documents: passages for S3, written apart from the requirements like the ontology.
cell: CELL
documents:
  - id: XX-D1
    title: TODO
    text: >-
      TODO
"""

MAPPING = """\
# After steps 2 and 3: which requirements state the rule of each regulation of the ontology? Often none. Be strict.
# Judge side: nothing that generates scenarios may read this file.
cell: CELL
mapping:
  - regulation: todo
    requirements: []
    reason: TODO
"""

PILOT = """\
# Step 6, pilot: two scenarios for each fault, one in which the agents must differ and one in which they must not.
# Judge side: nothing that generates scenarios may read this file.
cell: CELL
pilot:
  - fault: XX-F1
    discriminates: >-
      TODO
    near_miss: >-
      TODO
"""

TEMPLATES = {
    "cell": CELL,
    "requirements": REQUIREMENTS,
    "faults": FAULTS,
    "ledger": LEDGER,
    "ontology": ONTOLOGY,
    "documents": DOCUMENTS,
    "mapping": MAPPING,
    "pilot": PILOT,
}
