"""Run the command line: ``python -m kernelwise``."""

from .app.cli import main

if __name__ == "__main__":
    main()
