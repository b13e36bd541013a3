"""Who may come in: a token for programs, a link that works once for browsers."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import deque
from http.cookies import CookieError, SimpleCookie

from assay.errors import InputError

# The variable of the environment that may hold a token.
TOKEN = "ASSAY_TOKEN"  # noqa: S105 - its name, not its value
# 256 bits; a token that somebody chose needs at least so many letters.
_BYTES = 32
SHORTEST = 16
_SESSIONS = 1000
_BEARER = "bearer "


class Access:
    """The token, the link and the sessions of one start of the app; the next start has others.

    A token may be given, as for a team behind a proxy; sessions are new all the same. A link is
    good for one session. Nothing is kept but digests, and they are compared in constant time.

    >>> access = Access(port=8000)
    >>> session = access.enter(access.new_link())
    >>> access.admits(cookie=f"assay-8000={session}")
    True
    """

    def __init__(self, *, port: int, token: str | None = None, secure: bool = False) -> None:
        if token is not None and len(token) < SHORTEST:
            raise InputError(
                f"the token has {len(token)} letters, and at least {SHORTEST} are needed; "
                f"make one with: python3 -c 'import secrets; print(secrets.token_urlsafe())'"
            )
        self.token = token or secrets.token_urlsafe(_BYTES)
        # Cookies are shared by all ports of a host, so the name tells them apart.
        self.cookie = f"assay-{port}"
        self.secure = secure
        self._links: deque[bytes] = deque(maxlen=_SESSIONS)
        self._sessions: deque[bytes] = deque(maxlen=_SESSIONS)

    def new_link(self) -> str:
        """The secret of a link that lets one browser in."""
        secret = secrets.token_urlsafe(_BYTES)
        self._links.append(_digest(secret))
        return secret

    def enter(self, secret: str) -> str | None:
        """A session for whoever has a link or the token; None for others.

        The link is used up.
        """
        link = _among(secret, self._links)
        if link is not None:
            self._links.remove(link)
        elif not hmac.compare_digest(_digest(secret), _digest(self.token)):
            return None
        session = secrets.token_urlsafe(_BYTES)
        self._sessions.append(_digest(session))
        return session

    def leave(self, cookie: str) -> None:
        """End the session of a cookie header."""
        session = _among(self._session(cookie), self._sessions)
        if session is not None:
            self._sessions.remove(session)

    def admits(self, *, authorization: str = "", cookie: str = "") -> bool:
        """Whether the headers hold the token or a session."""
        return self.by_token(authorization) or (
            _among(self._session(cookie), self._sessions) is not None
        )

    def by_token(self, authorization: str) -> bool:
        """Whether the header holds the token, which no browser sends by itself."""
        if not authorization.lower().startswith(_BEARER):
            return False
        given = authorization[len(_BEARER) :].strip()
        return hmac.compare_digest(_digest(given), _digest(self.token))

    def set_cookie(self, session: str) -> str:
        """The header that gives a browser its session."""
        secure = "; Secure" if self.secure else ""
        return f"{self.cookie}={session}; Path=/; HttpOnly; SameSite=Strict{secure}"

    def _session(self, cookie: str) -> str:
        try:
            held = SimpleCookie(cookie).get(self.cookie)
        except CookieError:
            return ""
        return "" if held is None else held.value


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()


def _among(secret: str, digests: deque[bytes]) -> bytes | None:
    """The digest of a secret, if it is one of these; all are looked at, whichever it is."""
    wanted, held = _digest(secret), None
    for digest in digests:
        if hmac.compare_digest(wanted, digest):
            held = digest
    return held
