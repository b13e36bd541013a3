"""Why a request is not answered: a code, a status, what was wrong, and what to do.

====  ====  ==========================================================
W400  400   the request can't be read
W401  401   nobody has signed in
W403  403   the request comes from another site
W404  404   there is no such page
W405  405   the page does not take this method
W413  413   the body is larger than is taken
W421  421   the request is for another host
W422  422   what was sent can't be judged
W423  423   the app is read-only
W500  500   an error of ours
W503  503   too much is being done, or this takes too long
====  ====  ==========================================================
"""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape

STYLE = (
    ":root{color-scheme:light dark}"
    "body{max-width:40em;margin:4em auto;padding:0 1.2em;"
    "font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}"
    "code{font-family:ui-monospace,Menlo,Consolas,monospace}"
)
_DIGEST = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
# Of pages that stand alone: their own style by its hash, and links.
POLICY = (
    f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)

TITLES = {
    400: "This request can't be read",
    401: "Sign in first",
    403: "This request comes from another site",
    404: "There is no such page",
    405: "This page does not take that",
    413: "That is too large",
    421: "This is another host",
    422: "This can't be judged",
    423: "This app is read-only",
    500: "An error of ours",
    503: "Not now",
}


class Refusal(Exception):
    """A request that is not answered."""

    def __init__(self, status: int, message: str, remedy: str = "", *, link: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.remedy = remedy
        self.link = link

    @property
    def code(self) -> str:
        """The code that stands for it, in pages and in JSON."""
        return f"W{self.status}"

    def as_json(self) -> bytes:
        """The refusal for programs."""
        told = {"code": self.code, "message": self.message, "remedy": self.remedy}
        return (json.dumps({"error": told}, indent=2) + "\n").encode()

    def as_page(self) -> bytes:
        """The refusal for people; it needs no other file, since those are not given out either."""
        # Whoever is known here finds back; others are told what to do.
        back = "" if self.status in (401, 403, 421) else '<p><a href="/">All runs</a></p>'
        onward = f'<p><a href="{escape(self.link)}">Go on to the page</a></p>' if self.link else ""
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{TITLES[self.status]}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
            f"<p><code>assay {self.code}</code></p>\n<h1>{TITLES[self.status]}</h1>\n"
            f"<p>{escape(self.message)}</p>\n<p>{escape(self.remedy)}</p>\n{onward or back}\n"
            "</main>\n</body>\n</html>\n"
        ).encode()
