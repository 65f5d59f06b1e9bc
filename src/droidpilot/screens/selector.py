"""Selector: a description that finds nodes. A value and its matching; how a phone is asked is the driver's business."""

from __future__ import annotations

from dataclasses import dataclass

from droidpilot.screens.hierarchy import Hierarchy, Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """Finds nodes by equality of every field that is not None; `instance` picks the n-th match in preorder, from 0."""

    text: str | None = None
    desc: str | None = None
    resource_id: str | None = None
    cls: str | None = None
    package: str | None = None
    focused: bool | None = None
    instance: int | None = None

    def matches(self, node: Node) -> bool:
        """Tell whether `node` fits, `instance` aside."""
        return (
            (self.text is None or node.text == self.text)
            and (self.desc is None or node.desc == self.desc)
            and (self.resource_id is None or node.resource_id == self.resource_id)
            and (self.cls is None or node.cls == self.cls)
            and (self.package is None or node.package == self.package)
            and (self.focused is None or node.focused == self.focused)
        )

    def find(self, hierarchy: Hierarchy) -> tuple[Node, ...]:
        """Return the matching nodes in preorder; with `instance` at most one."""
        found = tuple(node for node in hierarchy.nodes if self.matches(node))
        if self.instance is None:
            return found
        return found[self.instance : self.instance + 1]
