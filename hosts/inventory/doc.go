// Package inventory loads a [hosts.Inventory] from a file: YAML, TOML or JSON, read through Viper.
//
// [Load] reads a file once; [Watch] keeps a [Live] inventory that follows the file. Whatever is wrong is reported all at
// once, each problem a [*hosts.ParseError] with file and line, joined with errors.Join and sorted by line. Nothing is
// guessed: unknown keys, unknown names and contradictions are errors.
//
// # The file
//
//	version: 1            # required
//	defaults: {…}         # fields for every host
//	groups: [{…}]         # name, hosts, children, and fields for every member
//	hosts: [{…}]          # name, groups, and fields
//	rules: [{…}]          # match: a selector; set: fields for the hosts it picks
//	credentials: [{…}]    # how principals log in over SSH
//	sources: [{…}]        # more hosts, from files and programs of others
//
// The fields are transport, addr, port, user, via, labels, tier, identity, ssh_config, connect_timeout, shell, login, env,
// command, become, forwards (["-L 8080:localhost:80"], which fairlead forward opens) and ready; they mean what [hosts.Host] says.
// become is {user: root, method: sudo}, or the account alone, or none: commands, terminals, files and jobs of the host are that
// account's, unless a call names another; fairlead ssh and forwards are the account's that logs in, as with ssh. A scalar is read as
// it is written, so a name 0042 stays
// 0042. Durations have Go's form (10s, 2m30s). Labels are "key=value" and env is "KEY=value", in lists: keys of mappings
// would lose their case on the way. ~ in a path is kept: whoever opens the file expands it.
//
// A name in hosts, and in the hosts of a group, may be a range such as web[01-12]. A name listed in a group that is no
// entry of hosts becomes a host of its own. If the name of an entry is a range and its addr has one of the same size, each
// host gets its own address. Hosts keep the order of the file.
//
// # Precedence
//
// Each field comes from the innermost place that sets it: the host's entry, then rules, then groups from the inside out,
// then defaults. A group is inside another if it is a child of it, or a child of a child. Lists are replaced, not
// appended to, and an empty list or text takes an outer value away; labels are merged key by key. If two rules, or two
// groups neither of which is inside the other, set the same field of a host to different values and nothing closer does,
// that is an error. Rules are matched against the hosts as they are without rules; a rule may match nobody, but it may
// not name what does not exist.
//
// Fields that are about SSH (addr, port, user, via, identity, ssh_config, forwards) have no meaning for the other
// transports: a host's own are errors, inherited ones are dropped.
//
// # Credentials
//
//	credentials:
//	  - principals: [agent/deploy, "role=agent"] # names, role=… or "*"; required
//	    hosts: "tier=staging"                    # a selector; required
//	    user: deploy-bot                         # the account
//	    identity: ["~/.ssh/bot_ed25519"]         # the only keys that are offered, whatever ssh_config and the SSH agent have
//	    sandboxed: true                          # the account can do no more than these principals' sandboxes
//
// One of user and identity is required; what is given takes the place of the host's. Of several that are for a principal and
// a host the one counts, alone, that names the principal most closely: by name, then by role, then as "*". Two of the same
// standing that do not say the same of a host are an error. Files of keys are named by their whole path, or from ~/.
//
// With the section in place, even an empty one, an agent never logs in with the operator's keys where something may break:
// to a host over SSH whose tier is not dev, jump hosts included, with the identity of its credential or not at all; to no
// host outside the inventory. Operators and programs without a credential log in as ever, and so does everybody where there
// is no such section. See [hosts.Inventory.As].
//
// What an account can do cannot be seen from here, so sandboxed is the operator's word for it. Where no kernel holds a
// session in a sandbox it is told as held by its account then, and what commands name is not looked at. It needs user, and
// means nothing for shells of this machine.
//
// # Sources
//
//	sources:
//	  - {ansible: ./hosts.ini}                          # INI, YAML or JSON, or a directory, with group_vars and host_vars
//	  - {exec: [./ec2.py, --list], cache: 5m, timeout: 30s} # prints Ansible's dynamic inventory
//	  - {clush: /etc/clustershell/groups.d/local.cfg}   # ClusterShell's groups
//	  - {hosts: /etc/hosts}
//	  - {csv: fleet.csv, tier: staging, labels: [from=csv]}
//	  - {ssh_config: ~/.ssh/config}                     # the hosts that it names in full
//
// Relative paths begin where the inventory is. A source may give its hosts a tier and labels. What a source says of a host
// counts as the host's own; what it says through groups, and its tier and labels, count less than groups of this file. An
// entry of hosts wins over both, and may stand beside. Groups of the same name are one. Two sources that say different
// things of a host are a mistake.
//
// Nothing in these files runs or is evaluated. What decides where or as whom one logs in and cannot be converted, such as a
// template, makes the host refuse logins with that line, until a rule or an entry here sets the field. Package foreign
// has the details. Sources are trusted as the inventory is: who can write one decides which hosts there are. A program runs
// only if no other account can change it or the file that names it; its answer is used for the time cache, and where it fails
// the last good one is used with a warning.
//
// [Load] takes inventories of others as they are, too: hosts.ini, a YAML file of Ansible's, a directory, a program, a CSV file.
//
// # Environment
//
// FAIRLEAD_DEFAULTS_USER=root overrides the file's default for user, and so on for every field: FAIRLEAD_DEFAULTS_ and
// the name in capitals. Only defaults are overridden; what groups, rules and hosts set stays. Lists are separated by
// commas; a value that begins with [ or { is read as YAML, which command and ready need. An empty variable counts as
// unset; a variable that names no field is an error.
package inventory
