"""The record of a training, epoch by epoch, of one network or of several one after the other."""

from collections.abc import Callable

EpochRecord = dict[str, float]
EpochCallback = Callable[[EpochRecord], None]


class History:
    """What the epochs of a fit have come to.

    Args:
        on_epoch: Told of each epoch.
    """

    def __init__(self, on_epoch: EpochCallback | None = None) -> None:
        self.records: list[EpochRecord] = []
        self.best_epoch = 0
        self._on_epoch = on_epoch
        self._before = 0

    def add(self, record: EpochRecord) -> None:
        """Takes note of an epoch, counted on from trainings before."""
        counted = record | {"epoch": self._before + record["epoch"]}
        self.records.append(counted)
        if self._on_epoch is not None:
            self._on_epoch(counted)

    def keep(self, epoch: int) -> None:
        """Ends a training whose weights of an epoch are kept."""
        self.best_epoch = self._before + epoch
        self._before = len(self.records)

    def restart(self) -> None:
        """Forgets trainings that came to nothing, and counts anew."""
        self.records.clear()
        self._before = 0
