package run

const long = `Run a command on every selected host and show what it prints.

TARGETS is a selector: names and ranges (web01, web[01-12]), globs (web*), @group, role=web, tier=dev, ~regex, all, or
user@host for a host outside the inventory. "," means or, "&" and, "!" except; ^file and - read names from a file or
standard input.

One argument after -- is shell source, sent as it is. Several are exact words: no shell on the way looks into them.

Output of a single host comes through byte for byte. That of several comes in whole lines, each with the host's name;
standard error stays on standard error. On a terminal, lines of several hosts are broken at its width, and control
characters in them are shown (^[ for ESC) instead of obeyed, except for colours; --raw prints them as they are.

--fold groups hosts with identical outcomes; --diff prints the most frequent good one, and how the others differ from it;
--json prints a result per line. All three keep the ends of large outputs and report what they omit: --max-output raises
that, and --out-dir writes all of it to files. --cwd and --env are part of what the policy judges.

Standard input is /dev/null for commands, unless --stdin gives them this program's: as it comes to a single host, and
with --stdin=copy all of it to each of several. --script FILE runs a shell script of up to 64 MiB, whole, with the
arguments after --; "$0" is the shell's own name. The shell is the one that its #! names, else the host's; scripts for
other programs are not run so: fairlead run HOST --stdin -- python3 - < FILE.

Everything is judged first, for all hosts, by the built-in policy, /etc/fairlead/policy.yaml and --policy FILE or the
policy.yaml of your configuration; see fairlead policy. What is dangerous on hosts of tier prod, or of none, is asked
about once, at the terminal, before a byte goes anywhere; --yes answers. What is forbidden takes the host's name (of
several, their number) and a reason, typed; --yes does not answer that. Where it is refused on one host it runs on none;
--partial runs it on the others. Called by an agent, which is seen by what agents set in the environment, the policy for
agents counts.

Where all hosts are reached over SSH it goes through the keeper, whose connections stay open; --keeper off connects from
here, and so does --policy. Both do the same. A key whose passphrase is asked for is used from here.

Rollouts: --batch 1,10%,100% runs on one host, then on a tenth of all, then on the rest; --canary picks the first hosts.
--max-fail and --batch-max-fail limit how many hosts may fail, --verify checks each batch, --confirm asks between
batches, and --deadline bounds the whole run. A limit starts no further host and stops none that runs. Fairlead reports
which limit stopped the run, and which hosts got nothing. --dry-run shows hosts, batches and verdicts.

Runs are kept, without output: fairlead runs lists them, and --rerun failed, unreachable, notrun or all runs the last one,
or RUN, again on those hosts.

Standard output is exact. The record gets commands without the secrets that they hold; --redact takes what looks like a
secret out of what is printed, too, and agents get nothing else.

Exit codes:
  0    everything succeeded
  1    a command failed somewhere; with a single host, that command's own code, 128+n after signal n
  2    the call, the selector or the inventory is wrong
  3    some host was not reached, not logged in to, or not trusted
  4    some command was stopped by --timeout, or its outcome is not known
  5    some command was denied, rejected, or not approved in time
  6    our own failure, for instance a record that cannot be written: nothing was sent then
  130  interrupted
When several apply, the first of 6, 5, 4, 3 decides, then 1.

^C stops what runs and reports what was done and what was not. A second ^C ends at once, and names the hosts on which
the command may still be running.`

const example = `  # the kernel of every web server
  fairlead run @web -- uname -r

  # shell source: quotes keep it in one piece
  fairlead run 'web[01-12]' -- 'df -h / | tail -1'

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

  # the same again where it failed
  fairlead run --rerun failed

  # a host that is in no inventory
  fairlead run root@10.0.0.5 -- systemctl is-system-running`
