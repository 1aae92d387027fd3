package programs

import "strings"

// local: without a host, or with this one, no connection leaves the machine.
func local(c *call) {
	host, ok := c.val("--host")
	if !ok {
		host, ok = c.val("-h")
	}
	if ok && !(host.certain() && (strings.HasPrefix(host.Text, "/") || listed("localhost 127.0.0.1 ::1", host.Text))) {
		c.say(write, "opens network connections")
	}
	for _, name := range [...]string{"-d", "-u"} {
		if a, ok := c.val(name); ok && strings.ContainsAny(a.Text, "=:") {
			c.say(write, "opens network connections")
		}
	}
	for _, a := range c.ops {
		if strings.Contains(a.Text, "://") || strings.Contains(a.Text, "host=") || strings.Contains(a.Text, "service=") {
			c.say(write, "opens network connections")
		}
	}
}

// shows says that a statement only shows settings or status: letters, blanks and a few signs, and a first word that
// shows. A backslash would start a command of the client.
func shows(a Arg, firsts string) bool {
	if !a.certain() {
		return false
	}
	for s := range strings.SplitSeq(a.Text, ";") {
		s = strings.TrimSpace(strings.ToLower(s))
		s = strings.TrimSuffix(s, `\g`)
		if s == "" {
			continue
		}
		verb, _, _ := strings.Cut(s, " ")
		if !listed(firsts, verb) || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_ '\"%=.-") != "" || strings.Contains(s, "--") {
			return false
		}
	}
	return true
}

func psql(c *call) {
	local(c)
	if c.interactive {
		c.say(unknown, "runs what is typed into it")
	}
	found := c.has("-l", "-V", "--version", "--help")
	for _, v := range c.vals {
		if v.at != c.node.lookup("-c") {
			continue
		}
		found = true
		name, rest, meta := strings.Cut(v.arg.Text, `\`)
		switch {
		case shows(v.arg, "show") && !strings.Contains(v.arg.Text, `\`):
		case v.arg.certain() && meta && name == "" && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyzS0123456789_.*+ ") == "" &&
			listed("l l+ list d d+ dt dt+ du du+ dn dn+ di di+ db db+ dv dv+ dx dp conninfo dS dtS dg", strings.SplitN(rest+" ", " ", 2)[0]):
		default:
			c.say(unknown, "has a statement that may change data or run programs")
		}
	}
	if !found {
		c.say(unknown, "runs what it reads")
	}
}

func mysql(c *call) {
	local(c)
	if a, ok := c.val("-e"); !ok || c.interactive || !shows(a, "show status desc describe") {
		if !c.has("-V", "--version", "--help") {
			c.say(unknown, "has a statement that may change data or run programs")
		}
	}
}

func mysqladmin(c *call) {
	local(c)
	for _, a := range c.ops {
		switch {
		case !a.certain():
			c.say(unknown, "has a command that isn't literal")
		case listed("status ping version processlist extended-status variables proc stat ver", a.Text):
		case listed("shutdown drop kill stop-slave stop-replica flush-privileges flush-hosts flush-tables", a.Text):
			c.say(danger, "stops or removes what others rely on")
		default:
			c.say(write, "changes the database")
		}
	}
}

func redis(c *call) {
	local(c)
	if len(c.ops) == 0 {
		if !c.has("--version", "--help", "--scan", "-v") {
			c.say(unknown, "runs what is typed into it")
		}
		return
	}
	words := ""
	for i, a := range c.ops {
		if !a.certain() {
			c.say(unknown, "has a command that isn't literal")
			return
		}
		if i < 2 {
			words += strings.ToLower(a.Text) + " "
		}
	}
	verb, rest, _ := strings.Cut(words, " ")
	sub := strings.TrimSpace(rest)
	switch {
	case listed("info ping dbsize lastsave time role", verb):
	case verb == "client" && listed("list id info getname", sub), verb == "memory" && listed("stats doctor usage malloc-stats", sub),
		verb == "slowlog" && listed("get len", sub), verb == "latency" && listed("latest doctor history", sub),
		verb == "cluster" && listed("info nodes slots shards", sub), verb == "command" && sub == "count", verb == "module" && sub == "list",
		verb == "sentinel" && listed("masters slaves replicas", sub), verb == "acl" && listed("whoami", sub):
	case verb == "config" && sub == "get", listed("get mget hget hgetall lrange smembers zrange keys scan exists ttl type strlen llen scard hlen zcard object", verb):
		c.say(secret, "shows stored data or settings, which may hold secrets")
	case listed("flushall flushdb shutdown del unlink debug replicaof slaveof failover", verb):
		c.say(danger, "removes data or stops the service")
	case listed("monitor subscribe psubscribe", verb):
		c.say(unknown, "never ends")
	default:
		c.say(unknown, "runs a command that no table lists")
	}
}
