"""The application: addresses, limits and errors."""

from __future__ import annotations

import functools
import logging
import os
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import localsvm
from localsvm._extras import require
from localsvm._threads import single_threaded_libraries
from localsvm.serve._bodies import BodyReader
from localsvm.serve._content import dump
from localsvm.serve._errors import RequestError
from localsvm.serve._page import PAGE_HEADERS, make_page
from localsvm.serve._served import VERSION, ServedModel
from localsvm.serve._workers import Joint, Work, Workers

MAX_BODY = 8 * 2**20
MAX_ROWS = 10_000
TIMEOUT = 30.0

_MIN_THREADS, _MAX_THREADS = 2, 4
_WAITING_PER_THREAD = 16
_ANSWERED = 4  # bytes of an answer, in times the limit of a body
_HELD_BODIES = 8  # times the limit of one
_CLOSING_SECONDS = 1.0
_HEADERS = {"x-content-type-options": "nosniff", "cache-control": "no-store"}
_log = logging.getLogger("localsvm.serve")


def create_app(
    model: Any,
    *,
    name: str = "model",
    max_body: int = MAX_BODY,
    max_rows: int = MAX_ROWS,
    timeout: float = TIMEOUT,
    n_threads: int | None = None,
) -> Any:
    """Serve a fitted model over HTTP.

    Speaks the Open Inference Protocol v2 in JSON, so that clients of KServe and Triton
    can ask it; explains predictions; and has a page to try a row.

    =====================================  ===========================================
    address                                answer
    =====================================  ===========================================
    GET /                                  the page
    GET /v2                                name and version of the server
    GET /v2/health/live, /v2/health/ready  whether it runs
    GET /v2/models/NAME                    inputs and outputs
    GET /v2/models/NAME/ready              whether it is ready
    POST /v2/models/NAME/infer             labels, scores and, where the model has
                                           them, probabilities
    POST /explain                          explanations of ``{"rows": [...]}``
    =====================================  ===========================================

    Parameters
    ----------
    model : fitted classifier or Pipeline
        Of this library, or one that predicts as scikit-learn's do.
    name : str, default="model"
        Name of the model in addresses.
    max_body : int, default=8388608
        Bytes of a request. An answer may have four times as many, all requests
        together eight times.
    max_rows : int, default=10000
        Rows of a request; at most 100 of them are explained.
    timeout : float, default=30.0
        Seconds that a body may take to arrive, and an answer to be made.
    n_threads : int or None, default=None
        Requests that are worked on at once. None is one per core, from 2 to 4. Sixteen
        times as many may wait.

    Returns
    -------
    starlette.applications.Starlette
        An ASGI application, e.g. for uvicorn.

    See Also
    --------
    run : Loads a model file and serves it.

    Notes
    -----
    Inputs are one tensor "X" of shape [rows, columns], or one tensor of shape [rows]
    per column, with strings as BYTES. In a pipeline with a
    :class:`~localsvm.data.TableEncoder` null is a missing value, and so is a column
    that is left out. Rows to explain are objects by column or lists;
    ``"border": false`` leaves out what would change the label, which is most of the
    cost.

    What is wrong with a request is answered with ``{"error": ...}`` that names the
    field: 400 for content, 404 and 405 for addresses, 408 and 413 for bodies that are
    slow or large, 415 for compressed or binary ones, 501 if a model cannot be
    explained, 503 if the server is busy or the time is out. Errors of the server itself
    are 500 with a number that is in its log, where the trace is.

    Work ends with its request: rows are predicted in blocks of 256, and no further
    block is begun when the time is out or the client has gone. :func:`run` also limits
    connections, heads of requests and the time to read an answer, which belong to the
    server that an application runs in.

    There is no authentication: put a gateway in front of it before others can reach it.

    Examples
    --------
    >>> from localsvm import ClusteredSVC
    >>> from localsvm.data import make_xor
    >>> from localsvm.serve import create_app
    >>> model = ClusteredSVC(n_regions=4, random_state=0).fit(*make_xor(400))
    >>> app = create_app(model, name="xor")
    >>> sorted({route.path for route in app.routes})[:3]
    ['/', '/explain', '/v2']

    With uvicorn: ``uvicorn.run(app, host="127.0.0.1", port=8000)``.
    """
    threads = _default_threads() if n_threads is None else n_threads
    _check_limits(
        max_body=max_body, max_rows=max_rows, timeout=timeout, n_threads=threads
    )
    starlette = require("starlette.applications", "serve", "The server")
    served = ServedModel(model, name, max_rows, _ANSWERED * max_body)
    workers = Workers(threads, _WAITING_PER_THREAD * threads, timeout)
    bodies = BodyReader(max_body, _HELD_BODIES * max_body, timeout)

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        # To set this limit takes longer than to predict a row: once for all requests.
        with single_threaded_libraries():
            yield
        if not workers.close(_CLOSING_SECONDS):
            _log.warning("Left a request that did not end.")

    app = starlette.Starlette(
        routes=_Routes(served, workers, bodies).all(),
        exception_handlers=_error_handlers(),
        lifespan=lifespan,
    )
    app.state.workers = workers
    return app


class _Routes:
    """The responses at each address."""

    def __init__(
        self, served: ServedModel, workers: Workers, bodies: BodyReader
    ) -> None:
        self.served = served
        self.workers = workers
        self.bodies = bodies
        self.page = make_page(served)
        self.metadata = served.metadata()

    def all(self) -> list[Any]:
        """Return all routes."""
        from starlette.routing import Route

        server = {"name": "localsvm", "version": localsvm.__version__, "extensions": []}
        gets: dict[str, dict[str, Any]] = {
            "/v2": server,
            "/v2/health/live": {"live": True},
            "/v2/health/ready": {"ready": True},
        }
        routes = [Route(path, _constant(content)) for path, content in gets.items()]
        routes += [
            Route("/", self.show_page),
            Route("/explain", self.explain, methods=["POST"]),
        ]
        for version in ("", "/versions/{version}"):
            base = "/v2/models/{name}" + version
            routes += [
                Route(base, self.describe),
                Route(base + "/ready", self.tell_ready),
                Route(base + "/infer", self.infer, methods=["POST"]),
            ]
        return routes

    async def show_page(self, request: Any) -> Any:
        """Give the page."""
        return _response(self.page, 200, "text/html; charset=utf-8", PAGE_HEADERS)

    async def describe(self, request: Any) -> Any:
        """Give inputs and outputs of the model."""
        self._check_model(request)
        return _json(self.metadata)

    async def tell_ready(self, request: Any) -> Any:
        """Report that the model is ready."""
        self._check_model(request)
        return _json({"name": self.served.name, "ready": True})

    async def infer(self, request: Any) -> Any:
        """Predict."""
        self._check_model(request)
        return await self._work(self.served.infer, request, is_inference=True)

    async def explain(self, request: Any) -> Any:
        """Explain."""
        return await self._work(self.served.explain, request, is_inference=False)

    async def _work(
        self, work: Callable[..., bytes], request: Any, *, is_inference: bool
    ) -> Any:
        async with self.bodies.read(request) as body:
            bound: Work = functools.partial(work, body)
            gone = functools.partial(_gone, request)
            joint = None
            if is_inference and self.served.is_joined(body):
                joint = Joint(self.served.infer_together, body)
            is_large = self.served.is_large(body)
            return _response(await self.workers.run(bound, gone, is_large, joint))

    def _check_model(self, request: Any) -> None:
        name = request.path_params["name"]
        if name != self.served.name:
            raise RequestError(
                404, f"There is no model {name[:100]!r}; found {self.served.name!r}."
            )
        version = request.path_params.get("version", VERSION)
        if version != VERSION:
            raise RequestError(
                404, f"There is no version {version[:100]!r}; found {VERSION!r}."
            )


async def _gone(request: Any) -> None:
    """Wait until the client of a request that has arrived has gone."""
    from starlette.requests import ClientDisconnect

    while (await request.receive())["type"] != "http.disconnect":
        pass
    raise ClientDisconnect


def _constant(content: dict[str, Any]) -> Callable[[Any], Any]:
    async def answer(request: Any) -> Any:
        return _json(content)

    return answer


def _error_handlers() -> dict[type[Exception], Callable[..., Any]]:
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect

    async def tell(request: Any, error: RequestError) -> Any:
        headers = {"retry-after": "1"} if error.status == 503 else {}
        if error.status in (408, 413):
            headers["connection"] = "close"  # the rest of the body is not wanted
        return _json({"error": error.message}, error.status, headers)

    async def tell_http(request: Any, error: HTTPException) -> Any:
        message = f"{request.method} {request.url.path[:100]}: {error.detail}"
        return _json({"error": message}, error.status_code, error.headers)

    async def tell_nothing(request: Any, error: ClientDisconnect) -> Any:
        return _json({"error": "The client has gone."}, 400)

    async def tell_number(request: Any, error: Exception) -> Any:
        number = uuid.uuid4().hex[:12]
        trace = (type(error), error, error.__traceback__)
        _log.error("Error %s at %s", number, request.url.path, exc_info=trace)
        message = f"The server failed; its log has the reason under {number}."
        return _json({"error": message}, 500)

    return {
        RequestError: tell,
        HTTPException: tell_http,
        ClientDisconnect: tell_nothing,
        Exception: tell_number,
    }


def _json(content: Any, status: int = 200, headers: Any = None) -> Any:
    return _response(dump(content), status, headers=headers)


def _response(
    body: bytes,
    status: int = 200,
    media_type: str = "application/json",
    headers: Any = None,
) -> Any:
    from starlette.responses import Response

    return Response(body, status, {**_HEADERS, **(headers or {})}, media_type)


def _default_threads() -> int:
    """One per core, and one for small requests beside a large one."""
    return max(_MIN_THREADS, min(os.cpu_count() or 1, _MAX_THREADS))


def _check_limits(**limits: float) -> None:
    for name, value in limits.items():
        if isinstance(value, bool) or not value > 0:
            raise ValueError(f"{name} should be a number above 0; got {value!r}.")
