"""An administration whose live server holds events in memory."""

from __future__ import annotations

from typing import Any

import pytest
from support.service.acting import Live
from support.service.event_desk import Desk

from cgos_server.service.admin import Admin
from cgos_server.service.people.accounts import Accounts


@pytest.fixture
def desk(clock: Any) -> Desk:
    return Desk(clock)


@pytest.fixture
def admin(accounts: Accounts, desk: Desk) -> Admin:
    control: Any = Live()
    control.events = desk
    return Admin(accounts, control)
