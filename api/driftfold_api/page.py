"""The web page at `/`: files beside this module, served as they are."""

import hashlib
from pathlib import Path

from fastapi import APIRouter, Request, Response

from driftfold_api import problem as p

FOLDER = Path(__file__).with_name("page")
TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
}
HEADERS = {
    "Cache-Control": "no-cache",  # asked for again, and told to be unchanged by its ETag
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def page_routes() -> APIRouter:
    """Return the routes of the page. Its files are read now, and nothing else can be asked for."""
    router = APIRouter(include_in_schema=False)
    files = {
        path.relative_to(FOLDER).as_posix(): path.read_bytes()
        for path in FOLDER.rglob("*")
        if path.suffix in TYPES
    }

    def answer(name: str, request: Request) -> Response:
        content = files[name]
        headers = {**HEADERS, "ETag": f'"{hashlib.blake2b(content, digest_size=12).hexdigest()}"'}
        if headers["ETag"] in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=TYPES[Path(name).suffix])

    @router.api_route("/", methods=["GET", "HEAD"])
    async def index(request: Request) -> Response:
        return answer("index.html", request)

    @router.api_route("/page/{name:path}", methods=["GET", "HEAD"])
    async def file(name: str, request: Request) -> Response:
        if name not in files:
            raise p.Problem(p.NOT_FOUND, f"the page has no file {name[:50]!r}")
        return answer(name, request)

    return router
