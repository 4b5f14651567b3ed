"""The command ``python -m benchmarks``."""

from .environment import limit_threads

if __name__ == "__main__":
    limit_threads()  # before numpy is imported, by the command

    from .command import main

    main()
