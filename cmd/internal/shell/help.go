package shell

const long = `Open the account's login shell on one host, at your terminal, as "ssh HOST" does.

HOST is a host of the inventory, user@host[:port] for a host outside it, or a selector that picks one host. Every key goes
to the host, ^C and ^Z included; the host's terminal has the size and the TERM of yours. For commands without a terminal,
use "fairlead run".

At the beginning of a line:
  ~.   hang up
  ~^Z  suspend fairlead; fg in the local shell comes back
  ~?   show these
  ~~   type ~
--escape sets another character, or none.

Over SSH the keeper opens it, on the connection that sessions share. --keeper off connects from this program.

Fairlead records what the host prints, in asciicast format, in $XDG_STATE_HOME/fairlead/recordings (~/.local/state by
default), readable by your account only, and prints the recording's name at the end. It does not record what you type,
unless the host echoes it. A recording stops at 1 GiB or when the disk is full, with a warning; the terminal stays open.
The audit log has the recording's name and SHA-256, or says that it was not recorded. --no-record is for operators.

A terminal is classed as unknown, since its input cannot be judged in advance: operators may open one, agents only where a
policy allows it.

Exit codes:
  0    the shell exited with 0; else its own code, or 128+n after signal n
  2    usage: flags, selector or inventory, or there is no terminal
  3    the host is unreachable, not authenticated or not trusted
  4    the connection was lost
  5    denied by policy
  6    an error in Fairlead, such as an audit log that cannot be written; nothing was sent
  130  hung up, or interrupted before the shell began`

const example = `  # a terminal on a host of the inventory
  fairlead shell web01

  # on a host that is in no inventory
  fairlead shell root@10.0.0.5

  # look at a recording
  asciinema play ~/.local/state/fairlead/recordings/20261121T020000Z-web01-e_3kq7f2m5yzabc.cast`
