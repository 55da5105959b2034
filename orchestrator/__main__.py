"""`python -m orchestrator`: the command."""

from orchestrator.cli import main

if __name__ == "__main__":
    main()
