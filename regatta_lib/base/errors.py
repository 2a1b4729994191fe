"""Errors that a user can act on. Whatever is raised beside them, and beside an OSError about a file, is a bug."""


class RegattaError(Exception):
    """Something outside the program is not as it must be. The message is one line; the command line shows only that."""


class ContractError(RegattaError, ValueError):
    """A file breaks its contract. The message names the file, the row or key, what was found and what was expected."""


class ParameterError(ContractError):
    """An argument breaks its contract. ``parameters`` are the names to change, as the message calls them.

    A command adds its options of these names, so a message knows no command line.
    """

    def __init__(self, message: str, *parameters: str) -> None:
        super().__init__(message)
        self.parameters = parameters
