"""A stand-in for the service: the page with its headers, and canned answers.

`python -m tests.service.page.stub` serves it on port 8123, for work on the page without a model.
"""

import sys
import uuid
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

STATIC = Path(__file__).resolve().parents[3] / "src" / "rocourse" / "service" / "static"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

IN_SERVICE, FORMER = "3fa9" * 16, "b27c" * 16
PROMISE = "0b7e3c1a-5d2f-4c7b-9a41-2f6d8e90c3b5"
EXPIRED = "1c8f4d2b-6e30-4d8c-8b52-3a7e9fa1d4c6"
REASON = "Purpose must end as Car, but it is another one and must stay as it is."
SCRIPT = "<script>document.title = 'taken'</script>"

FEATURES: list[dict[str, Any]] = [
    {
        "name": name,
        "kind": "continuous",
        "low": low,
        "high": high,
        "integer": integer,
        "immutable": name == "Age",
        "direction": direction,
        "bounds": [0, None],
        "unit": unit,
    }
    for name, low, high, integer, direction, unit in [
        ("Duration", 4, 72, True, None, "months"),
        ("CreditAmount", 250, 18424, True, None, "DM"),
        ("InstallmentRate", 1, 4, False, "down", "% of income"),
        ("Age", 19, 75, True, None, "years"),
        ("YearsAtAddress", 0, 30, True, "up", "years"),
    ]
] + [
    {
        "name": name,
        "kind": "categorical",
        "categories": categories,
        "labels": labels,
        "immutable": name == "ForeignWorker",
        "direction": None,
    }
    for name, categories, labels in [
        (
            "Status",
            [1, 2, 3, 4],
            ["no checking account", "below 0 DM", "0 to 200 DM", "200 DM or more, or a salary"],
        ),
        ("Purpose", ["car", "education", "other"], ["Car", "Education", SCRIPT]),
        ("Telephone", [False, True], ["no", "yes"]),
        ("ForeignWorker", [False, True], None),
    ]
]

ROW = {
    "Duration": 36,
    "CreditAmount": 12500,
    "InstallmentRate": 2.5,
    "Age": 31,
    "YearsAtAddress": 2,
    "Status": 1,
    "Purpose": "car",
    "Telephone": False,
    "ForeignWorker": True,
}
CHANGES = [("Duration", 24, "36 → 24 months"), ("Status", 3, "no checking account → 0 to 200 DM")]
# A second option is promised as well, a third is not.
OTHERS = [
    ("found", "2d905e3c-7f41-4e9d-9c63-4b8fa0b2e5d7", 0.97, 1.2, CHANGES[:1]),
    ("found_unsure", None, 0.4, 0.9, [("Telephone", True, "no → yes")]),
]

MODEL = {
    "digest": IN_SERVICE,
    "method": "rocoursenet",
    "title": "RoCourseNet",
    "target": "GoodCustomer",
    "classes": [0, 1],
    "favourable": 1,
    "witnesses": 8,
    "ledger": True,
    "features": FEATURES,
    "example": ROW,
}

# Of every recourse: what a level is, and that it holds at what was asked for.
CERTIFICATE = {
    "kind": "delta",
    "level": 0.0213,
    "at": 0.01,
    "holds": True,
    "confidence": None,
    "covers": "Every model whose weights move by at most the level honours it.",
    "leaves_out": "Training anew moves them further.",
}


def _problem(status: int, detail: str, **headers: str) -> JSONResponse:
    return JSONResponse({"detail": detail}, status, headers)


def _recourse(row: dict[str, Any], planned: list[tuple[str, Any, str]]) -> dict[str, Any]:
    changes = [
        {"feature": name, "from": row[name], "to": to, "text": f"{name}: {text}"}
        for name, to, text in planned
    ]
    return {
        "status": "found",
        "id": PROMISE,
        "issued_at": "2026-03-02T09:30:00Z",
        "expires_at": "2027-03-02T09:30:00Z",
        "probability": 0.87,
        "cost": 1.4234,
        "months": 4.5,
        "changes": changes,
        "row": row | {name: to for name, to, _ in planned},
        "robustness": {"witnesses": 8, "honoured": 7, "share": 0.875},
        "certificate": CERTIFICATE,
    }


def _with_options(row: dict[str, Any], most: int) -> dict[str, Any]:
    first = _recourse(row, CHANGES)
    options = [first]
    for status, id, share, cost, planned in OTHERS[: most - 1]:
        times = {} if id else {"issued_at": None, "expires_at": None}
        chance = {"robustness": {"witnesses": None, "honoured": None, "share": share}}
        said = {"status": status, "id": id, "cost": cost}
        options.append(_recourse(row, planned) | said | times | chance)
    return first | {"reason": None, "options": options}


_FAILURES = {
    "busy": lambda: _problem(
        503, "The service has more to do than it can.", **{"Retry-After": "1"}
    ),
    "often": lambda: _problem(429, "Too many requests.", **{"Retry-After": "7"}),
    "large": lambda: _problem(413, "A body may have at most 1 MB, but this one has more."),
    "named": lambda: _problem(422, "Feature 'Age' must be at least 18, but got 3; mend the row."),
    "broken": lambda: Response("<h1>proxy error</h1>", 502),
}


async def _decisions(request: Request) -> Response:
    uuid.UUID(request.headers["idempotency-key"])
    (applicant,) = (await request.json())["applicants"]
    row, subject = applicant["row"], applicant["subject"]
    request.app.state.asked.append((request.headers["idempotency-key"], row, subject))
    request.app.state.wished.append((applicant["options"], applicant["wishes"]))
    if subject in _FAILURES:
        return _FAILURES[subject]()
    approved = row["Duration"] <= 12
    answer: dict[str, Any] = {
        "subject": subject,
        "decision": int(approved),
        "favourable": approved,
        "probability": 0.82 if approved else 0.31,
        "recourse": None if approved else _with_options(row, applicant["options"]),
    }
    if row["CreditAmount"] > 50_000:
        nothing = {"status": "not_found", "id": None, "issued_at": None, "expires_at": None}
        empty = {"changes": [], "row": row, "cost": 0.0, "robustness": None, "probability": 0.31}
        told = {"options": [], "reason": REASON if applicant["wishes"] else None}
        answer["recourse"] = nothing | empty | told
    return JSONResponse({"model": IN_SERVICE, "decisions": [answer]})


async def _promise(request: Request) -> Response:
    if request.path_params["id"] not in (PROMISE, EXPIRED):
        return _problem(404, "The ledger has no promise with this id; check the id.")
    redeemed = request.app.state.redeemed
    past = request.path_params["id"] == EXPIRED
    history = [
        {"at": "2026-03-02T09:30:00Z", "status": "open", "model": FORMER, "detail": "issued"}
    ]
    if redeemed:
        line = {"at": "2026-05-11T14:05:00Z", "status": "redeemed", "model": IN_SERVICE}
        history.append(line | {"detail": "approved as presented"})
    recourse = _recourse(ROW, CHANGES)
    return JSONResponse(
        {
            "id": request.path_params["id"],
            "subject": SCRIPT,
            "status": "expired" if past else "redeemed" if redeemed else "open",
            "model": FORMER,
            "schema_version": "1",
            "issued_at": recourse["issued_at"],
            "expires_at": recourse["expires_at"],
            "row": ROW,
            "recourse": recourse["row"],
            "desired": 1,
            "probability_before": 0.31,
            "probability_after": 0.87,
            "robustness": 0.875,
            "months": 4.5,
            "decision": str(uuid.UUID(int=7)),
            "wishes": {"lock": ["Purpose"], "ranges": {"CreditAmount": [10_000, None]}},
            "history": history,
        }
    )


async def _redemptions(request: Request) -> Response:
    row = (await request.json())["row"]
    unmet = [
        {"feature": "Duration", "promised": 24, "presented": row["Duration"]}
        for _ in range(row["Duration"] > 24)
    ]
    drifted = [
        {"feature": "Age", "was": ROW["Age"], "presented": row["Age"]}
        for _ in range(row["Age"] != ROW["Age"])
    ]
    request.app.state.redeemed = not unmet
    answer = {"id": PROMISE, "status": "open" if unmet else "redeemed", "fulfilled": not unmet}
    answer |= {
        "honoured": not unmet,
        "unmet": unmet,
        "drifted": drifted,
        "forbidden": [],
        "decision": int(not unmet),
    }
    return JSONResponse(answer | {"probability": 0.4 if unmet else 0.9, "model": IN_SERVICE})


def _tally(judged: int, honoured: int) -> dict[str, Any]:
    share = honoured / judged if judged else None
    low = None if share is None else max(0.0, share - 0.9 / judged**0.5)
    high = None if share is None else min(1.0, share + 0.3 / judged**0.5)
    figures = {"judged": judged, "honoured": honoured, "unreadable": 0}
    return figures | {"share": share, "low": low, "high": high}


def _judged(name: str, digest: str, honoured: tuple[int, int]) -> dict[str, Any]:
    broken = [
        {
            "id": PROMISE if i == 0 else str(uuid.UUID(int=i)),
            "issued_at": "2026-03-02T09:30:00Z",
            "issuer": FORMER,
            "margin": -0.4 + i / 100,
            "probability": 0.4,
        }
        for i in range(120 - sum(honoured))
    ]
    return {
        "digest": digest,
        "name": name,
        **_tally(120, sum(honoured)),
        "by_issuer": [
            {"issuer": FORMER} | _tally(80, honoured[0]),
            {"issuer": IN_SERVICE} | _tally(40, honoured[1]),
        ],
        "by_age": [
            {"days": "0-30"} | _tally(70, honoured[0] - 10),
            {"days": "31-90"} | _tally(50, honoured[1] + 10),
            {"days": ">365"} | _tally(0, 0),
        ],
        "by_people": [
            {"people": "Age=19 to 40", "few": False} | _tally(110, honoured[0]),
            {"people": "Age=over 40 to 75", "few": True} | _tally(10, 5),
        ],
        "broken": broken,
    }


async def _audit(request: Request) -> Response:
    if not request.app.state.ledger:
        return _problem(409, "This service keeps no ledger.")
    promises = {"open": 120, "redeemed": 3, "broken": 1, "withdrawn": 0, "expired": 2}
    models = [
        _judged("in service", IN_SERVICE, (79, 39)),
        _judged("models/next/", "c51e" * 16, (70, 40)),
        _judged("models/with-a-rather-long-name/", "d602" * 16, (52, 38)),
    ]
    drift = {
        "kept": 0.95,
        "outcomes": 40,
        "honoured": 37,
        "evidence": 1.4,
        "alarm_at": 20.0,
        "alarm": False,
    }
    report = {
        "at": "2026-06-01T12:00:00Z",
        "promises": promises,
        "models": models,
        "drift": drift,
    }
    # Done when it is looked at for the first time.
    done = request.method == "GET"
    audit = {"id": "a", "status": "done" if done else "running", "judged": 120, "detail": None}
    return JSONResponse(audit | {"report": report if done else None}, 200 if done else 202)


def make_app(*, key: str | None = None, ledger: bool = True) -> Starlette:
    """The stand-in, with or without a key and a ledger."""

    def guarded(answer: Any) -> Any:
        async def endpoint(request: Request) -> Response:
            if key is not None and request.headers.get("authorization") != f"Bearer {key}":
                return _problem(401, "An API key is needed, and none or a wrong one was given.")
            response: Response = await answer(request)
            return response

        return endpoint

    async def model(request: Request) -> Response:
        return JSONResponse(MODEL | {"ledger": ledger})

    async def page(request: Request) -> Response:
        return FileResponse(STATIC / "index.html")

    app = Starlette(
        routes=[
            Route("/", page),
            Route("/v1/model", guarded(model)),
            Route("/v1/decisions", guarded(_decisions), methods=["POST"]),
            Route("/v1/recourses/{id}", guarded(_promise)),
            Route("/v1/redemptions", guarded(_redemptions), methods=["POST"]),
            Route("/v1/audits", guarded(_audit), methods=["POST"]),
            Route("/v1/audits/{id}", guarded(_audit)),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]
    )
    app.state.asked, app.state.redeemed, app.state.ledger = [], False, ledger
    app.state.wished = []
    app.add_middleware(_Headers)
    return app


class _Headers:
    """The headers of the service that a page can stumble over."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] += [
                    (b"content-security-policy", POLICY.encode()),
                    (b"x-content-type-options", b"nosniff"),
                ]
            await send(message)

        await self._app(scope, receive, sending)


if __name__ == "__main__":
    import uvicorn

    uvicorn.run(make_app(key=sys.argv[1] if len(sys.argv) > 1 else None), port=8123, ws="none")
