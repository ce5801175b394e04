"""A side that answers at once: each call takes TIME seconds, the result is
VALUE. Cases of kind `other` are not for it, `wrong` breaks it."""

import os
import sys

TIME = float(os.environ.get("FAKE_TIME", "1"))
VALUE = os.environ.get("FAKE_VALUE", "1")

for line in sys.stdin:
    command, _, rest = line.strip().partition(" ")
    answer = {
        "prepare": f"ok first={3 * TIME:g} compiling={2 * TIME:g} "
                   f"peak={4000 * TIME:g}",
        "run": f"ok best={TIME} median={2 * TIME} cpu={TIME / 2} calls=3",
        "sample": f"ok {VALUE} 2",
        "memory": "ok peak=5000000",
        "facts": "ok version=7 name=fake card=fake_card",
        "call": "ok",
        "steps": f"ok median={TIME} alone={TIME} slowest={2 * TIME} stalls=1 "
                 f"steps=9 host={TIME / 4} peak=3000 launches=5 programs=0",
    }.get(command)
    if command == "quit":
        break
    if "kind=other" in rest:
        answer = "unsupported no such kind"
    if "kind=wrong" in rest:
        sys.exit(3)
    print(answer or "error unknown command", flush=True)
