"""REGATTA, the application that people run around the library ``regatta_lib``: the command ``regatta``.

    cells       add a cell: scaffold, check, freeze
    own_suite   hold a team's own suite against the instruments of a cell
    adjudicate  sheets for human adjudicators
    site        the static site
    archive     the archive and its metadata
    pipeline    run every stage again, and compare with what is committed
    release     import the figures of the public release
    commands    the command line

Rooms import the library and never each other; only ``commands`` knows all of them.
"""
