#!/usr/bin/env python3
"""Writes the man pages of rekey, one for each command, from what the command says about itself.

usage: Scripts/manual.py REKEY DIRECTORY

REKEY is the built command. The pages are rekey.1, rekey-change.1, rekey-keyring-add.1 and so on, so that `man rekey change` finds
them. Their date is SOURCE_DATE_EPOCH's, or today's.
"""

import datetime
import json
import os
import pathlib
import subprocess
import sys
import time

TOPICS = {"keys": "KEYS", "exit-status": "EXIT STATUS", "json": "JSON", "environment": "ENVIRONMENT"}


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def paragraphs(text):
    """The text as it is filled by the formatter."""
    blocks = [block for block in text.split("\n\n") if block.strip()]
    return "\n.Pp\n".join("\n".join(escaped(line) for line in block.split("\n")) for block in blocks)


def literal(text):
    """The text with its lines as they are."""
    lines = "\n".join(escaped(line) for line in text.rstrip("\n").split("\n"))
    return f".Bd -literal\n{lines}\n.Ed"


def description(entry):
    return "\n\n".join(entry[part] for part in ("abstract", "discussion") if entry.get(part))


def item(argument):
    """One argument or option, as an item of a list."""
    if argument["kind"] == "positional":
        heading = f".It Ar {argument['valueName']}" + (" ..." if argument["isRepeating"] else "")
    else:
        # `Fl x` is written -x.
        names = [("" if name["kind"] == "short" else "\\-") + escaped(name["name"]) for name in argument["names"]]
        heading = ".It " + " , ".join(f"Fl {name}" for name in names)
        if argument["kind"] == "option":
            heading += f" Ar {argument['valueName']}"
    return heading + "\n" + paragraphs(description(argument))


def arguments(command):
    """All that a command takes, under the headings of its help."""
    shown = [argument for argument in command["arguments"] if argument["shouldDisplay"]]
    groups = {}
    for argument in shown:
        title = "Arguments" if argument["kind"] == "positional" else argument.get("sectionTitle", "Options")
        groups.setdefault(title, []).append(argument)
    order = sorted(groups, key=lambda title: ["Arguments", "Options"].index(title) if title in ("Arguments", "Options") else 2)
    for title in order:
        heading = f".Ss {title}\n" if len(groups) > 1 else ""
        yield f"{heading}.Bl -tag -width Ds\n" + "\n".join(item(argument) for argument in groups[title]) + "\n.El"


def synopsis(path, command):
    name = f".Nm {path[0]}" + "".join(f" {part}" for part in path[1:])
    if command.get("subcommands"):
        return f"{name}\n.Ar command\n.Op Ar options\n.Ar file ..."
    given = [argument for argument in command["arguments"] if argument["kind"] == "positional"]
    return "\n".join([name, ".Op Ar options", *(f".Ar {each['valueName']}" + (" ..." if each["isRepeating"] else "") for each in given)])


def references(pages):
    return " ,\n".join(f".Xr {escaped('-'.join(page))} 1" for page in pages)


def page(path, command, topics, date):
    subcommands = [each for each in command.get("subcommands", []) if each["shouldDisplay"] and each["commandName"] != "help"]
    name = "-".join(path)
    yield f".Dd {date}\n.Dt {name.upper()} 1\n.Os CipherDB\n.Sh NAME\n.Nm {escaped(name)}\n.Nd {escaped(command['abstract'].rstrip('.'))}"
    yield f".Sh SYNOPSIS\n{synopsis(path, command)}"
    yield ".Sh DESCRIPTION\n" + paragraphs(command.get("discussion") or command["abstract"])
    if subcommands:
        yield ".Sh COMMANDS\n.Bl -tag -width Ds"
        for each in subcommands:
            yield f".It Xr {escaped('-'.join([*path, each['commandName']]))} 1\n{paragraphs(each['abstract'])}"
        yield ".El"
    yield ".Sh OPTIONS"
    yield from arguments(command)
    for heading, text in topics:
        yield f".Sh {heading}\n{literal(text)}"
    if not topics:
        yield ".Sh EXIT STATUS\nSee\n.Xr rekey 1 ,\nwhich also explains the output of\n.Fl \\-json\nand the environment variables."
    around = [path[:length] for length in range(1, len(path))]
    below = [[*path, each["commandName"]] for each in subcommands]
    yield f".Sh SEE ALSO\n{references(around + below)}"


def write(path, command, topics, date, directory):
    text = "\n".join(page(path, command, topics, date)) + "\n"
    (directory / ("-".join(path) + ".1")).write_text(text, encoding="utf-8")
    for each in command.get("subcommands", []):
        if each["shouldDisplay"] and each["commandName"] != "help":
            write([*path, each["commandName"]], each, [], date, directory)


def main():
    rekey, directory = sys.argv[1], pathlib.Path(sys.argv[2])

    def said(*arguments):
        return subprocess.run([rekey, *arguments], check=True, capture_output=True, text=True).stdout

    directory.mkdir(parents=True, exist_ok=True)
    for old in directory.glob("rekey*.1"):
        old.unlink()
    day = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH") or time.time()), datetime.timezone.utc)
    date = f"{day:%B} {day.day}, {day.year}"
    topics = [(heading, said("help", topic)) for topic, heading in TOPICS.items()]
    write(["rekey"], json.loads(said("--experimental-dump-help"))["command"], topics, date, directory)


if __name__ == "__main__":
    main()
