package shell

const long = `Open the account's own login shell on one host, on the terminal you sit at: what ssh HOST gives.

HOST is a name of the inventory, user@host[:port] for a host outside of it, or any selector that picks exactly one host.
Every key goes to the host, ^C and ^Z included, and the host's terminal has the size and the TERM of yours. A command
without a terminal is for fairlead run.

At the beginning of a line:
  ~.   hang up
  ~?   show these
  ~~   type ~
--escape takes another character, or none for none of this.

Over SSH the keeper opens it, on the connection that sessions use, if one is there; with --keeper off this program does.

What the host prints is recorded, in the asciicast format and for nobody else to read, in
$XDG_STATE_HOME/fairlead/recordings (~/.local/state where that is unset); the name is told at the end. What you type is not
recorded, though the host may print it. A recording stops at 1 GiB, or with the disk full, and says so; the terminal goes
on. The audit record names the recording with its SHA-256, and says when there is none: --no-record is for operators.

Policy judges a terminal as what nobody can tell before it is typed (class unknown): operators may open one, agents only
where a policy says so.

Exit codes:
  0    the shell ended well; else its own code, 128+n after signal n
  2    the call, the selector or the inventory is wrong, or there is no terminal
  3    the host was not reached, not logged in to, or not trusted
  4    the connection was lost
  5    denied by policy
  6    our own failure, for instance an audit record that cannot be written: nothing was sent then
  130  hung up, or interrupted before the shell began`

const example = `  # a terminal on a host of the inventory
  fairlead shell web01

  # on a host that is in no inventory
  fairlead shell root@10.0.0.5

  # look at a recording
  asciinema play ~/.local/state/fairlead/recordings/20261121T020000Z-web01-e_3kq7f2m5yzabc.cast`
