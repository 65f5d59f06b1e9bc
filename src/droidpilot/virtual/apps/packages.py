"""The packages that are installed: the apps with an icon, and some three hundred others that only lists show."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

LAUNCHER = "com.android.launcher3"
SETTINGS = "com.android.settings"
MESSAGES = "com.google.android.apps.messaging"
CONTACTS = "com.google.android.contacts"
CLOCK = "com.google.android.deskclock"
CALENDAR = "com.google.android.calendar"
NOTES = "com.google.android.keep"
BROWSER = "com.android.browser"
LOGIN = "com.northwind.account"
BANK = "com.fernbank.mobile"
SHOP = "com.juniper.shop"
GAME = "com.pebble.game"
COURIER = "com.shaked.courier"
MEALS = "com.fantuan.meals"
FIELDS = "com.formlab.fields"
LOADER = "com.slowpoke.loader"
FAULTY = "com.quicksand.faulty"
BUBBLES = "com.floaty.bubbles"
SCOUT = "com.nearby.scout"
FIRST_ICONS = (CONTACTS, MESSAGES, SETTINGS)
"""These stand first on the home screen; the others follow by label."""
BOUGHT = (
    (LOGIN, "Northwind"),
    (BANK, "Fern Bank"),
    (SHOP, "Shop"),
    (GAME, "Pebbles"),
    (COURIER, "משלוחים"),
    (MEALS, "点餐"),
    (FIELDS, "Fields"),
    (LOADER, "Loader"),
    (FAULTY, "Faulty"),
    (BUBBLES, "Bubbles"),
    (SCOUT, "Scout"),
)
"""Apps with an icon that the person installed: no part of the system."""
OTHERS = 300 - len(BOUGHT)
FIRST = ("Amber", "Blue", "Cedar", "Delta", "Echo", "Fjord", "Grove", "Helio", "Iris", "Jade", "Kite", "Lumen", "Mint",
         "Nova", "Onyx", "Pico", "Quill", "River", "Solar", "Terra")  # fmt: skip
SECOND = ("Budget", "Camera", "Diary", "Fitness", "Games", "Maps", "Mail", "Music", "Notes", "Photos", "Radio",
          "Reader", "Recipes", "Scanner", "Tasks", "Timer", "Travel", "Weather")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Package:
    """One installed package, as the package manager knows it."""

    name: str
    label: str
    version: str
    code: int
    uid: int
    is_system: bool
    megabytes: int


def installed_packages(random: Random) -> list[Package]:
    """Make the packages of a seed, by label; the three hundred others come in different names each."""
    system = [(LAUNCHER, "Launcher"), (SETTINGS, "Settings"), (MESSAGES, "Messages"), (CONTACTS, "Contacts")]
    system += [("com.android.systemui", "System UI"), ("com.github.uiautomator", "AdbKeyboard")]
    system += [(CLOCK, "Clock"), (CALENDAR, "Calendar"), (NOTES, "Notes"), (BROWSER, "Browser")]
    made = [Package(name, label, "14", 34, 10_000 + n, True, 40 + n) for n, (name, label) in enumerate(system)]
    made += [Package(name, label, "2.4", 24, 10_050 + n, False, 20 + n) for n, (name, label) in enumerate(BOUGHT)]
    pairs = [(first, second) for first in FIRST for second in SECOND]
    for number, (first, second) in enumerate(sorted(random.sample(pairs, OTHERS))):
        major, minor = random.randint(1, 9), random.randint(0, 20)
        name = f"com.{first.lower()}.{second.lower()}"
        made.append(
            Package(
                name,
                f"{first} {second}",
                f"{major}.{minor}",
                major * 100 + minor,
                10_100 + number,
                False,
                random.randint(3, 400),
            )
        )
    return sorted(made, key=lambda package: package.label)
