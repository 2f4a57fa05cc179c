"""A PostgreSQL server of one's own, to be stopped, killed and started again at will."""

import contextlib
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
from psycopg import sql

PATIENCE = 60
USER = "ledger"


def find_program(name: str) -> str | None:
    """A program of PostgreSQL, on the path or where Debian hides it."""
    found = shutil.which(name)
    hidden = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return found or (str(hidden[-1]) if hidden else None)


def why_missing() -> str | None:
    """The reason why no server can be started here, if there is one."""
    missing = [name for name in ("initdb", "postgres") if find_program(name) is None]
    if missing:
        return f"PostgreSQL is not installed: {' and '.join(missing)} not found"
    if os.geteuid() == 0 and _account() is None:
        return "PostgreSQL does not run as root, and there is no account postgres or nobody"
    return None


class PostgresServer:
    """A server on a loopback port, with a password, in a temporary directory.

    It starts with `start` and may be stopped and killed as often as one likes; `remove` ends it and
    deletes its data.
    """

    def __init__(self, **settings: str) -> None:
        self.password = secrets.token_hex(8)
        self.port = _free_port()
        # Not pytest's directory: that is closed to the account that the server runs under.
        self._directory = Path(tempfile.mkdtemp(prefix="ledger-pg-"))
        self._data = self._directory / "data"
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._initialise()

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://{USER}:{self.password}@127.0.0.1:{self.port}/{database}"

    def create_database(self) -> str:
        """Makes an empty database and returns its URL."""
        name = f"ledger_{secrets.token_hex(6)}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self.url(name)

    def start(self) -> None:
        """Starts the server and waits until it answers."""
        deadline = time.monotonic() + PATIENCE
        while True:
            if self._process is None or self._process.poll() is not None:
                # Once more if need be: after a kill, the old processes may linger for a moment.
                self._process = self._launch()
            try:
                psycopg.connect(self.url(), connect_timeout=5).close()
                return
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def stop(self) -> None:
        """Stops the server in an orderly way, ending all connections."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """Kills the server and all its processes, as if the power had failed for them."""
        if self._process is not None:
            for child in _children(self._process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
        self._end(signal.SIGKILL)

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """Stops all its processes as a debugger would: they hold their connections and say nothing.

        What was asked meanwhile may be done when they go on.
        """
        assert self._process is not None
        processes = [self._process.pid, *_children(self._process.pid)]
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGCONT)

    def restart(self) -> None:
        self.stop()
        self.start()

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self._directory, ignore_errors=True)

    def log(self) -> str:
        return (self._directory / "log").read_text(errors="replace")

    def _initialise(self) -> None:
        secret = self._directory / "password"
        secret.write_text(self.password)
        account = _account()
        if os.geteuid() == 0 and account is not None:
            for path in (self._directory, secret):
                os.chown(path, account.pw_uid, account.pw_gid)
        result = subprocess.run(
            [
                str(find_program("initdb")),
                f"--pgdata={self._data}",
                f"--username={USER}",
                f"--pwfile={secret}",
                "--auth=scram-sha-256",
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",
            ],
            capture_output=True,
            text=True,
            cwd=self._directory,
            **_as_account(),
        )
        assert result.returncode == 0, result.stdout + result.stderr

    def _launch(self) -> subprocess.Popen[bytes]:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",
            **self._settings,
        }
        options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        with open(self._directory / "log", "ab") as log:
            return subprocess.Popen(
                [str(find_program("postgres")), "-D", str(self._data), *options],
                stdout=log,
                stderr=log,
                cwd=self._directory,
                **_as_account(),
            )

    def _end(self, number: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(number)
            process.wait(PATIENCE)


def wait_until_blocked(url: str) -> int:
    """Waits until some connection to a database waits for a lock; returns its process."""
    deadline = time.monotonic() + PATIENCE
    with psycopg.connect(url, autocommit=True) as observer:
        while time.monotonic() < deadline:
            found = observer.execute(
                "SELECT pid FROM pg_stat_activity "
                "WHERE datname = current_database() AND wait_event_type = 'Lock'"
            ).fetchone()
            if found is not None:
                return int(found[0])
            time.sleep(0.02)
    raise AssertionError("nobody waits for a lock")


def _account() -> pwd.struct_passwd | None:
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    return None


def _as_account() -> dict:
    account = _account()
    if os.geteuid() != 0 or account is None:
        return {}
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


def _children(process: int) -> list[int]:
    """The processes that a process started; none where there is no /proc to ask."""
    with contextlib.suppress(OSError):
        text = Path(f"/proc/{process}/task/{process}/children").read_text()
        return [int(child) for child in text.split()]
    return []


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
