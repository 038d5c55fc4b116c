"""`python -m jurat`: the command line, for whoever has no `jurat` on the path."""

from jurat.cli import main

if __name__ == "__main__":
    main()
