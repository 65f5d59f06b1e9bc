"""Enter in all its forms: what a confirming key may press, and which keys of a keyboard on the screen may be one.

What enter does in an app cannot be seen, so whatever it may press is judged. It never touches a phone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from droidpilot.screens.hierarchy import Hierarchy, Node
from droidpilot.screens.labels import clean
from droidpilot.screens.screen import Screen, possible_keyboards

#: Keys that press what has the focus, or a form's default button (A29).
CONFIRMING = frozenset({"enter", "dpad_center", "space", "search"})

#: What keys of keyboards are called that type no more than a space, delete, or show other keys. A key that is called by
#: none of these in any language only answers to more rules than it must. Source: AOSP LatinIME, Gboard, Sogou.
_PLAIN_KEY = re.compile(
    r"shift|caps lock|delete|backspace|space|spacebar|space bar|symbols|symbol keyboard|more symbols|letters|alphabet|"
    r"letter keyboard|numbers|number keyboard|switch language|next language|language|voice input|comma|period|dot|"
    r"question mark|exclamation mark|exclamation point|apostrophe|hyphen|slash|colon|semicolon|at sign|hashtag|"
    r"underscore|abc|def|ghi|jkl|mno|pqrs|tuv|wxyz|=\\<|~\[<|~\\\{|#\+=|@#&|"
    r"umschalttaste|umschalt|löschen|rücktaste|leertaste|leerzeichen|symbole|buchstaben|zahlen|"
    r"maj|majuscule|supprimer|espace|symboles|lettres|mayús|mayúsculas|borrar|eliminar|espacio|símbolos|letras|"
    r"maiusc|elimina|spazio|simboli|lettere|excluir|apagar|espaço|verwijderen|spatie|usuń|spacja|удалить|пробел|"
    r"символы|буквы|видалити|пробіл|sil|boşluk|حذف|مسافة|hapus|spasi|xóa|ลบ|"
    r"删除|刪除|退格|空格|符号|符號|大写|大寫|削除|スペース|空白|記号|삭제|스페이스|기호"
)
_PLAIN_ID = re.compile(
    r"(?:key_pos_|key_|btn_)?(?:del|delete|backspace|shift|caps_?lock|space|spacebar|symbols?|lang|language)(?:_key)?"
)
#: Words of an id that belongs to the action key, whatever is painted on it.
_ACTION_ID = re.compile(r"(?<![a-z])(?:action|enter|return|done|send|search|go|next|submit|confirm|ok)(?![a-z])")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
#: A key for other keys, such as ?123 or 1/2.
_LAYOUT = re.compile(r"(?=.*\d)[!-@\[-`{-~]{2,5}")
_WITH_SHIFT = re.compile(r"(?:capital|uppercase|shift|shifted) (?=\S$)")


def default_buttons(hierarchy: Hierarchy) -> Iterator[Node]:
    """Yield what enter may press: the focused node; for a text field also the buttons of its window.

    Which button an app binds to enter cannot be seen, so every candidate is judged; rows of a list are none.
    """
    for focused in (node for node in hierarchy.nodes if node.focused):
        yield focused
        if focused.is_editable:
            around = {above.index for above in hierarchy.ancestors(focused)}
            for node in hierarchy.nodes:
                if node.window == focused.window and _is_button(node) and not _is_in_list(hierarchy, node, around):
                    yield node


def _is_button(node: Node) -> bool:
    return node.clickable and node.enabled and node.visible and not node.is_editable


def _is_in_list(hierarchy: Hierarchy, node: Node, around: set[int]) -> bool:
    lists = ("RecyclerView", "ListView", "GridView", "ViewPager")
    above = hierarchy.ancestors(node)
    return any(one.scrollable and one.index not in around and one.cls.endswith(lists) for one in above)


def is_on_keyboard(screen: Screen, nodes: tuple[Node, ...]) -> bool:
    """Tell whether a keyboard is among what lies under a point."""
    keyboards = possible_keyboards(screen.hierarchy, screen.package)
    return any(node.window in keyboards for node in nodes)


def may_be_enter(screen: Screen, nodes: tuple[Node, ...]) -> bool:
    """Tell whether what lies under a point may be the action key of a keyboard: Enter, Done, Send, ... (A29).

    Many keyboards paint keys without a word for them, so every place of a keyboard is one that is not known to be a key
    for a character, shift, delete, space or other keys.
    """
    keyboards = possible_keyboards(screen.hierarchy, screen.package)
    for window in keyboards:
        here = [node for node in nodes if node.window == window]
        if here and not _is_plain_key(here):
            return True
    return False


def _is_plain_key(here: list[Node]) -> bool:
    """Tell whether the key among these nodes, topmost first, is provably not the action key."""
    key = next((node for node in here if node.is_tappable), here[0])
    parts = [node for node in here if key.index <= node.index < key.end]
    ids = [_CAMEL.sub("_", node.resource_id.rpartition("/")[2]).lower() for node in parts]
    if any(_ACTION_ID.search(name) for name in ids):
        return False
    said = [text for node in parts for text in (node.text, node.desc) if text]
    if said and all(_is_plain(text) for text in said):
        return True
    return any(_PLAIN_ID.fullmatch(name) for name in ids)


def _is_plain(text: str) -> bool:
    if text.isspace():
        return "\n" not in text and "\r" not in text
    words = _WITH_SHIFT.sub("", clean(text).lower())
    if _PLAIN_KEY.fullmatch(words) is not None or _LAYOUT.fullmatch(words) is not None:
        return True
    return len(unicodedata.normalize("NFC", words)) == 1 and _is_typed(words)


def _is_typed(character: str) -> bool:
    """Tell whether a label of one character types it. An arrow or a tick may be enter, and so may a Chinese word."""
    if character.isascii():
        return character.isprintable()
    kinds = {unicodedata.category(part) for part in character}
    is_han = unicodedata.name(character[0], "").startswith("CJK")
    return not is_han and all(kind[0] in "LNM" or kind in ("Po", "Pd", "Ps", "Pe", "Pi", "Pf", "Sc") for kind in kinds)
