"""Login: e-mail and password, a message when they are wrong, a box to be remembered, and a page once signed in.

The password is never in the truth, only whether the last try was right.
"""

from __future__ import annotations

from droidpilot.virtual.apps.packages import LOGIN
from droidpilot.virtual.apps.parts import MARGIN, edit, message, padded, scroller, wide_button
from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.views import TextField, View
from droidpilot.virtual.ui.widgets import check_box, label, page, row
from droidpilot.virtual.ui.windows import Window

EMAIL = "ada@northwind.example"
PASSWORD = "tulip-42-Harbor"  # the one account of a phone that does not exist
MAX_TRIES = 5


class Login:
    """An app behind a sign-in page. It has one account: EMAIL with PASSWORD."""

    package = LOGIN
    activity = ".auth.SignInActivity"
    label = "Northwind"

    def __init__(self, host: Host) -> None:
        self._host = host
        self.clear()

    def clear(self) -> None:
        self._user: str | None = None
        self._is_remembered = False
        self._failures = 0
        self._problem = ""
        self._email = TextField("email", hint="Email")
        self._password = TextField("password", is_password=True, hint="Password")

    def state(self) -> dict[str, object]:
        return {
            "login": {"signed_in": self._user, "remembered": self._is_remembered, "failures": self._failures},
        }

    def first(self) -> Window:
        window = Window(LOGIN, f"{LOGIN}{self.activity}", "Sign in", "sign in", lambda: self._body(window))
        window.on_enter = lambda: self._host.later(lambda: self._sign_in(window))
        return window

    def _body(self, window: Window) -> View:
        return self._account(window) if self._user is not None else self._form(window)

    def _form(self, window: Window) -> View:
        email, password = self._email, self._password
        is_locked = self._failures >= MAX_TRIES
        parts = [
            label("Welcome back", id=f"{LOGIN}:id/headline", size=64, pad=MARGIN),
            edit(window, email, f"{LOGIN}:id/email"),
            edit(window, password, f"{LOGIN}:id/password"),
        ]
        if self._problem:
            parts.append(message(self._problem, id=f"{LOGIN}:id/textinput_error"))
        remember = check_box(
            "Remember me",
            id=f"{LOGIN}:id/remember_me",
            is_checked=self._is_remembered,
            on_click=lambda: self._host.later(self._turn),
        )
        show = check_box(
            "Show password",
            id=f"{LOGIN}:id/show_password",
            is_checked=password.is_revealed,
            on_click=lambda: self._host.later(self._reveal),
        )
        sign_in = wide_button(
            "Sign in",
            id=f"{LOGIN}:id/sign_in",
            is_enabled=bool(email.text and password.text) and not is_locked,
            on_click=lambda: self._host.later(lambda: self._sign_in(window)),
        )
        parts += [padded(show), padded(remember), sign_in]
        return page(LOGIN, "Sign in", scroller(window, parts), on_up=None)

    def _account(self, window: Window) -> View:
        parts = [
            label("You are signed in", id=f"{LOGIN}:id/headline", size=64, pad=MARGIN),
            row("Signed in as", self._user or ""),
            row("Plan", "Northwind Basic"),
            wide_button("Sign out", id=f"{LOGIN}:id/sign_out", on_click=lambda: self._host.later(self._sign_out)),
        ]
        return page(LOGIN, "Account", scroller(window, parts), on_up=None)

    def _turn(self) -> None:
        self._is_remembered = not self._is_remembered

    def _reveal(self) -> None:
        self._password.is_revealed = not self._password.is_revealed

    def _sign_in(self, window: Window) -> None:
        email = self._email.text.strip()
        if self._user is not None or self._failures >= MAX_TRIES or not (email and self._password.text):
            return
        if "@" not in email:
            self._problem = "Enter a valid email address"
        elif (email.lower(), self._password.text) != (EMAIL, PASSWORD):
            self._failures += 1
            self._problem = "Wrong email or password. Try again."
            if self._failures >= MAX_TRIES:
                self._problem = "Too many tries. Try again later."
        else:
            self._user, self._problem, window.focus = email.lower(), "", None
            if not self._is_remembered:
                self._email.put("")
        self._password.put("")

    def _sign_out(self) -> None:
        self._user = None
