"""`cgos-server account` and `webhook`: people's accounts, what lets them in, and where they are told.

What changes something is declared by its command. Must not know: how it is done.
"""

from __future__ import annotations

import click
import msgspec

from cgos_protocol.api.people import Access
from cgos_server.cli.bots.personal import account_export
from cgos_server.cli.commands.declared import add_declared
from cgos_server.cli.common import Setup, configured, json_option
from cgos_server.cli.output import print_json, print_list, print_table, when
from cgos_server.cli.reading import now_ms, read
from cgos_server.presentation.words import last_seen, moment
from cgos_server.storage.reading.history import History
from cgos_server.storage.reading.people_answers import OwnedBot, WebhookRow


@click.group()
def account() -> None:
    """People's accounts; the right admin makes an operator."""


@account.command("list")
@json_option
@configured
def account_list(setup: Setup, as_json: bool) -> None:
    """All accounts."""
    rows = read(setup, lambda history: history.people.accounts())
    print_list(
        rows,
        {
            "account": lambda row: row.name,
            "rights": lambda row: "admin" if row.admin else None,
            "state": lambda row: row.state,
            "made (UTC)": lambda row: moment(row.created_at),
        },
        as_json=as_json,
    )


@account.command("bots")
@click.argument("name")
@json_option
@configured
def account_bots(setup: Setup, name: str, as_json: bool) -> None:
    """The bots of the account NAME, and what it wants for them."""

    async def ask(history: History) -> list[OwnedBot]:
        return await history.people.bots_of(await history.people.account_id(name))

    print_list(
        read(setup, ask),
        {
            "bot": lambda row: row.name,
            "state": lambda row: row.state,
            "paused": lambda row: "yes" if row.paused else None,
            "games a day": lambda row: row.limits.games_a_day,
            "avoids": lambda row: ", ".join(row.limits.avoid),
            "accepts": lambda row: ", ".join(row.limits.accepts),
            "hours (UTC)": lambda row: row.limits.hours,
            "last seen (UTC)": lambda row: last_seen(row.last_seen_at, row.signed_in),
            "reason": lambda row: row.reason,
        },
        as_json=as_json,
    )


@account.command("tokens")
@click.argument("name")
@click.option("--all", "ended_too", is_flag=True, help="Also those that let nobody in any more.")
@json_option
@configured
def account_tokens(setup: Setup, name: str, ended_too: bool, as_json: bool) -> None:
    """The sessions and tokens of the account NAME, without their texts."""

    async def ask(history: History) -> list[Access]:
        return await history.people.access_of(await history.people.account_id(name))

    now = now_ms()
    rows = [
        row
        for row in read(setup, ask)
        if ended_too or (row.revoked_at is None and (row.expires_at is None or row.expires_at > now))
    ]
    print_list(
        rows,
        {
            "number": lambda row: row.id,
            "kind": lambda row: row.kind,
            "label": lambda row: row.label,
            "scopes": lambda row: " ".join(row.scopes),
            "from": lambda row: row.address,
            "made (UTC)": lambda row: moment(row.created_at),
            "ends (UTC)": lambda row: when(row.expires_at),
            "ended (UTC)": lambda row: when(row.revoked_at),
        },
        as_json=as_json,
    )


@click.group()
def webhook() -> None:
    """Where people are told by HTTP what their bots do."""


@webhook.command("list")
@click.option("--account", metavar="NAME", help="Only of this account.")
@json_option
@configured
def webhook_list(setup: Setup, account: str | None, as_json: bool) -> None:
    """All webhooks, without their secrets."""

    async def ask(history: History) -> list[WebhookRow]:
        return await history.people.webhooks(None if account is None else await history.people.account_id(account))

    rows = read(setup, ask)
    if as_json:
        shown = [msgspec.structs.asdict(row) for row in rows]
        print_json([{name: value for name, value in row.items() if name != "secret"} for row in shown])
        return
    print_table(
        ("number", "account", "bot", "address", "events", "made (UTC)", "stopped (UTC)", "why"),
        [
            (
                row.id,
                row.owner,
                row.bot,
                row.url,
                " ".join(row.events),
                moment(row.created_at),
                when(row.stopped_at),
                row.why,
            )
            for row in rows
        ],
    )


account.add_command(account_export)
add_declared(account)
add_declared(webhook)
