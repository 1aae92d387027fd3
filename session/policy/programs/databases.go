package programs

import "strings"

// sql reads the statements and commands that a client of a database is given: only those that show are known.
func sql(c *call) {
	shows := map[string]func(string) bool{"psql": psqlShows, "mysql": mysqlShows, "mariadb": mysqlShows, "sqlite3": sqliteShows}[c.node.name]
	at := c.node.lookup("-e")
	if c.node.name == "psql" {
		at = c.node.lookup("-c")
	}
	var given []Arg
	for _, v := range c.vals {
		if v.at == at {
			given = append(given, v.arg)
		}
	}
	if c.node.name == "sqlite3" && len(c.ops) > 1 {
		given = c.ops[1:]
	}
	for _, a := range given {
		if !a.certain() || !shows(a.Text) {
			c.say(unknown, "has a statement that may change data or run programs")
		}
	}
}

const plain = identifier + " \t\n"

// statements hands over each statement, in lower case and without the blanks around it. A backslash starts a command of
// the client, and a comment may hide one.
func statements(s, chars string, shows func(string) bool) bool {
	for s := range strings.SplitSeq(s, ";") {
		s = strings.ToLower(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), `\G`)))
		if s != "" && (strings.Trim(s, chars) != "" || strings.Contains(s, "--") || !shows(s)) {
			return false
		}
	}
	return true
}

func psqlShows(s string) bool {
	if rest, ok := strings.CutPrefix(s, `\`); ok {
		name, _, _ := strings.Cut(rest, " ")
		return strings.Trim(rest, plain+".*+") == "" && listed("l l+ list d d+ dt dt+ du du+ dn dn+ di di+ db db+ dv dv+ dx dp conninfo dS dtS dg", name)
	}
	return statements(s, plain+".", func(s string) bool {
		name, ok := strings.CutPrefix(s, "show ")
		// A connection to another server may have its password in it.
		return ok && name != "all" && !strings.Contains(name, "conninfo") && !strings.Contains(name, "command")
	})
}

func mysqlShows(s string) bool {
	return statements(s, plain+"'\"%=.-", func(s string) bool {
		verb, what, _ := strings.Cut(s, " ")
		if verb == "desc" || verb == "describe" || s == "status" {
			return true
		}
		for _, known := range [...]string{"full processlist", "processlist", "global status", "session status", "status", "global variables", "session variables",
			"variables", "databases", "schemas", "tables", "full tables", "table status", "columns", "full columns", "index", "open tables", "engines", "engine innodb status",
			"replica status", "slave status", "all slaves status", "master status", "binary logs", "warnings", "errors", "plugins", "character set", "collation", "create table"} {
			if rest, ok := strings.CutPrefix(what, known); verb == "show" && ok && (rest == "" || rest[0] == ' ') {
				return true
			}
		}
		return false
	})
}

// sqliteShows: some functions of SQL write files or load code, and some tables read files.
func sqliteShows(s string) bool {
	if strings.HasPrefix(s, ".") {
		name, _, _ := strings.Cut(s, " ")
		return strings.Trim(s, plain+".%") == "" && listed(".tables .schema .databases .indexes .indices .dbinfo .fullschema", name)
	}
	verb, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(s)), " ")
	if !listed("select with values explain", verb) || strings.Contains(s, "\n.") {
		return false
	}
	for word := range strings.FieldsFuncSeq(strings.ToLower(s), func(r rune) bool { return !strings.ContainsRune(identifier, r) }) {
		if listed("writefile readfile load_extension edit fsdir lsdir zipfile attach vacuum fts3_tokenizer", word) || strings.HasPrefix(word, "sqlar") || strings.HasPrefix(word, "pragma") {
			return false
		}
	}
	return true
}
