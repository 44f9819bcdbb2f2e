"""Tables of named rows (metrics, formats, target kinds, judge providers): those that are built in, and plugins.

A plugin is looked for only when a name is not built in, so a run that needs none neither reads nor imports anything for
them. How plugins are found is set from outside, by `assay.calls.plugins.enable_plugins`; until then there are none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import ClassVar, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from assay.records.errors import PluginError, Problem, shorten_repr

Row = TypeVar("Row")


class Plugin(Struct, frozen=True):
    """An object outside Assay that adds a row to a table.

    `reference` is its import path `module:attr`. `distribution` is the name and version of the package that declares
    it, empty for an import path that was named directly. `load` imports it and raises what the import raises.
    """

    name: str
    reference: str
    distribution: str
    load: Callable[[], object]

    def __str__(self) -> str:
        return f"{self.reference} of {self.distribution}" if self.distribution else self.reference

    def make_error(self, kind: str, message: str) -> PluginError:
        """Return the error that names this plugin. `kind` is what it adds, such as `metric`."""
        subject = f"{kind} {self.name}" if self.name else kind
        return PluginError([Problem("", None, subject, f"plugin {self}: {message}", "E_PLUGIN")])


FindPlugins = Callable[[str], Sequence[Plugin]]
"""Returns the installed plugins of a group of entry points, without importing them."""


def _find_none(_: str) -> Sequence[Plugin]:
    return ()


def _accept(_: object) -> str:
    return ""


class PluginTable(Mapping[str, Row], Generic[Row]):
    """Rows by name. Built-in rows come first and cannot be replaced; iteration lists the plugins loaded so far.

    `group` is the group of entry points; `kind` names a row in messages; `row_type` is what a plugin must be an
    instance of; `reserved` are further names that a plugin must not have. `find_fault` returns what is wrong with a
    row of the right type, or "".

    A look-up raises KeyError if nothing has the name, and PluginError if a plugin has it but cannot be used.
    """

    find_plugins: ClassVar[FindPlugins] = staticmethod(_find_none)
    in_use: ClassVar[list[tuple[str, Plugin]]] = []
    """What the plugins in use add, and the plugins, of all tables."""

    def __init__(
        self,
        group: str,
        kind: str,
        row_type: type[Row],
        built_in: Mapping[str, Row],
        *,
        reserved: Collection[str] = (),
        find_fault: Callable[[Row], str] = _accept,
    ) -> None:
        self.group, self.kind = group, kind
        self._row_type, self._find_fault = row_type, find_fault
        self._built_in = dict(built_in)
        self._reserved = frozenset((*reserved, *built_in))
        self._added: dict[str, Row] = {}
        self._plugins: dict[str, Plugin] = {}

    def __getitem__(self, name: str) -> Row:
        if name in self._built_in:
            return self._built_in[name]
        if name not in self._added:
            self.add_plugin(self._find_installed(name))
        return self._added[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._built_in
        yield from sorted(self._added)

    def __len__(self) -> int:
        return len(self._built_in) + len(self._added)

    def get_plugin(self, name: str) -> Plugin | None:
        """Return the plugin whose row is in use under a name; None for a built-in row."""
        return self._plugins.get(name)

    def list_plugins(self) -> list[Plugin]:
        """Return the plugins in use, by name."""
        return [plugin for _, plugin in sorted(self._plugins.items())]

    def list_names(self) -> list[str]:
        """Return all names: built in, in use, and installed. Nothing is imported."""
        installed = [plugin.name for plugin in PluginTable.find_plugins(self.group)]
        return list(dict.fromkeys((*self, *sorted(installed))))

    def add_plugin(self, plugin: Plugin) -> str:
        """Load a plugin, add its row and return the row's name. Raises PluginError if it cannot be used."""
        try:
            row = plugin.load()
        except Exception as error:  # a module may raise anything while it is imported
            message = f"cannot be imported ({type(error).__name__}: {error})"
            raise plugin.make_error(self.kind, message) from error
        if not isinstance(row, self._row_type) or isinstance(row, type):
            expected = f"an instance of {self._row_type.__module__}.{self._row_type.__name__}"
            raise plugin.make_error(self.kind, f"wrong type (got {shorten_repr(row)}; expected {expected})")
        name = str(getattr(row, "name", plugin.name))
        fault = self._find_name_fault(plugin, name) or self._find_fault(row)
        if fault:
            raise plugin.make_error(self.kind, fault)
        self._forget_in_use(self._plugins.get(name))
        self._added[name], self._plugins[name] = row, replace(plugin, name=name)
        PluginTable.in_use.append((self.kind, self._plugins[name]))
        return name

    def add_row(self, row: Row) -> None:
        """Add a row that is made from data, not from code, or replace it. Raises ValueError with what is wrong."""
        name = str(getattr(row, "name", ""))
        if name in self._reserved or name in self._plugins:
            raise ValueError(f"the name is taken (got {name!r}; expected a name of its own)")
        fault = self._find_fault(row)
        if fault:
            raise ValueError(fault)
        self._added[name] = row

    def forget_rows(self) -> None:
        """Remove the rows that were made from data."""
        self._added = {name: row for name, row in self._added.items() if name in self._plugins}

    def load_installed(self) -> Iterator[tuple[Plugin, PluginError | None]]:
        """Load every installed plugin of the group; yield each with the error for which it cannot be used, or None."""
        for plugin in PluginTable.find_plugins(self.group):
            try:
                if plugin.name not in self._reserved:
                    self._find_installed(plugin.name)
                self.add_plugin(plugin)
            except PluginError as error:
                yield plugin, error
            else:
                yield plugin, None

    def forget_plugins(self) -> None:
        """Remove the rows of all plugins."""
        self._forget_in_use(*self._plugins.values())
        self._added.clear()
        self._plugins.clear()

    def _forget_in_use(self, *plugins: Plugin | None) -> None:
        PluginTable.in_use[:] = [(kind, plugin) for kind, plugin in PluginTable.in_use if plugin not in plugins]

    def _find_installed(self, name: str) -> Plugin:
        """Return the installed plugin of a name. Raises KeyError for none, PluginError for several."""
        named = [plugin for plugin in PluginTable.find_plugins(self.group) if plugin.name == name]
        if not named:
            raise KeyError(name)
        if len(named) > 1:
            others = " and ".join(str(plugin) for plugin in named[1:])
            raise named[0].make_error(self.kind, f"the name is not unique (got it from {others} too; uninstall one)")
        return named[0]

    def _find_name_fault(self, plugin: Plugin, name: str) -> str:
        if name in self._reserved:
            return f"the name is taken (got {name!r}, which is built in; expected a name of its own)"
        if plugin.name and name != plugin.name:
            return f"two names (got an entry point {plugin.name!r} for {name!r}; expected the same name in both)"
        others = [*PluginTable.find_plugins(self.group), *self.list_plugins()]
        for other in others:
            if other.name == name and other.reference != plugin.reference:
                return f"the name is not unique (got {name!r} from {other} too; expected it once)"
        return ""
