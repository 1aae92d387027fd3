// Package rules decides by roles, tiers and policy files what the judge has found out about a command.
//
// An [Engine] is a [policy.Decider]. It asks package judge for the classes of a command and looks each of them up:
// the strictest verdict over all classes and all parts of a command is the verdict. What nobody wrote a rule for is
// decided by the built-in table:
//
//	class           agent                          operator
//	read-only       allow                          allow
//	sensitive-read  ask                            allow
//	network-read    ask                            allow
//	write           ask                            allow
//	unknown         ask                            allow
//	dangerous       ask                            allow; confirmation where the tier is prod or unknown
//	privileged      deny                           allow
//	forbidden       deny                           break-glass
//
// The role is what stands before the slash in a principal's name; one without a known role is an agent. Programs have no
// column of their own: what no rule decides gets [Config.Program], which denies unless it is set.
//
// # Policy files
//
//	version: 1
//	rules:
//	  - name: dev-is-free
//	    hosts: "tier=dev"                    # a selector; required
//	    principals: ["role=agent"]           # names or role=…, "*" for all; required
//	    classes: [write, dangerous]          # the fields narrow: a command must be of one of these classes,
//	    programs: ["systemctl restart *"]    # and be one of these programs,
//	    paths: ["/srv/**"]                   # and write nowhere else
//	    to: [loopback]                       # and connect nowhere else, see below
//	    verdict: allow                       # deny, ask or allow; required
//	    reason: "throw-away machines"
//	    match: ["systemctl restart nginx"]   # examples, checked when the file is read
//	    not_match: ["systemctl stop nginx"]
//	principals:
//	  - name: agent/mcp                      # or role=agent, or "*"
//	    hosts: "tier=dev"
//	    tools: [hosts_list, look, run]
//	    programs: [systemctl, journalctl]    # for structured mode
//	    shell: false                         # structured mode only
//	    strict: true                         # no metacharacters in structured mode's arguments
//	    env: clean                           # shells start with HOME, USER, LOGNAME, PATH, LANG and TERM
//	    reads: held                          # what only reads and needs no approval runs held by the host's kernel, or asks;
//	                                         # judged: never held; else agents' reads are held where the host can
//	    unknown: held-first                  # or ask: unknown commands are tried first, held by the host's kernel, see below
//	    max_output: 64KiB
//	    max_timeout: 10m
//	    rate: 30/m                           # requests that may run something; all programs of the account count them together
//	    daily: 1000
//	    max_hosts: 20                        # wider asks; 0 is no limit
//	approvals:
//	  proof:                                 # the least proof of a person, by tier and class; "*" is any
//	    prod: passphrase                     # touch, passphrase or unproven
//	    staging: {dangerous: touch, "*": unproven}
//
// Where several rules of a file match, deny beats ask and ask beats allow. A rule takes the place of the built-in cell
// for what it matches. Rules can allow only what they surely match, while a deny or an ask that may match asks: the two
// directions differ wherever the command leaves something open, see below.
//
// Programs are matched on the words of the parsed command. A pattern is literal words, and "*" as the last one stands
// for any further words; but to allow, not for an option that leads to another host, root or service than that of the host
// (systemctl -H, kubectl --context, apk --root, git push --receive-pack): the pattern must name it. To allow, the words must be the whole of a simple command, all of them literal, without
// assignments and redirects. To deny or ask, the command may stand anywhere: behind a wrapper, in a loop, in a
// substitution; options in between, and words known only when it runs, make it ask.
//
// Classes, programs and paths narrow: a rule is for the parts of a command for which all that it gives hold. Programs
// without classes are those programs in any class but forbidden, which an allow must name. A wrapper counts with the class
// of what it runs: classes [privileged] with programs ["sudo *"] covers "sudo touch x". A deny needs no class to be named.
//
// Paths are matched by their text, absolute, after cleaning. "*" and "?" stay within one name, "**" as the last one is
// everything below. To allow, the command must name a file that it writes, and every file it writes must match; reads they do not
// limit, so that a rule of nothing but sensitive or network reads may not have them. Without programs that never covers the class unknown, of which paths say nothing, and only commands that do nothing else: the
// plain ones (touch, mkdir, rm, mv, cp without options that keep links, tee, chmod …) and the output of reads, neither with
// substitutions that do more than read. A file that is there already may be a symbolic link, which is not looked at: that
// is a sandbox's task. A deny with paths is for what writes there, or may. What changes something without naming what it writes (tar -x,
// git pull, an editor) asks where its words, or the directory that it runs in, are such a path.
//
// Addresses (to) are loopback, private (RFC 1918 and fc00::/7), addresses, networks such as 10.1.0.0/16, names and "*.example.com",
// which is all names below it. To allow, every host that the command connects to must be known before it runs, and match; that
// is so only for the class network-read. A name matches names alone, since nobody knows its address; localhost and what ends in .localhost
// are loopback. Redirects that are followed (curl -L, wget without --max-redirect=0), patterns in a URL and any spelling that
// programs read differently are not certain and match nothing. Of dig, host and getent the name that is looked up counts too. Metadata services of clouds
// (169.254.0.0/16, fe80::/10, metadata.google.internal …) are never private; only a rule that names the class sensitive-read allows
// them. A proxy that the account's environment names is the host's own way to an address, and does not count.
//
// # Held first
//
// A command of the class unknown that the built-in table wants approved is tried first where unknown is held-first: in a shell that the
// host's kernel holds to reading (package held), with the places closed that the judge calls secret. Where nothing was refused it has
// only read, and that is its Result; else it asks, and the reason says what it tried. This is the default for agents on hosts whose
// tier is not prod. A rule that asks is not tried first: name programs in one whose meaning depends on being run once, such as what takes
// from a queue.
//
// Examples are judged without a directory and in any shell.
//
// The least proof of an approval is the strongest that the file asks for any class of the command, on the tier of the host
// (prod where it has none). Where it says nothing, whoever is asked decides: a passphrase on prod, once somebody is enrolled
// who could give one.
//
// # Layers
//
// The built-in table comes first, then the system's file, then the user's. An approval for a session answers what they ask,
// and never changes a denial (see [Begins]). A user's file changes any built-in cell where there is no system file; where there is one
// it can only tighten what the two make of a command. Nothing makes bytes run that the judge refuses to read: control
// characters and characters that cannot be seen.
package rules
