"""Follows the live events of POSTRIDER_URL, and prints the messages that they are about (language-stream.test.ts)."""

import sys
import time

from postrider import Clock, Postrider, PostriderError


class HastyClock(Clock):
    def sleep(self, seconds):
        time.sleep(min(seconds, 0.05))


_, after, count, silent = sys.argv
client = Postrider(clock=HastyClock())
query = {"types": ["message.bounced"]}
stream = client.events.stream(query if after == "now" else {**query, "after": after})
stream.silent_seconds = float(silent)
try:
    for number, event in enumerate(stream, 1):
        print(event["data"]["message_id"], flush=True)
        if number == int(count):
            break
except PostriderError as error:
    print(type(error).__name__, flush=True)
print("end", flush=True)
sys.stdin.read()
