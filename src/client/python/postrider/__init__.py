"""Client for a Postrider server: send mail, follow its delivery, verify webhooks."""

from . import types as types
from .api import Postrider as Postrider
from .errors import *  # noqa: F403
from .runtime import Clock as Clock, Pages as Pages, PostriderError as PostriderError
from .stream import EventStream as EventStream
from .version import VERSION as __version__
from .webhooks import WebhookVerificationError as WebhookVerificationError, unwrap as unwrap
