package programs

import "strings"

// databases: the status tools of databases talk to the service on the same host; with a host given they open a network
// connection. What they are told to run is only known for the few statements that do nothing but show.
var databases = []program{
	{name: "psql", args: "text text", style: exact, env: "PG* PSQLRC PSQL_* PAGER EDITOR HOME", check: psql, opts: `
		-l,--list -V -X,--no-psqlrc -A,--no-align -t,--tuples-only -q,--quiet -P,--pset=text!unknown -F,--field-separator=text -x,--expanded
		-w,--no-password -W,--password!unknown -U,--username=text -d,--dbname=text -p,--port=text -h,--host=text -H,--html --csv -1,--single-transaction
		-z -0 -a -b -e -E -n -s!unknown -S -c,--command=text -f,--file=read!unknown -o,--output=write -L,--log-file=write -v,--set,--variable=text!unknown -R=text -T=text`},
	{name: "pg_isready", style: exact, env: "PG*", check: local, opts: `-d,--dbname=text -h,--host=text -p,--port=text -q,--quiet -t,--timeout=text -U,--username=text -V`},
	{name: "pg_lsclusters|pg_config|pg_controldata|pg_waldump", args: "text...", style: exact, env: "PG*", opts: `-h -j --bindir --libdir --pgxs --configure -D,--pgdata=read`},
	{name: "pg_ctl", class: danger, raw: true, check: endsWith("status"), why: "starts or stops a database"},
	{name: "pg_ctlcluster", class: danger, raw: true, check: endsWith("status"), why: "starts or stops a database"},
	{name: "pg_dump|pg_dumpall|pg_basebackup|mysqldump|mariadb-dump|mongodump|mongoexport|slapcat", class: unknown, why: "copies a database's contents", args: "text...", alone: "--version -V"},
	{name: "dropdb|dropuser|mysql_secure_installation", class: danger, args: "text..."},
	{name: "createdb|createuser|pg_restore|vacuumdb|reindexdb|clusterdb|pgbench|pg_upgrade|pg_rewind|initdb|mysqlimport|mongorestore|mongoimport|pgbackrest|barman|patronictl|repmgr|pgbouncer", class: unknown, args: "text...", alone: "--version -V"},
	{name: "mysqladmin|mariadb-admin", args: "text...", style: exact, env: "MYSQL_* MARIADB_* LIBMYSQL_*", check: mysqladmin, opts: mysqlOptions + ` -i,--sleep=text!ask -c,--count=text -r,--relative -E,--vertical -b -w?text -f,--force`},
	{name: "mysql|mariadb", args: "text", style: exact, env: "MYSQL_* MARIADB_* LIBMYSQL_* PAGER EDITOR HOME", check: mysql, opts: mysqlOptions + `
		-e,--execute=text -N,--skip-column-names -B,--batch -t,--table -E,--vertical -r,--raw -D,--database=text -A -n -H -X --init-command=text!unknown
		--pager?text!unknown --tee=write --no-defaults --ssl-mode=text --show-warnings`},
	{name: "mysqlshow|mariadb-show", args: "text...", style: exact, env: "MYSQL_*", check: local, opts: mysqlOptions + ` -k --keys --count -t`},
	{name: "mysqlcheck|mysqlslap|mysqlbinlog|mysqld|mysqld_safe|mysql_upgrade|mycli|pgcli|usql|sqlplus|sqlcmd|isql|clickhouse|clickhouse-client|influx|cqlsh|mongo|mongosh|mongostat|mongotop|ldapmodify|ldapadd|ldapdelete|kafka-topics.sh|kafka-consumer-groups.sh|zkCli.sh|cypher-shell", class: unknown, why: "opens network connections, or changes data", args: "text...", alone: "--version -V"},
	{name: "sqlite3|sqlite|duckdb", class: unknown, why: "may create the file, and has commands that run programs", args: "text...", alone: "--version -version"},
	{name: "redis-cli|valkey-cli|keydb-cli", args: "text...", style: exact | first, env: "REDISCLI_* REDISCLI*", check: redis, opts: `
		-h=text -p=text -s=text -a,--pass=text --user=text --askpass!unknown --no-auth-warning -n=text -u=text!write --tls!ask -r=text!ask -i=text!ask -x!ask -X=text!ask -d=text -D=text
		--raw --no-raw --csv --json -c -e -3 -2 -v --stat!ask --latency!ask --latency-history!ask --bigkeys!ask --memkeys!ask --hotkeys!ask --scan!secret --pattern=text
		--rdb=write --functions-rdb=write --pipe!unknown --eval=read!unknown --cluster!unknown --lru-test=text!write --intrinsic-latency=text!ask --verbose`},
	{name: "memcached-tool", class: write, why: "opens network connections", args: "text..."},
	{name: "nodetool", args: "text...", style: exact | first, check: verbs("status info tpstats version describecluster ring gossipinfo compactionstats netstats proxyhistograms tablestats cfstats listsnapshots getlogginglevels gcstats"), opts: `-h,--host=text!write -p,--port=text -u=text -pw=text -r`},
	{name: "rabbitmqctl|rabbitmq-diagnostics|rabbitmq-queues", args: "text...", style: exact | first, check: verbs("status list_queues list_connections list_channels list_consumers list_exchanges list_bindings list_vhosts list_users list_permissions list_policies cluster_status ping check_running check_local_alarms check_port_connectivity memory_breakdown listeners alarms report_version version server_version node_health_check"), opts: `-q,--quiet -s,--silent -n,--node=text!write -t,--timeout=text -l,--longnames --formatter=text -p,--vhost=text`},
}

const mysqlOptions = `
	-u,--user=text -p?text --password?text -h,--host=text -P,--port=text -S,--socket=text --protocol=text --connect-timeout=text -s,--silent -v,--verbose -V
	-C,--compress --defaults-file=read!unknown --defaults-extra-file=read!unknown --defaults-group-suffix=text!unknown --login-path=text --plugin-dir=text!unknown
	--default-auth=text!unknown --ssl --skip-ssl`

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

func endsWith(verb string) func(*call) {
	return func(c *call) {
		for i, a := range c.args {
			if !a.certain() || listed("start stop restart reload promote kill init initdb logrotate rotate", a.Text) {
				return
			}
			if i == len(c.args)-1 && a.Text == verb || i == 0 && a.Text == verb {
				c.find.Class, c.find.Reason = read, c.node.readReason
			}
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
