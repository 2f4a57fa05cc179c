"""Running the service: one process, until it is told to stop."""

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from fastapi import FastAPI

from rocourse.errors import ConfigError, RocourseError
from rocourse.schema import ClippedWarning
from rocourse.service._app import create_app
from rocourse.service._backend import Backend
from rocourse.service._protocol import CarefulProtocol, sweep
from rocourse.service._settings import Settings
from rocourse.service._work import Work

log = logging.getLogger("rocourse.service")

# Requests that are being answered when the service is told to stop have so long; and what has not
# ended by then, such as a model that is being compiled, ends with the process.
_GRACE_SECONDS = 5
_LAST_SECONDS = 9.0
# How soon a thread that computes gives way to the one that reads requests.
_SWITCH_SECONDS = 0.001


def serve(settings: Settings, *, on_ready: Callable[[str], None] | None = None) -> None:
    """Serves until SIGINT or SIGTERM; SIGHUP loads the model anew.

    Args:
        settings: What to serve.
        on_ready: Called with the service's address when it listens.

    Raises:
        RocourseError: The model, the ledger or the keys cannot be read, or the address is taken.
    """
    # For all threads, once and for all: numbers out of range are clipped, and a warning that nobody
    # reads would quote them.
    warnings.simplefilter("ignore", ClippedWarning)
    listener = _listen(settings)
    with listener:
        app = create_app(settings)
        _spare_the_collector()
        sys.setswitchinterval(_SWITCH_SECONDS)
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_GRACE_SECONDS,
            # TLS and forwarding are a proxy's business; its headers are not believed.
            proxy_headers=False,
            http=_protocol(app.state.work),
            ws="none",
        )
        server = uvicorn.Server(config)
        # uvloop, where it is installed.
        factory = config.get_loop_factory()
        with _told_to_stop(server, app.state.work), asyncio.Runner(loop_factory=factory) as runner:
            runner.run(_until_stopped(server, listener, app, on_ready))


def _protocol(work: Work) -> type[CarefulProtocol]:
    class Protocol(CarefulProtocol):
        door = work.decisions.door
        waits = staticmethod(work.decisions.waits)
        turns_away = staticmethod(work.decisions.turns_away)

    return Protocol


@contextmanager
def _told_to_stop(server: uvicorn.Server, work: Work) -> Iterator[None]:
    """Has SIGINT and SIGTERM stop a server and nothing else, and soon.

    The server handles them itself, but when it has stopped it raises them once more, for whoever
    handled them before. By default, that is the end of a process that has failed; who stops when
    told to has not.
    """

    end = threading.Timer(_LAST_SECONDS, _end)
    end.daemon = True

    def stop(_: int, __: FrameType | None) -> None:
        if not server.should_exit:
            end.start()
        server.should_exit = True

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        # Python waits for threads before it ends; if there are none, nothing has to be ended.
        if work.idle:
            end.cancel()


def _end() -> None:
    log.error("ended with something left undone; what was acknowledged is on disk")
    os._exit(1)


async def _until_stopped(
    server: uvicorn.Server,
    listener: socket.socket,
    app: FastAPI,
    on_ready: Callable[[str], None] | None,
) -> None:
    loop = asyncio.get_running_loop()
    tasks = {loop.create_task(sweep(server.server_state.connections))}

    def reload() -> None:
        task = loop.create_task(app.state.work.reloads.run(_reload, app.state.backend))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    if hasattr(signal, "SIGHUP"):
        loop.add_signal_handler(signal.SIGHUP, reload)
    if on_ready is not None:
        tasks.add(loop.create_task(_announce(server, listener, on_ready)))
    await server.serve(sockets=[listener])
    for task in tasks:
        task.cancel()


async def _announce(
    server: uvicorn.Server, listener: socket.socket, on_ready: Callable[[str], None]
) -> None:
    while not server.started:
        await asyncio.sleep(0.01)
    host, port = listener.getsockname()[:2]
    on_ready(f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}")


def _reload(backend: Backend) -> None:
    try:
        done = backend.reload()
    except RocourseError as error:
        log.error("the model in service stays: %s", error)
    else:
        log.info("model %s is in service, after %s", done["digest"][:12], done["before"][:12])


def _spare_the_collector() -> None:
    """What was loaded lasts; searching it for garbage again and again would only delay answers."""
    gc.collect()
    gc.freeze()


def _listen(settings: Settings) -> socket.socket:
    """Taken before the model is loaded: an address that is in use is known at once."""
    try:
        family = socket.getaddrinfo(settings.host, settings.port)[0][0]
        # TCP is named because asyncio's own loop asks for it: else, without uvloop, each body waits
        # for a receipt of its head, which clients take 40 ms to give.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((settings.host, settings.port))
            return listener
        except BaseException:
            listener.close()
            raise
    except OSError as error:
        raise ConfigError(
            f"The service must have an address to listen at, but {settings.host}:{settings.port} "
            f"cannot be had: {error.strerror or error}; choose another --port or --host."
        ) from error
