"""A GTP program for tests: plays fixed moves, writes down every command it gets, and fails in the way it is told.

    fake_gtp.py RECORD [--moves D4,E5,PASS] [--always MOVE] [--fault NAME] [--at N] [--times N] [--without COMMAND]
                [--with COMMAND] [--refuse COMMAND] [--analysis TEXT] [--kata TEXT] [--lz TEXT] [--score TEXT]
                [--noise TEXT]

The noise is written at the start and before each answer.
The three analyses are listed where a text is given for them; a text "FORMLESS" is answered without a move.
Faults strike at the Nth request for a move (1-based, counted from the start of each process), in the first `--times`
processes only; RECORD counts the processes.
"""

import argparse
import sys
import time

COMMANDS = [
    "protocol_version",
    "name",
    "version",
    "list_commands",
    "boardsize",
    "clear_board",
    "komi",
    "play",
    "genmove",
    "time_settings",
    "time_left",
    "cgos-opponent_name",
    "cgos-opponent_rating",
    "cgos-gameover",
    "quit",
]

parser = argparse.ArgumentParser()
parser.add_argument("record")
parser.add_argument("--moves", default="D4,E5,F6,G7,PASS")
parser.add_argument("--fault", default="none")
parser.add_argument("--at", type=int, default=1)
parser.add_argument("--times", type=int, default=1)
parser.add_argument("--always")
parser.add_argument("--noise", default="")
parser.add_argument("--analysis")
parser.add_argument("--kata")
parser.add_argument("--lz")
parser.add_argument("--score")
parser.add_argument("--with", dest="more", action="append", default=[])
parser.add_argument("--refuse", action="append", default=[])
parser.add_argument("--without", action="append", default=[])
options = parser.parse_args()


def record(text):
    with open(options.record, "a") as file:
        file.write(text + "\n")


def answer(text=""):
    sys.stdout.write(options.noise + f"= {text}".rstrip() + "\n\n")
    sys.stdout.flush()


def write(text):
    sys.stdout.write(text)
    sys.stdout.flush()


record("(start)")
with open(options.record) as file:
    starts = file.read().split("\n").count("(start)")
faulty = starts <= options.times
commands = [name for name in COMMANDS if name not in options.without] + options.more
analyses = {
    "cgos-genmove_analyze": options.analysis,
    "kata-genmove_analyze": options.kata,
    "lz-genmove_analyze": options.lz,
}
commands += [name for name, text in analyses.items() if text is not None]
if options.score is not None:
    commands.append("final_score")
taken = set()
moves_requested = 0

write(options.noise)
if faulty and options.fault == "banner":
    write("Welcome to this engine\nready.\n")
if faulty and options.fault == "loads":
    write("Loading the network\n")
    time.sleep(0.5)
if faulty and options.fault == "dead":
    sys.exit(7)

for line in sys.stdin:
    line = line.strip()
    record(line)
    word, _, rest = line.partition(" ")
    if options.fault == "echo":
        write(line + "\n")
    if word == "list_commands" and options.fault == "endless":
        write("= name\nplay\n")
    elif word == "list_commands":
        answer("\n".join(commands))
    elif word == "name":
        answer("Fake")
    elif word == "version":
        answer("1.0")
    elif word == "quit":
        if options.fault != "stubborn":
            answer()
            break
        time.sleep(3600)
    elif word not in commands and options.fault != "knows-all":
        write("? unknown command\n\n")
    elif word in options.refuse:
        write("? not now\n\n")
    elif word == "final_score":
        answer(options.score)
    elif word == "kata-list_time_settings":
        answer("none absolute byo-yomi canadian fischer")
    elif word == "clear_board":
        taken.clear()
        answer()
    elif word == "boardsize" and options.fault == "size":
        write("? unacceptable size\n\n")
    elif word == "komi" and options.fault == "komi":
        write("? no komi here\n\n")
    elif word == "play":
        if faulty and options.fault == "play":
            write("? illegal move\n\n")
        else:
            taken.add(rest.split()[1].upper())
            answer()
    elif word == "genmove" or word in analyses:
        moves_requested += 1
        move = options.always or next((move for move in options.moves.split(",") if move not in taken), "PASS")
        strikes = faulty and moves_requested == options.at
        if strikes and options.fault == "slow":
            time.sleep(0.3)
        if strikes and options.fault == "dawdle":
            time.sleep(3)
        if strikes and options.fault == "die":
            sys.exit(3)
        elif strikes and options.fault == "hang":
            time.sleep(3600)
        elif strikes and options.fault == "unfinished":
            write("= D4\n")
            time.sleep(3600)
        elif strikes and options.fault == "mute":
            write("I think D4\n")
            time.sleep(3600)
        elif strikes and options.fault == "offboard":
            answer("T19")
        elif strikes and options.fault == "refuse":
            write("? I do not want to\n\n")
        elif strikes and options.fault == "long":
            write("= " + "x" * 2_000_000 + "\n\n")
        elif strikes and options.fault == "empty":
            answer()
        elif strikes and options.fault == "two-lines":
            taken.add(move)
            answer(f"{move.lower()}\nwinrate 0.53")
        elif strikes and options.fault == "junk":
            taken.add(move)
            answer(f"{move} (0.53)")
        elif strikes and options.fault == "prose":
            answer(f"I play {move}")
        elif strikes and options.fault == "twice":
            taken.add(move)
            answer(move)
            answer(move)
        elif strikes and options.fault == "stderr":
            sys.stderr.write(f"= {move}\n\n")
            time.sleep(3600)
        elif strikes and options.fault == "last-words":
            sys.stderr.write("loading\nout of memory\n")
            sys.exit(4)
        else:
            taken.add(move)
            if word == "genmove":
                answer(move)
            elif analyses[word] == "FORMLESS":
                answer("thinking is done")
            else:
                write(f"=\n{analyses[word]}\nplay {move}\n\n")
    else:
        answer()
