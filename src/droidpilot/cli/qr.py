"""A QR code in the terminal. The library that computes it is an extra; without it, what to do instead is said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from droidpilot.core.errors import UsageError

#: Light modules around the code, without which no scanner finds it. Source: ISO/IEC 18004, quiet zone.
QUIET = 4
#: What two modules above each other look like, upper and lower one dark or not; light is what is drawn.
_SIGNS = {(False, False): "█", (False, True): "▀", (True, False): "▄", (True, True): " "}


def matrix_of(text: str) -> list[list[bool]]:
    """Compute the code of a text, its quiet zone included; true is dark.

    Raises:
        UsageError: code `no_qr`, the extra is not installed.
    """
    try:
        import segno
    except ImportError as error:
        raise UsageError(
            "drawing a QR code needs one more library",
            hint="install it with: pip install 'droidpilot[qr]'; or choose 'Pair device with pairing code' on the "
            "phone and type: droidpilot pair HOST:PORT",
            code="no_qr",
        ) from error
    return [[bool(module) for module in row] for row in segno.make(text, micro=False).matrix_iter(border=QUIET)]


def lines_of(matrix: Sequence[Sequence[bool]], *, is_terminal_light: bool = False) -> Iterable[str]:
    """Draw a code for a terminal, two modules in one character; dark modules are the colour of its ground.

    On a terminal with a light ground it is turned around.
    """
    for place in range(0, len(matrix), 2):
        upper = matrix[place]
        lower = matrix[place + 1] if place + 1 < len(matrix) else [False] * len(upper)
        yield "".join(
            _SIGNS[(above != is_terminal_light, below != is_terminal_light)]
            for above, below in zip(upper, lower, strict=True)
        )
