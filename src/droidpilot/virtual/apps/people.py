"""Names of people for Messages and Contacts, drawn from a seed; some awkward on purpose: emoji, CJK, right to left."""

from __future__ import annotations

from random import Random

AWKWARD = ("Zoë 🎉 Party", "王小明", "דנה לוי (Dana)", "محمد علي")
FIRST = ("Alice", "Bruno", "Carla", "David", "Emma", "Farid", "Grace", "Hugo", "Ines", "Jonas", "Kira", "Liam", "Mona",
         "Nils", "Olga", "Paula", "Quinn", "Rosa", "Sven", "Tara")  # fmt: skip
LAST = ("Abel", "Brandt", "Costa", "Dubois", "Engel", "Fischer", "Garcia", "Holm", "Ito", "Jensen", "Keller", "Lopez")


def people(random: Random, count: int) -> list[str]:
    """Make `count` different names; the awkward ones are always among the first twelve."""
    plain: list[str] = []
    while len(plain) < count - len(AWKWARD):
        name = f"{random.choice(FIRST)} {random.choice(LAST)}"
        if name not in plain:
            plain.append(name)
    head = [*plain[:8], *AWKWARD]
    random.shuffle(head)
    return head + plain[8:]
