"""People's accounts, as operators keep them: made, disabled, given rights.

Must not know: how people sign in.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from cgos_protocol.api.people import Done
from cgos_protocol.errors import Code, Invalid, NotFound
from cgos_protocol.names import fold, name_fault
from cgos_server.service.commands.context import CommandContext
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import AccountName, AccountSecret, Field, reason_field
from cgos_server.service.commands.reasons import reason_for
from cgos_server.service.commands.surfaces import ApiRoute, CommandLine, PageForm
from cgos_server.storage.writing.records import OwnerAdded, OwnerChanged

RIGHTS: Final = ("admin",)
"""What an account may be given."""

RightName = Annotated[str, Field(body=Literal["admin"])]


class AccountAdd(Command[Done], frozen=True, kw_only=True, tag="account add"):
    """Make a person's account."""

    allowed = Right.OPERATOR
    creates = True
    audited = ("admin",)
    surfaces = (
        CommandLine("account add", "Make the account NAME."),
        ApiRoute(
            "add_account",
            "POST",
            "/admin/accounts",
            body="AddAccount",
            body_says="A person's account; its password has 10 to 128 characters. `admin`: an operator's.",
            status=201,
        ),
        PageForm("/admin/accounts", "Make it", title="Make an account"),
    )

    name: AccountName
    password: AccountSecret
    admin: Annotated[bool, Field(caption="an operator", help="With the right admin.")] = False

    async def perform(self, context: CommandContext) -> Done:
        fault = name_fault(self.name)
        if fault is not None:
            raise Invalid(Code.NAME, fault)
        async with context.accounts.name_lock(self.name):
            added = await new_account(context, self.name, self.password, admin=self.admin)
            await context.commit(self, self.name, [added], admin=self.admin)
        return Done(sentence=f"The account {self.name} is made{', with the right admin' if self.admin else ''}.")


class AccountPasswd(Command[Done], frozen=True, kw_only=True, tag="account passwd"):
    """Replace an account's password; its sessions end."""

    allowed = Right.OPERATOR
    surfaces = (
        CommandLine(
            "account passwd", "Replace the password of the account NAME.\n\nAll its sessions end; its tokens stay."
        ),
        ApiRoute(
            "set_account_password",
            "PUT",
            "/admin/accounts/{account}/password",
            body="SetAccountPassword",
            body_says="The new password of an account: 10 to 128 characters.",
        ),
        PageForm("/admin/accounts", "Replace it", title="Replace a password"),
    )

    account: AccountName
    password: AccountSecret

    async def perform(self, context: CommandContext) -> Done:
        async with context.accounts.name_lock(self.account):  # a row is replaced as a whole
            owner = await context.account(self.account)
            hashed = await context.accounts.new_account_password(self.password)
            ended = await context.sessions.ended(owner.id)
            changed = OwnerChanged(hashed, int(owner.admin), owner.state, owner.id)
            await context.commit(self, owner.name, [changed, *ended])
        return Done(sentence=f"The password of {owner.name} is replaced.")


class AccountGrant(Command[Done], frozen=True, kw_only=True, tag="account grant"):
    """Give an account a right."""

    allowed = Right.OPERATOR
    audited = ("right",)
    surfaces = (
        CommandLine("account grant", "Give the account NAME a right."),
        ApiRoute("grant_right", "PUT", "/admin/accounts/{account}/rights/{right}"),
        PageForm(
            "/admin/accounts",
            "Make an operator",
            place="account",
            when=lambda account: not account.admin,
            warning="{account} will be able to do all that stands on these pages.",
            grave=True,
            fields=("account",),
            fixed={"right": "admin"},
        ),
    )

    account: AccountName
    right: RightName

    async def perform(self, context: CommandContext) -> Done:
        return await _set_right(self, context, granted=True)


class AccountRevoke(Command[Done], frozen=True, kw_only=True, tag="account revoke"):
    """Take a right away."""

    allowed = Right.OPERATOR
    audited = ("right",)
    surfaces = (
        CommandLine("account revoke", "Take a right from the account NAME."),
        ApiRoute("revoke_right", "DELETE", "/admin/accounts/{account}/rights/{right}"),
        PageForm(
            "/admin/accounts",
            "Take the right away",
            place="account",
            when=lambda account: account.admin,
            warning="{account} will be no operator any more.",
            grave=True,
            fields=("account",),
            fixed={"right": "admin"},
        ),
    )

    account: AccountName
    right: RightName

    async def perform(self, context: CommandContext) -> Done:
        return await _set_right(self, context, granted=False)


class AccountDisable(Command[Done], frozen=True, kw_only=True, tag="account disable"):
    """Keep a person out; its sessions and tokens end."""

    allowed = Right.OPERATOR
    audited = ("ended", "reason")
    surfaces = (
        CommandLine(
            "account disable",
            "Keep the person NAME out.\n\nAll its sessions and tokens end. Its bots play on.",
        ),
        ApiRoute(
            "disable_account",
            "POST",
            "/admin/accounts/{account}/disable",
            body="DisableAccount",
            body_says="Why a person is kept out: kept in the audit.",
        ),
        PageForm(
            "/admin/accounts",
            "Disable",
            title="Disable an account",
            warning="{account} will be signed out everywhere and kept out. Its bots go on playing.",
            grave=True,
        ),
    )

    account: AccountName
    reason: Annotated[str, reason_field("is kept", "Why: kept in the audit.", "The audit keeps it.")]

    async def perform(self, context: CommandContext) -> Done:
        reason = reason_for(self.reason, "the account is disabled")
        async with context.accounts.name_lock(self.account):
            owner = await context.account(self.account)
            ended = await context.sessions.ended(owner.id, tokens_too=True)
            changed = OwnerChanged(owner.password, int(owner.admin), "disabled", owner.id)
            await context.commit(self, owner.name, [changed, *ended], reason=reason, ended=len(ended))
        return Done(sentence=f"The account {owner.name} is disabled, and all its sessions and tokens are ended.")


class AccountEnable(Command[Done], frozen=True, kw_only=True, tag="account enable"):
    """Let a person in again.

    By its password: what was ended stays so.
    """

    allowed = Right.OPERATOR
    surfaces = (
        CommandLine("account enable", "Let the person NAME in again, by its password."),
        ApiRoute("enable_account", "POST", "/admin/accounts/{account}/enable"),
        PageForm("/admin/accounts", "Enable", place="account", when=lambda account: account.state != "active"),
    )

    account: AccountName

    async def perform(self, context: CommandContext) -> Done:
        async with context.accounts.name_lock(self.account):
            owner = await context.account(self.account)
            changed = OwnerChanged(owner.password, int(owner.admin), "active", owner.id)
            await context.commit(self, owner.name, [changed])
        return Done(sentence=f"{owner.name} may sign in again.")


async def new_account(
    context: CommandContext, name: str, password: str, *, admin: bool = False, address: str = ""
) -> OwnerAdded:
    """An account that is to be; called under the lock of its name.

    :param address: whose password it is, empty for an operator's choice
    :raises Refused: ``name-taken``, ``password``, ``busy``
    """
    await context.accounts.must_be_free(name)
    hashed = await context.accounts.new_account_password(password, address)
    return OwnerAdded(
        id=context.ids.owner(),
        name=name,
        name_key=fold(name),
        password=hashed,
        admin=int(admin),
        created_at=context.now_ms(),
    )


async def _set_right(command: AccountGrant | AccountRevoke, context: CommandContext, *, granted: bool) -> Done:
    """From the next request on. Raises Refused (``unknown-right``)."""
    if command.right not in RIGHTS:
        raise NotFound(Code.UNKNOWN_RIGHT, f"There is no right {command.right!r}. Choose one of: {', '.join(RIGHTS)}.")
    async with context.accounts.name_lock(command.account):
        owner = await context.account(command.account)
        changed = OwnerChanged(owner.password, int(granted), owner.state, owner.id)
        await context.commit(command, owner.name, [changed], right=command.right)
    return Done(sentence=f"{owner.name} {'has' if granted else 'does not have'} the right {command.right}.")


COMMANDS: Final = (
    AccountAdd,
    AccountPasswd,
    AccountDisable,
    AccountEnable,
    AccountGrant,
    AccountRevoke,
)
