"""The sign-in itself: google-auth's, with answers that are none of Google's told in words.

A login page of a hotel's network answers 200 as well, and google-auth takes an answer apart without
looking what it is. Source: RFC 6749, 5.1 and 5.2, for what an answer holds.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from google.auth.exceptions import TransportError
from google.auth.transport.requests import AuthorizedSession, Request
from requests import Session
from requests.adapters import HTTPAdapter

if TYPE_CHECKING:
    from google.auth.credentials import Credentials

SECONDS: Final = 30
TRIES: Final = 3
LONGEST: Final = 30 * 24 * 60 * 60  # seconds that an access token may be good for


class OddAnswer(TransportError):
    """What answered the sign-in is not Google."""


class Asking(Request):
    """google-auth's way to ask, once the answer was looked at."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the answer. Raises TransportError; OddAnswer for what is no answer to a sign-in."""
        # What is signed is meant for this address alone.
        response = super().__call__(  # type: ignore[no-untyped-call]
            *args, **kwargs, allow_redirects=False
        )
        try:
            facts = json.loads(response.data)
        except (ValueError, RecursionError):
            facts = None
        if not isinstance(facts, dict) or (response.status == 200 and not _is_token(facts)):
            raise OddAnswer("the answer to the sign-in is not Google's")  # type: ignore[no-untyped-call]
        return response


def _is_token(facts: dict[str, Any]) -> bool:
    seconds = facts.get("expires_in", 0)
    seconds = int(seconds) if isinstance(seconds, str) and seconds.isdecimal() else seconds
    return isinstance(facts.get("access_token"), str) and (
        isinstance(seconds, int) and 0 <= seconds <= LONGEST
    )


def asking() -> Asking:
    """Return what asks for a sign-in, and tries again where the network fails."""
    session = Session()
    session.mount("https://", HTTPAdapter(max_retries=TRIES))
    return Asking(session)


def signed_session(credentials: Credentials) -> Session:
    """Return a session that signs its requests in, with a timeout for signing in too."""
    return AuthorizedSession(  # type: ignore[no-untyped-call]
        credentials, refresh_timeout=SECONDS, auth_request=asking()
    )
