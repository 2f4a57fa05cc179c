"""What the schema tests share; for hypothesis, a busy machine is no failure."""

import re

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("unhurried")


@pytest.fixture
def assert_sentence():
    """Checks that an error is told in one sentence, with a remedy."""

    def check(error):
        message = str(error)
        assert message.endswith("."), message
        assert "\n" not in message
        assert "; " in message, f"no remedy: {message}"
        assert not re.search(r"[.!] [A-Z]", message), f"more than one sentence: {message}"

    return check
