"""`python -m rocourse.cli`, for where the `rocourse` script is not on the path."""

from rocourse.cli import main

main()
