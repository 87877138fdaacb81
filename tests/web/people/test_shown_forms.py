"""A command's form is on its page because it is declared: no template names a command."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Annotated, Any, Union

import msgspec
import pytest
from support.web.past import EVENT
from web.people.conftest import House
from web.people.test_owner import OWN, sound

from cgos_protocol.api.people import Done
from cgos_server.service.commands import registry
from cgos_server.service.commands.context import CommandContext
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import BotName, Field
from cgos_server.service.commands.registry import COMMANDS, on
from cgos_server.service.commands.surfaces import PageForm
from cgos_server.web.events.admin_page import AdminEvents
from cgos_server.web.events.event_page import EventPage
from cgos_server.web.people.account import AccountPage, ErasePage, PasswordPage
from cgos_server.web.people.admin_bots import AdminAccounts, AdminBot, AdminBots, AdminConnections
from cgos_server.web.people.admin_server import AdminGames, AdminHome, AdminVenues
from cgos_server.web.people.own_bot import OwnBotPage
from cgos_server.web.questions.listing import QuestionsPage
from cgos_server.web.questions.question_page import QuestionPage

PAGES = (
    AccountPage,
    PasswordPage,
    ErasePage,
    OwnBotPage,
    AdminHome,
    AdminBots,
    AdminBot,
    AdminConnections,
    AdminGames,
    AdminVenues,
    AdminAccounts,
    AdminEvents,
    EventPage,
    QuestionsPage,
    QuestionPage,
)
ROWS = {"/admin/bots": "bot", "/admin/accounts": "account", "/account": "access"}


class Polish(Command[Done], frozen=True, kw_only=True, tag="bot polish"):
    """Polish a bot."""

    allowed = Right.OPERATOR
    surfaces = (
        *(PageForm(page.address, "Polish it", title="Polishing", note="It shines then.") for page in PAGES),
        *(PageForm(page, "Polish here", place=place) for page, place in ROWS.items()),
    )

    bot: BotName
    cloth: Annotated[str, Field(label="The cloth", hint="Silk is best.")]
    twice: Annotated[bool, Field(caption="twice")] = False

    async def perform(self, context: CommandContext) -> Done:
        return Done(sentence=f"{self.bot} was polished with {self.cloth}{', twice' if self.twice else ''}.")


@pytest.fixture
def polishing(monkeypatch: pytest.MonkeyPatch) -> type[Polish]:
    """One command more, declared and nowhere else."""
    commands: tuple[Any, ...] = (*COMMANDS, Polish)
    monkeypatch.setattr(registry, "COMMANDS", commands)
    monkeypatch.setattr(registry, "_COMMAND", msgspec.json.Decoder(Union[commands]))  # noqa: UP007
    return Polish


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.__name__)
async def test_a_new_command_has_its_form_on_every_page_that_it_names(
    house: House, polishing: type[Polish], monkeypatch: pytest.MonkeyPatch, page: Any
) -> None:
    monkeypatch.setattr(polishing, "surfaces", [form for form in polishing.on(PageForm) if not form.place])
    browser = await house.signed_in("root", admin=True, owns="Sakura-5k")
    path = page.address.format(bot="Sakura-5k", event=EVENT, question=1)
    text = (await browser.get(path)).text
    assert re.search(
        r'<h[23] id="bot-polish">Polishing</h[23]>(?:</summary>)?\n<p class="note">It shines then.</p>', text
    )
    shown = sound(text)
    assert '<span>Cloth</span> <input type="text" name="cloth" value="" autocomplete="off" required>' in text
    assert "Silk is best." in shown.text
    assert shown.attribute("input", "value", name="twice") == "yes"
    refused = await browser.send(path, "bot polish", bot="Sakura-5k", cloth="")
    assert refused.status_code == 422
    assert "The cloth is missing: fill it in." in sound(refused.text).text
    done = await browser.send(path, "bot polish", bot="Sakura-5k", cloth="silk", twice="yes")
    assert done.status_code == 303
    assert await browser.notice(path) == "Sakura-5k was polished with silk, twice."


@pytest.mark.parametrize("path", ROWS)
async def test_a_new_command_stands_beside_every_row(
    house: House, polishing: type[Polish], monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(polishing, "surfaces", [form for form in polishing.on(PageForm) if form.place])
    browser = await house.signed_in("root", admin=True)
    await house.browser().sign_in("root")
    answer = await browser.get(path)
    sound(answer.text)
    assert "Polish here</button>" in answer.text


async def test_what_needs_a_state_is_shown_in_that_state_alone(house: House) -> None:
    browser = await house.signed_in("alice", owns="Sakura-5k")
    before = (await browser.get(OWN)).text
    assert ">Pause</button>" in before
    assert ">Resume</button>" not in before
    await browser.send(OWN, "bot pause")
    after = (await browser.get(OWN)).text
    assert ">Resume</button>" in after
    assert ">Pause</button>" not in after


def test_every_page_and_place_of_a_declared_form_is_there() -> None:
    addresses = {page.address for page in PAGES} | {"/sign-in", "/register", "/sign-out"}
    assert {form.page for _, form in on(PageForm)} == addresses
    for page in PAGES:
        template = files("cgos_server.web").joinpath("templates", page.template).read_text("utf-8")
        named = set(re.findall(r'\b(?:row_)?forms\("(\w+)"', template))
        if re.search(r"\bforms\((?!\")", template):
            named.add("")
        assert {form.place for _, form in on(PageForm) if form.page == page.address} <= named, page
        assert "" in named, f"{page} has no place for a form that names none"
