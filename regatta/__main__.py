"""``python -m regatta`` is ``regatta``."""

from regatta.commands import main

if __name__ == "__main__":
    main()
