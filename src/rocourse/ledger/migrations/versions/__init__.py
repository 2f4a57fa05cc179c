"""The steps. A step that was released is never altered: ledgers made by it exist."""
