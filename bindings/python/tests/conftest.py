"""Settings of the tests."""

from hypothesis import settings

# Times say nothing on a machine that does other things, too.
settings.register_profile("dunnage", deadline=None)
settings.load_profile("dunnage")
