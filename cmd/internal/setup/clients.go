package setup

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
)

// name is what the server is called in a client's configuration.
const name = "fairlead"

// client is a program that hosts an agent, and where it reads which servers there are.
type client struct {
	table string   // of servers
	keys  []string // of an entry, in order
	toml  bool
	file  func(p paths) string // "" where the place is not known
}

// paths are what a file's place depends on.
type paths struct {
	getenv func(string) string
	home   string
	goos   string
}

func (p paths) or(variable string, more ...string) string {
	if dir := p.getenv(variable); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(append([]string{p.home}, more...)...)
}

var clients = map[string]client{
	"claude": {table: "mcpServers", keys: []string{"type", "command", "args"}, file: func(p paths) string {
		return filepath.Join(p.or("CLAUDE_CONFIG_DIR"), ".claude.json")
	}},
	"cursor": {table: "mcpServers", keys: []string{"command", "args"}, file: func(p paths) string {
		return filepath.Join(p.home, ".cursor", "mcp.json")
	}},
	"gemini": {table: "mcpServers", keys: []string{"command", "args"}, file: func(p paths) string {
		return filepath.Join(p.home, ".gemini", "settings.json")
	}},
	"codex": {table: "mcp_servers", keys: []string{"command", "args"}, toml: true, file: func(p paths) string {
		return filepath.Join(p.or("CODEX_HOME", ".codex"), "config.toml")
	}},
	"vscode": {table: "servers", keys: []string{"type", "command", "args"}, file: func(p paths) string {
		switch p.goos {
		case "darwin":
			return filepath.Join(p.home, "Library", "Application Support", "Code", "User", "mcp.json")
		case "windows":
			return filepath.Join(p.or("APPDATA", "AppData", "Roaming"), "Code", "User", "mcp.json")
		}
		return filepath.Join(p.or("XDG_CONFIG_HOME", ".config"), "Code", "User", "mcp.json")
	}},
}

func clientNames() []string { return []string{"claude", "cursor", "codex", "gemini", "vscode"} }

// entry is what to start, as a client's configuration has it.
func (c client) entry(command string, args []string) map[string]any {
	all := map[string]any{"type": "stdio", "command": command, "args": args}
	e := map[string]any{}
	for _, k := range c.keys {
		e[k] = all[k]
	}
	return e
}

// with returns the text of a configuration that has the entry; what else is in an entry that is there stays.
func (c client) with(text string, e map[string]any) (string, error) {
	out := text
	var err error
	if c.toml {
		out, err = setTOML(text, c.table, name, c.keys, e)
	} else {
		if strings.TrimSpace(text) == "" {
			out = "{}\n"
		}
		_, old, ferr := find(out, []string{c.table, name})
		switch {
		case ferr != nil:
			err = ferr
		case old == nil:
			out, err = set(out, []string{c.table, name}, ordered{c.keys, e})
		default:
			for _, k := range c.keys {
				if out, err = set(out, []string{c.table, name, k}, e[k]); err != nil {
					break
				}
			}
		}
	}
	if err != nil {
		return "", err
	}
	return out, c.onlyOurs(text, out, e)
}

// without returns the text of a configuration that does not have the entry.
func (c client) without(text string) (string, error) {
	out := text
	var err error
	if c.toml {
		out = unsetTOML(text, c.table, name)
	} else if strings.TrimSpace(text) != "" {
		out, err = unset(text, []string{c.table, name})
	}
	if err != nil {
		return "", err
	}
	return out, c.onlyOurs(text, out, nil)
}

// onlyOurs makes sure, with a parser, that nothing but our entry has changed.
func (c client) onlyOurs(before, after string, want map[string]any) error {
	parse := plainJSON
	if c.toml {
		parse = plainTOML
	}
	read := func(text string) (rest, ours map[string]any, err error) {
		if strings.TrimSpace(text) == "" {
			return map[string]any{}, nil, nil
		}
		if rest, err = parse(text); err != nil {
			return nil, nil, err
		}
		servers, _ := rest[c.table].(map[string]any)
		ours, _ = servers[name].(map[string]any)
		delete(servers, name)
		if len(servers) == 0 && (servers != nil || rest[c.table] == nil) {
			delete(rest, c.table)
		}
		return rest, ours, nil
	}
	was, _, err := read(before)
	if err != nil {
		return err
	}
	is, ours, err := read(after)
	if err != nil || !reflect.DeepEqual(was, is) {
		return fmt.Errorf("it is written in a way that cannot be edited here")
	}
	if want == nil && ours != nil {
		return fmt.Errorf("its entry for %s is written in a way that cannot be edited here", name)
	}
	for k, v := range want {
		if !same(normal(ours[k]), v) {
			return fmt.Errorf("its entry for %s is written in a way that cannot be edited here", name)
		}
	}
	return nil
}
