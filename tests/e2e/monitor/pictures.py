#!/usr/bin/env python3
"""The pictures of docs/monitor.md, made anew: needs tmux and chromium.

usage: pictures.py FOLDER DEMO
"""

import html
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from played import DEMO, play

STYLES = {"1": "font-weight:bold", "2": "opacity:.6", "36": "color:#4fc1d8",
          "33": "color:#e5b14c", "31": "color:#ff8a80"}


def shoot(page, size, target):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["chromium", "--headless=old", "--no-sandbox", "--disable-gpu",
             "--hide-scrollbars", f"--user-data-dir={folder}",
             f"--window-size={size}", f"--screenshot={target}", page.as_uri()],
            check=True, capture_output=True, timeout=60)


def as_html(screen):
    """What `tmux capture-pane -e` gives, as a page."""
    text = html.escape(screen.rstrip("\n"), quote=False)
    # Fonts take letters that they lack from others, of another width.
    text = re.sub(r"[^\x00-\x7f]", lambda found: "<i>" + found.group() + "</i>",
                  text)
    text = re.sub(r"\033\[([\d;]*)m", lambda found: "</span><span style='" + ";"
                  .join(STYLES.get(code, "") for code in
                        found.group(1).split(";")) + "'>", text)
    return ("<!DOCTYPE html><meta charset=utf-8><style>i { font-style: normal;"
            "display: inline-block; width: 1ch; height: 18px; overflow: hidden;"
            "vertical-align: top }</style><body style='margin:0;"
            "background:#161615'><pre style='margin:12px;color:#f0efec;"
            "font:15px/18px \"DejaVu Sans Mono\",monospace'><span>" + text +
            "</span></pre>")


def terminal(folder, target):
    tmux = ["tmux", "-S", str(folder / "tmux"), "-f", "/dev/null"]
    subprocess.run([*tmux, "new-session", "-d", "-x", "80", "-y", "24",
                    f"env LANG=C.UTF-8 {DEMO} '' epochs=5 pace=4000"],
                   check=True)
    screen = ""
    while "epoch 4/5" not in screen or not re.search(r"train .* [3-6]\d %",
                                                     screen):
        time.sleep(0.1)
        screen = subprocess.run([*tmux, "capture-pane", "-p", "-e"], check=True,
                                capture_output=True, text=True).stdout
        screen = re.sub("\033(\\(B|\\[49m)", "", screen)
    subprocess.run([*tmux, "kill-server"], check=True)
    page = folder / "terminal.html"
    page.write_text(as_html(screen))
    shoot(page, "752,456", target)


def main(out):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        terminal(folder, out / "monitor-terminal.png")
        play(folder, "epochs=5")
        shoot(folder / "report.html", "1000,900", out / "monitor-page.png")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve())
