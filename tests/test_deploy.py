"""The files that containers are made from, read as text: none is built or started here."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
import typer.main
import yaml

from rocourse.cli import app
from rocourse.ledger._address import parse
from rocourse.service import Settings

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]


def instructions():
    """Those of the Dockerfile, as pairs of a word and the rest."""
    text = re.sub(r"(?m)^#.*\n", "", (DEPLOY / "Dockerfile").read_text()).replace("\\\n", " ")
    return [tuple(line.split(maxsplit=1)) for line in text.splitlines() if line.strip()]


def stage():
    """The instructions of the image itself, which is the last stage."""
    found = instructions()
    return found[max(at for at, (word, _) in enumerate(found) if word == "FROM") :]


def only(word):
    """What the one instruction of this name says."""
    (rest,) = [rest for each, rest in stage() if each == word]
    return rest


def command_lines():
    """What the containers run of ours, without the program's name."""
    assert json.loads(only("ENTRYPOINT")) == ["rocourse"]
    return [json.loads(only("CMD")), SERVICES["service"]["command"]]


def parsed(arguments):
    """What the command line understands; it refuses what it does not know."""
    command = typer.main.get_command(app)
    name, *rest = arguments
    return command.commands[name].make_context(name, list(rest)).params


def test_the_image_is_built_in_stages_and_runs_as_somebody_else_than_root():
    assert [word for word, _ in instructions()].count("FROM") == 2
    user, group = only("USER").split(":")
    assert int(user) > 0 and int(group) > 0
    assert only("STOPSIGNAL") == "SIGTERM"
    # Nobody becomes another user after that.
    words = [word for word, _ in stage()]
    assert "RUN" not in words[words.index("USER") :]


def test_the_image_is_made_of_what_the_package_is_and_of_nothing_else():
    copied = [rest.split()[:-1] for word, rest in instructions() if word == "COPY"]
    taken = {name for names in copied for name in names if not names[0].startswith("--from")}
    lines = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    rules = [line for line in lines if not line.startswith("#")]
    assert rules[0] == "*"
    assert taken == {rule[1:] for rule in rules if rule.startswith("!")}
    assert all((ROOT / name).exists() for name in taken)


def test_the_image_has_extras_that_there_are():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    (asked,) = [rest for word, rest in instructions() if word == "ARG"]
    assert {"serve", "postgresql"} <= set(asked.removeprefix("EXTRAS=").split(",")) <= set(extras)


def test_what_is_written_goes_where_it_may():
    settings = dict(word.split("=", 1) for word in shlex.split(only("ENV")))
    kept = SERVICES["service"]["volumes"][-1].split(":")[1]
    assert only("VOLUME") == kept
    assert Path(kept) in Path(settings["ROCOURSE_COMPILATION_CACHE"]).parents
    assert settings["MPLCONFIGDIR"].startswith("/tmp/")


@pytest.mark.parametrize("status, code", [(200, 0), (503, 1)])
def test_the_health_check_tells_an_answer_from_a_failure(status, code):
    asked = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    program, *arguments = json.loads(only("HEALTHCHECK").split("CMD", 1)[1])
    assert program == "python" and ":8000/" in arguments[-1]
    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        Thread(target=server.handle_request, daemon=True).start()
        there = arguments[-1].replace(":8000/", f":{server.server_port}/")
        # A proxy that is named is not asked.
        done = subprocess.run(
            [sys.executable, *arguments[:-1], there],
            env={"http_proxy": "http://127.0.0.1:9"},
            capture_output=True,
        )
    assert done.returncode == code, done.stderr
    assert asked == ["/healthz"]


@pytest.mark.parametrize("name", SERVICES)
def test_every_container_is_confined_and_looked_after(name):
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"] and "cap_add" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in service
    if "build" in service:
        assert (DEPLOY / service["build"]["context"]).resolve() == ROOT
        assert (ROOT / service["build"]["dockerfile"]).samefile(DEPLOY / "Dockerfile")
        assert "healthcheck" not in service and only("HEALTHCHECK")
    else:
        assert int(service["user"].split(":")[0]) > 0
        assert service["healthcheck"]["test"][0] == "CMD"


def test_every_image_has_a_version():
    images = [service["image"] for service in SERVICES.values() if "image" in service]
    images += [rest.split()[0] for word, rest in instructions() if word == "FROM"]
    for image in images:
        assert re.fullmatch(r"[\w./-]+:\d[\w.-]*", image), image


def test_secrets_are_files_that_no_repository_holds():
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert {"/deploy/keys/", "/deploy/models/", "/deploy/secrets/"} <= set(ignored)
    assert all(set(secret) == {"file"} for secret in COMPOSE["secrets"].values())
    assert all(each["file"].startswith("./secrets/") for each in COMPOSE["secrets"].values())
    used = {name for service in SERVICES.values() for name in service["secrets"]}
    assert used == set(COMPOSE["secrets"])
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            if "PASS" in name:
                assert value.removeprefix("/run/secrets/") in service["secrets"]


@pytest.mark.parametrize("arguments", command_lines(), ids=["alone", "composed"])
def test_the_command_line_takes_what_the_containers_run(arguments):
    given = parsed(arguments)
    assert given["host"] == "0.0.0.0" and given["port"] == int(only("EXPOSE"))
    # Where others can reach it, it must have keys.
    assert Settings(model=given["model"], host=given["host"], keys=given["keys"]).keys
    mounted = [Path(volume.split(":")[1]) for volume in SERVICES["service"]["volumes"]]
    # Not the model or the file of keys: they are replaced, and a mount would keep the old ones.
    assert given["model"].parent in mounted and Path(given["keys"]).parent in mounted


def test_an_option_that_is_not_there_is_refused():
    with pytest.raises(Exception, match="No such option"):
        parsed(["serve", "/model/current", "--ledgers", "x"])


def test_the_ledger_is_the_database_that_is_made():
    url = parse(parsed(SERVICES["service"]["command"])["ledger"]).url
    made = SERVICES["db"]["environment"]
    assert (url.username, url.database) == (made["POSTGRES_USER"], made["POSTGRES_DB"])
    assert url.host in SERVICES and url.password is None
    line = f"{url.host}:{url.port}:{url.database}:{url.username}:PASSWORD"
    assert line in (ROOT / "docs" / "deploy.md").read_text()


def test_the_proxy_ends_tls_and_keeps_back_what_needs_no_key():
    text = (DEPLOY / "nginx.conf").read_text()
    (mounted,) = SERVICES["proxy"]["volumes"]
    assert mounted == "./nginx.conf:/etc/nginx/nginx.conf:ro"
    listening = set(re.findall(r"listen (\d+)", text))
    assert {port.split(":")[1] for port in SERVICES["proxy"]["ports"]} <= listening
    for path in re.findall(r"/run/secrets/(\w+)", text):
        assert path in SERVICES["proxy"]["secrets"]
    (kept_back,) = re.findall(r"location ~ (\S+) \{\s+return 404;", text)
    for path in ("/metrics", "/healthz", "/readyz"):
        assert re.search(kept_back, path)
    assert not re.search(kept_back, "/v1/decisions") and not re.search(kept_back, "/")
    # References and ids are in paths.
    assert re.findall(r"access_log (\S+);", text) == ["off"]
    (host, port) = re.search(
        r"set \$service (\w+);\s+proxy_pass http://\$service:(\d+);", text
    ).groups()
    assert host in SERVICES and port == only("EXPOSE")
    assert "proxy_set_header Host $host;" in text
