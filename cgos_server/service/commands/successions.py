"""Which version a version succeeds: stated, changed and withdrawn, in the ledgers of all venues where both are.

Decides what can be no link. Must not know: ratings' formulas, what families are by default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from msgspec import Meta

from cgos_protocol.api import people as api
from cgos_protocol.api.people import Done
from cgos_protocol.errors import Code, Conflict, Invalid
from cgos_protocol.ids import VersionId
from cgos_protocol.session import NARROWEST_STEP, WIDEST_STEP
from cgos_server.core.rating.lineage import Predecessor
from cgos_server.service.commands.context import CommandContext, NamedVersion
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import Field, VersionName
from cgos_server.service.commands.surfaces import ApiRoute, CommandLine, PageForm
from cgos_server.service.people.authority import may
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage.writing.records import Record


class VersionLink(Command[Done], frozen=True, kw_only=True, tag="version link"):
    """Say which version another one succeeds.

    Both are bots, for their own versions, or wire names of versions. Once more with the same predecessor replaces
    `sd` and `surely`.
    """

    allowed = Right.OWN_BOT
    concerns = "version"
    audited = ("predecessor", "sd", "surely", "venues")
    surfaces = (
        CommandLine(
            "version link",
            "Say that NAME succeeds PREDECESSOR, in all venues where both are.\n\n"
            "NAME and PREDECESSOR are bots, or versions by their wire names. A version has one predecessor. Saying it "
            "again replaces SD and surely.",
        ),
        ApiRoute(
            "link_version",
            "PUT",
            "/versions/{version}/predecessor",
            body="LinkVersion",
            body_says="The version that this one succeeds. `sd`: how far apart the two may be (standard deviation of "
            "the step, Elo), null: as the ratings learn it; `surely`: nobody doubts that it is the predecessor.",
            about="An owner links versions of bots that are his own.",
        ),
        *(
            PageForm(
                page,
                "Say so",
                title="Predecessor",
                note="Which version another one comes from. Its rating begins where that one stands, and what becomes "
                "known of one says something of the other.",
            )
            for page in ("/account/bot/{bot}", "/admin/bots/{bot}")
        ),
    )

    version: VersionName
    predecessor: Annotated[
        str,
        Field(body=api.Name, label="The version that it succeeds", caption="It succeeds", metavar="PREDECESSOR"),
    ]
    sd: Annotated[
        float | None,
        Field(
            body=Annotated[float, Meta(ge=NARROWEST_STEP, le=WIDEST_STEP)] | None,
            label="The standard deviation",
            hint="Of the step between the two, in Elo. Empty: as the ratings learn it, which is best.",
            help="Standard deviation of the step between the two, Elo. Without this, which is best, the ratings learn "
            "it from the pool.",
            metavar="ELO",
        ),
    ] = None
    surely: Annotated[
        bool,
        Field(
            caption="Surely",
            help="Nobody doubts it. Without this the ratings may find that the two have nothing in common.",
        ),
    ] = False

    async def perform(self, context: CommandContext) -> Done:
        if self.sd is not None and not NARROWEST_STEP <= self.sd <= WIDEST_STEP:
            raise Invalid(
                Code.SD,
                f"The standard deviation of a step lies between {NARROWEST_STEP:g} and {WIDEST_STEP:g} Elo. Leave it "
                "out unless you know it: the ratings learn it.",
            )
        async with context.ledgers.lock:
            new, old = await context.version(self.version), await context.version(self.predecessor)
            if context.asker is not None:
                owned = await context.store.history.people.bot_owner(old.name)
                may(context.asker.person, self, None if owned is None else owned.owner)
            names = await context.store.history.bots.version_names()
            venues = await context.ledgers.all()
            # From here to the commit nothing may wait: the ledger's numbers must reach the store in their order.
            predecessor = Predecessor(old.version_id, self.sd, self.surely)
            linked = _to_link(venues, new, old, predecessor=predecessor, names=names)
            at = context.now_ms()
            records: list[Record] = []
            for venue in linked:
                records += venues[venue].link(new.version_id, predecessor, at).records
                context.ledgers.changed(venue)
            context.accounts.families.linked(new.version_id, predecessor)
            stated = {} if self.sd is None else {"sd": self.sd}
            where = ", ".join(linked)
            await context.commit(
                self, new.name, records, predecessor=old.name, venues=where, surely=self.surely, **stated
            )
        step = "" if self.sd is None else f" by a step of standard deviation {self.sd:g} Elo"
        return Done(sentence=f"{new.name} {'surely ' if self.surely else ''}succeeds {old.name}{step} in {where}.")


class VersionUnlink(Command[Done], frozen=True, kw_only=True, tag="version unlink"):
    """Withdraw whom a version succeeds: it succeeds nobody then, in no venue.

    Who succeeds it goes on doing so.
    """

    allowed = Right.OWN_BOT
    concerns = "version"
    audited = ("predecessor", "venues")
    surfaces = (
        CommandLine("version unlink", "Withdraw whom NAME succeeds: it succeeds nobody then, in no venue."),
        ApiRoute("unlink_version", "DELETE", "/versions/{version}/predecessor"),
        *(
            PageForm(page, "It succeeds nobody", title="No predecessor")
            for page in ("/account/bot/{bot}", "/admin/bots/{bot}")
        ),
    )

    version: VersionName

    async def perform(self, context: CommandContext) -> Done:
        async with context.ledgers.lock:
            named = await context.version(self.version)
            names = await context.store.history.bots.version_names()
            venues = await context.ledgers.all()
            # From here to the commit nothing may wait, as above.
            at = context.now_ms()
            records: list[Record] = []
            were: dict[str, str] = {}
            for venue, ratings in venues.items():
                predecessor = ratings.lineage.predecessor(named.version_id)
                if predecessor is not None:
                    records += ratings.unlink(named.version_id, predecessor.version, at).records
                    were[venue] = names[predecessor.version]
                    context.ledgers.changed(venue)
            if not were:
                raise Conflict(
                    Code.NOT_LINKED, f"{named.name} succeeds no version in any venue. See: cgos-server version list"
                )
            context.accounts.families.linked(named.version_id, None)
            whom, where = ", ".join(sorted(set(were.values()))), ", ".join(were)
            await context.commit(self, named.name, records, predecessor=whom, venues=where)
        return Done(sentence=f"{named.name} does not succeed {whom} any more in {where}.")


def _to_link(
    venues: Mapping[str, VenueRatings],
    new: NamedVersion,
    old: NamedVersion,
    *,
    predecessor: Predecessor,
    names: Mapping[VersionId, str],
) -> list[str]:
    """The venues in which something is to be written. Raises Conflict where this can be no link, or changes nothing."""
    if new.version_id == old.version_id:
        raise Conflict(Code.ITSELF, f"{new.name} cannot succeed itself: name the version that was before it.")
    both = {
        venue: ratings.lineage
        for venue, ratings in venues.items()
        if ratings.knows(new.version_id) and ratings.knows(old.version_id)
    }
    if not both:
        raise Conflict(
            Code.NOT_RATED,
            f"There is no venue in which both {new.name} and {old.name} have been. Link them when both have come, or "
            "let the bot name its predecessor when it signs in by cgos.v2.",
        )
    linked = []
    for venue, lineage in both.items():
        now = lineage.predecessor(new.version_id)
        if now is not None and now.version != old.version_id:
            raise Conflict(
                Code.LINKED,
                f"{new.name} succeeds {names[now.version]} in {venue}, and a version has one predecessor: of several, "
                f"the one that it plays most like. To name another one, first: cgos-server version unlink {new.name}",
            )
        if lineage.descends(old.version_id, new.version_id):
            raise Conflict(
                Code.CIRCLE,
                f"{old.name} comes from {new.name} itself in {venue}, so {new.name} cannot succeed it. "
                "See: cgos-server version list",
            )
        if now != predecessor:
            linked.append(venue)
    if not linked:
        raise Conflict(Code.NO_CHANGE, f"{new.name} succeeds {old.name} like that already: nothing would change.")
    return linked


COMMANDS: Final = (VersionLink, VersionUnlink)
