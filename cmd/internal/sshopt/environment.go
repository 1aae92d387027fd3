package sshopt

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// Environment is what the variables of whoever asks say about how hosts are reached, where ssh_config asks for that: ssh has
// them, and another process has others. The zero Environment is where nothing asks.
type Environment struct {
	All  bool     // Vars are all that programs get
	Vars []string // "NAME=VALUE", or "NAME" for one that is not set; in order
}

// maxEnvironment bounds an Environment in one word, and maxVariables what that may unfold to.
const (
	maxEnvironment = 12 << 10
	maxVariables   = 1 << 20
)

// ErrEnvironment says that the variables are too many to be taken along.
var ErrEnvironment = errors.New("a program that ssh_config names gets the environment, which is too large for the keeper: leave variables out, or use --keeper off")

// EnvironmentFor says what of environ counts for hs, the jump hosts of which lookup finds. loader says whose configuration is
// read, and counts on environ itself.
func EnvironmentFor(hs []hosts.Host, lookup func(string) (hosts.Host, bool), loader sshconfig.Loader, environ []string) Environment {
	vars := Environment{All: true, Vars: environ}
	e := collector{lookup: lookup, loader: loader, configs: map[string]*sshconfig.Config{}, names: map[string]bool{}, seen: map[string]bool{}}
	e.loader.LookupEnv = vars.Lookup
	for _, h := range hs {
		e.host(h, maxJumps)
	}
	var out Environment
	if e.all {
		out.All = true
		for _, kv := range environ {
			if name, _, ok := strings.Cut(kv, "="); ok && (e.names[name] || !ofTerminal(name)) {
				out.Vars = append(out.Vars, kv)
			}
		}
	}
	for name := range e.names {
		switch value, set := vars.Lookup(name); {
		case !set:
			out.Vars = append(out.Vars, name)
		case !e.all:
			out.Vars = append(out.Vars, name+"="+value)
		}
	}
	slices.Sort(out.Vars)
	out.Vars = slices.Compact(out.Vars)
	return out
}

// maxJumps is how far jump hosts of jump hosts are followed.
const maxJumps = 8

// collector finds out what counts.
type collector struct {
	lookup  func(string) (hosts.Host, bool)
	loader  sshconfig.Loader
	configs map[string]*sshconfig.Config // nil for one that cannot be read: whoever connects is told
	names   map[string]bool
	all     bool
	seen    map[string]bool
}

func (e *collector) host(h hosts.Host, jumps int) {
	if h.Transport != hosts.SSH && h.Transport != "" || jumps == 0 {
		return
	}
	key := strings.Join(append([]string{h.Name, h.SSHConfig, h.User}, h.SSHOptions...), "\x00")
	if e.seen[key] {
		return
	}
	e.seen[key] = true
	conf, ok := e.configs[h.SSHConfig]
	if !ok {
		var err error
		if h.SSHConfig == "" {
			conf, err = e.loader.Load()
		} else {
			conf, err = e.loader.Open(h.SSHConfig)
		}
		if err != nil {
			conf = nil
		}
		e.configs[h.SSHConfig] = conf
	}
	if conf == nil {
		return
	}
	o := sshconfig.Options{User: h.User, Port: h.Port, Lines: h.SSHOptions, Offline: true}
	names, all := conf.FromEnvironment(h.Name, o)
	for _, name := range names {
		e.names[name] = true
	}
	e.all = e.all || all
	via := h.Via
	if s, err := conf.Resolve(h.Name, o); err == nil && len(via) == 0 {
		for _, j := range s.ProxyJump.V {
			e.host(hosts.Host{Name: j.Host, User: j.User, Port: j.Port, SSHConfig: h.SSHConfig}, jumps-1)
		}
	}
	for _, name := range via {
		hop := hosts.Host{Name: name}
		if e.lookup != nil {
			if listed, ok := e.lookup(name); ok {
				hop = listed
			}
		}
		if hop.SSHConfig == "" {
			hop.SSHConfig = h.SSHConfig
		}
		e.host(hop, jumps-1)
	}
}

// ofTerminal reports whether a variable says something about one terminal, window, prompt or directory: calls from two of them
// share their connections.
func ofTerminal(name string) bool {
	switch name {
	case "_", "PWD", "OLDPWD", "SHLVL", "COLUMNS", "LINES", "WINDOWID", "WINDOW", "STY", "SSH_AUTH_SOCK", "LS_COLORS", "PS1", "PS2", "PROMPT", "PROMPT_COMMAND",
		"COLORTERM", "INVOCATION_ID", "JOURNAL_STREAM", "GPG_TTY", "SSH_TTY":
		return true
	}
	for _, begin := range []string{"TERM", "TMUX", "HIST", "VTE_", "KITTY_", "ITERM_", "WEZTERM_", "KONSOLE_", "GNOME_TERMINAL_", "ALACRITTY_", "WT_", "BASH_FUNC_", "FZF_"} {
		if strings.HasPrefix(name, begin) {
			return true
		}
	}
	return strings.HasSuffix(name, "_SESSION_ID")
}

// Lookup is the value of a variable. One that is not among those of an Environment that is not All is this process's.
func (e Environment) Lookup(name string) (value string, set bool) {
	value, set, _ = e.lookup(name)
	return value, set
}

// lookup is Lookup, and says whether e says anything.
func (e Environment) lookup(name string) (value string, set, says bool) {
	for _, kv := range e.Vars {
		if n, v, ok := strings.Cut(kv, "="); n == name {
			return v, ok, true
		}
	}
	return "", false, e.All
}

// Over is a lookup in which e goes before other.
func (e Environment) Over(other func(string) (string, bool)) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if value, set, says := e.lookup(name); says {
			return value, set
		}
		return other(name)
	}
}

// Environ is what programs get; nil is the environment of this process.
func (e Environment) Environ() []string {
	if !e.All {
		return nil
	}
	out := []string{}
	for _, kv := range e.Vars {
		if strings.Contains(kv, "=") {
			out = append(out, kv)
		}
	}
	return out
}

// Word is the whole of e in one word, equal only for what is equal. "" is an empty Environment.
func (e Environment) Word() (string, error) {
	if !e.All && len(e.Vars) == 0 {
		return "", nil
	}
	text, err := json.Marshal(e.bytes())
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	word := base64.RawURLEncoding.EncodeToString(b.Bytes())
	if len(word) > maxEnvironment || len(text) > maxVariables {
		return "", ErrEnvironment
	}
	return word, nil
}

// inBytes is an Environment as it travels: values need not be text.
type inBytes struct {
	All  bool     `json:"all,omitempty"`
	Vars [][]byte `json:"vars"`
}

func (e Environment) bytes() inBytes {
	out := inBytes{All: e.All}
	for _, kv := range e.Vars {
		out.Vars = append(out.Vars, []byte(kv))
	}
	return out
}

// ParseEnvironment reads what Word has written.
func ParseEnvironment(word string) (e Environment, err error) {
	if word == "" {
		return e, nil
	}
	not := errors.New("the environment cannot be understood")
	if len(word) > maxEnvironment {
		return e, not
	}
	packed, err := base64.RawURLEncoding.DecodeString(word)
	if err != nil {
		return e, not
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return e, not
	}
	text, err := io.ReadAll(io.LimitReader(z, maxVariables+1))
	if err != nil || len(text) > maxVariables {
		return e, not
	}
	var in inBytes
	if err := json.Unmarshal(text, &in); err != nil {
		return e, not
	}
	e.All = in.All
	for _, kv := range in.Vars {
		if bytes.IndexByte(kv, 0) >= 0 || len(kv) == 0 || kv[0] == '=' {
			return Environment{}, not
		}
		e.Vars = append(e.Vars, string(kv))
	}
	return e, nil
}
