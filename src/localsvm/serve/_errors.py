"""What a client is told when a request cannot be answered."""

from __future__ import annotations


class RequestError(Exception):
    """A request that cannot be answered, with the status and the reason to send.

    Parameters
    ----------
    status : int
        Of HTTP.
    message : str
        Names the field, what was found and what was expected.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def wrong(message: str) -> RequestError:
    """Content that the client has to change."""
    return RequestError(400, message)


def too_large(message: str) -> RequestError:
    """Content of which there is too much."""
    return RequestError(413, message)


def busy(message: str) -> RequestError:
    """Content that may be sent again later."""
    return RequestError(503, message)
