"""Run the command line: ``python -m kernelwise``."""

from .cli import main

if __name__ == "__main__":
    main()
