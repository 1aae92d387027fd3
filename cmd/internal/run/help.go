package run

const long = `Run a command on every selected host and show its output.

TARGETS is a selector: names and ranges (web01, web[01-12]), globs (web*), @group, role=web, tier=dev, ~regex, all, or
user@host for a host outside the inventory. "," means or, "&" and, "!" except; ^file and - read names from a file or
standard input.

One argument after -- is shell source. Several are exact words, which no shell expands. In both, {host}, {addr}, {n} and
{label.KEY} are filled in for each host, quoted; other braces stay, and --no-template sends all as they stand. Nothing is
filled in with --script and --program.

Without a command, at a terminal, fairlead run TARGETS reads commands line by line and runs each on all hosts; :help there
says what else it knows.

The output of one host is byte for byte. With several hosts, each line gets its host's name. Standard error stays on
standard error. On a terminal, long lines wrap at its width and control characters other than colours are shown (^[ for
ESC); --raw prints them as they are.

--fold groups hosts with identical outcomes; --diff prints the most frequent good one, and how the others differ from it;
--json prints a result per line. All three keep the ends of large outputs and report what they omit: --max-output raises
that, and --out-dir writes all of it to files. --cwd and --env are part of what the policy judges.

Commands read /dev/null unless --stdin forwards this program's standard input (--stdin=copy: to every host). --script FILE
runs a shell script of up to 64 MiB in the shell that its #! names, else the host's; its arguments follow --, and "$0" is
the shell's name. For other languages: fairlead run HOST --stdin -- python3 - < FILE. What a command leaves in the background
ends with it, unless it was started with nohup or setsid; fairlead jobs start is for what takes long.

--held is a dry run: each host's kernel holds the command to reading (seccomp, Landlock where it is there; root too) and refuses what it
would write, signal or connect to. Output and exit code are those of that attempt. Nothing is installed. A host that cannot
hold it says why, and gets nothing.

Policy judges the command for all hosts before anything is sent. Dangerous commands on prod hosts, or on hosts without a
tier, need confirmation; --yes gives it. To override a forbidden command, type the host's name (or the number of hosts) and
a reason; --yes is not enough. If one host refuses, the command runs on none; --partial runs it on the others. When an AI
agent calls Fairlead (detected from its environment), the agent policy applies. See fairlead policy.

If all hosts are reached over SSH, the run goes through the keeper, which keeps connections open. --keeper off and --policy
connect from this program.

Rollouts: --batch 1,10%,100% runs on one host, then on a tenth of all, then on the rest; --canary picks the first hosts.
--max-fail and --batch-max-fail limit how many hosts may fail, --verify checks each batch, --confirm asks between
batches, and --deadline bounds the whole run. A limit starts no further host and stops none that runs. Fairlead reports
which limit stopped the run, and which hosts got nothing. --dry-run shows hosts, batches and verdicts.

Runs are kept, without output: "fairlead runs list" shows them, and --rerun failed, unreachable, notrun or all runs the last one,
or RUN, again on those hosts, in the same batches and with the same limits where the call has none. failed includes hosts whose
outcome is unknown, as of a run that was killed: the command may have run there. notrun takes only hosts that certainly got
nothing.

The audit log gets commands with secrets redacted. --redact redacts the printed output too, and agents always get it so.

Exit codes:
  0    all ok
  1    a command exited non-zero; with one host, that command's own code, or 128+n after signal n
  2    usage: flags, selector or inventory
  3    some host is unreachable, not authenticated or not trusted
  4    a command timed out, or its outcome is unknown
  5    a command was denied, rejected or expired
  6    an error in Fairlead, such as an audit log that cannot be written; nothing was sent
  130  interrupted
When several apply, the highest of 6, 5, 4, 3 decides, then 1.

^C stops the command and reports what was done and what was not. A second ^C exits at once and names the hosts where the
command may still be running.`

const example = `  # the kernel of every web server
  fairlead run @web -- uname -r

  # a prompt for all of them
  fairlead run @web

  # shell source: quotes keep it in one piece
  fairlead run 'web[01-12]' -- 'df -h / | tail -1'

  # what differs between hosts
  fairlead run @db -- 'pg_dump app | gzip > /backup/{host}-{label.role}.gz'

  # who is different?
  fairlead run all --fold -- cat /etc/os-release

  # how does the configuration of some differ from that of most? and all of it in files
  fairlead run @web --diff -- cat /etc/nginx/nginx.conf
  fairlead run @web --out-dir ./conf -- cat /etc/nginx/nginx.conf

  # for programs
  fairlead run tier=dev --json -- uptime | jq -r 'select(.status != "ok").host'

  # a script with arguments on every canary; a file into a program on one host
  fairlead run @canary --script tune.sh -- --dry-run 'a b'
  fairlead run db1 --stdin -- 'gunzip | mysql app' < dump.sql.gz

  # a change in steps, checked after each
  fairlead run @web --batch 1,10%,100% --verify 'systemctl is-active nginx' --confirm -- sudo -n nginx -s reload
  # what would this script change?
  fairlead run @canary --held --script tune.sh

  # the same again where it failed
  fairlead run --rerun failed

  # a host that is in no inventory
  fairlead run root@10.0.0.5 -- systemctl is-system-running`
