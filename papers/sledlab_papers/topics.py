"""All topics by name."""

from __future__ import annotations

from .device import DEVICE
from .hybrid import HYBRID
from .power import POWER
from .scheduling import SCHEDULING
from .smart import SMART

TOPICS = {topic.name: topic for topic in (DEVICE, HYBRID, POWER, SCHEDULING, SMART)}
