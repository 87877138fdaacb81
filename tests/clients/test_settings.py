"""What a person may give, and the sentences for what cannot be used."""

from __future__ import annotations

import pytest

from cgos_client.settings import BadSetting, bot_name, secret


@pytest.mark.parametrize("text", ["ab", "a" * 19, "has blank", "1st", "admin2", "quit"])
def test_bad_names(text):
    with pytest.raises(BadSetting, match="--name"):
        bot_name(text)


def test_secrets(tmp_path):
    password, token = tmp_path / "password", tmp_path / "token"
    password.write_text("sesame \nsecond line\n")
    token.write_text("cgos_0123456789")
    assert secret(password, None, {}) == "sesame"
    assert secret(None, token, {"CGOS_PASSWORD": "other"}) == "cgos_0123456789"
    assert secret(None, None, {"CGOS_PASSWORD": "other"}) == "other"


@pytest.mark.parametrize("content", [b"", b"two words", b"\xff\xfe", b"ab", b"quit"])
def test_secrets_that_cannot_be_used(tmp_path, content):
    """Two words on the password line would change the password."""
    file = tmp_path / "password"
    file.write_bytes(content)
    with pytest.raises(BadSetting) as caught:
        secret(file, None, {})
    assert "--password-file" in str(caught.value)
    assert "two words" not in str(caught.value), "a secret is never shown"


def test_missing_secrets(tmp_path):
    with pytest.raises(BadSetting, match="--password-file, or set the environment variable CGOS_PASSWORD"):
        secret(None, None, {})
    with pytest.raises(BadSetting, match="cannot be read"):
        secret(tmp_path / "nowhere", None, {})
    with pytest.raises(BadSetting, match="give one of them"):
        secret(tmp_path / "a", tmp_path / "b", {})
    with pytest.raises(BadSetting, match=r"bot A\.token_file .*nowhere: the file cannot be read"):
        secret(None, tmp_path / "nowhere", {}, ("bot A.password_file", "bot A.token_file"))
