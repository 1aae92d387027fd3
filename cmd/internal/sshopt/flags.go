package sshopt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// Flags are ssh's on our commands. They fill one Set in the order in which they stand, since the first value counts.
type Flags struct{ Set Set }

// Add adds the flags to those of a command.
func (f *Flags) Add(fl *pflag.FlagSet) {
	f.AddWay(fl, "p")
	agent := fl.VarPF(&flag{set: f.agent, kind: "bool"}, "forward-agent", "A", "lend your ssh-agent to programs on the host")
	agent.NoOptDefVal = "true"
}

// AddWay adds those that say how a host is reached, for a command that starts no programs there. port is the letter of --port.
func (f *Flags) AddWay(fl *pflag.FlagSet, port string) {
	named := fl.GetNormalizeFunc()
	fl.SetNormalizeFunc(func(fl *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "login" { // its name in the first versions that had it
			name = "user"
		}
		return named(fl, name)
	})
	fl.VarP(&flag{set: f.ReadFile, kind: "file"}, "ssh-file", "F", "read this OpenSSH configuration `file` only, or none")
	fl.VarP(&flag{set: f.Option, kind: "Keyword=value", many: true}, "ssh-option", "o", "set an ssh_config option, as ssh -o does; repeatable")
	fl.VarP(&flag{set: f.oneUser, kind: "user"}, "user", "l", "log in as `user`")
	fl.VarP(&flag{set: f.keyword("Port"), kind: "port"}, "port", port, "connect to `port`")
	fl.VarP(&flag{set: f.keyword("ProxyJump"), kind: "hosts"}, "jump", "J", "connect through these jump `hosts`, first hop first")
}

// AddBecome adds the flag of another account to those of a command.
func (f *Flags) AddBecome(fl *pflag.FlagSet) {
	as := fl.VarPF((*Account)(&f.Set.Become), "become", "", "be `account` there, root if none is named, by sudo or what the inventory says; =none: the account that logs in")
	as.NoOptDefVal = "root"
}

// Account is the value of a flag --become: an account, or hosts.NoBecome. Help prints what it is without quotes.
type Account string

func (a *Account) String() string { return string(*a) }

// Type is what help calls it.
func (a *Account) Type() string { return "account" }

// Set takes an account that commands can become.
func (a *Account) Set(user string) error {
	if user == "" {
		return errors.New("the account is missing")
	}
	_, err := (hosts.Become{}).Called(user)
	*a = Account(user)
	return err
}

// As has the call log in as a user, which must be the one of -l where that is given.
func (f *Flags) As(user string) error {
	for _, line := range f.Set.Lines {
		o, err := sshconfig.ParseOption(line)
		if err != nil || o.Keyword != "user" {
			continue
		}
		if named := strings.Join(o.Words(), " "); named != user {
			return fmt.Errorf("the hosts are to be reached as %s and as %s: leave one out", user, named)
		}
		return nil
	}
	return f.User(user)
}

// flag is one of them.
type flag struct {
	set   func(string) error
	kind  string
	many  bool // may be repeated
	given []string
}

func (f *flag) Set(text string) error {
	if err := f.set(text); err != nil {
		return err
	}
	f.given = append(f.given, text)
	return nil
}

func (f *flag) String() string { return strings.Join(f.given, ",") }
func (f *flag) Type() string   { return f.kind }

// Repeatable implements cmdutil.Repeatable.
func (f *flag) Repeatable() bool { return f.many }

// ReadFile takes the one configuration to read, or none.
func (f *Flags) ReadFile(path string) error {
	switch {
	case path == "":
		return errors.New("a file is missing; none means no configuration")
	case f.Set.File != "":
		return errors.New("there can be only one")
	}
	abs, err := absolute(expandHome(path))
	if err != nil {
		return err
	}
	if strings.EqualFold(abs, sshconfig.None) {
		abs = sshconfig.None
	} else {
		if _, err := os.Stat(abs); err != nil {
			return fmt.Errorf("%s cannot be read: %w", path, pathless(err))
		}
	}
	f.Set.File = abs
	return nil
}

func pathless(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

func expandHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return path
}

// keyword returns what takes the value of one option.
func (f *Flags) keyword(name string) func(string) error {
	return func(value string) error {
		if strings.TrimSpace(value) == "" {
			return errors.New("the value is missing")
		}
		return f.Option(name + "=" + value)
	}
}

func (f *Flags) agent(value string) error {
	on, err := strconv.ParseBool(value)
	if err != nil {
		return errors.New("takes true or false")
	}
	word := "no"
	if on {
		word = "yes"
	}
	return f.Option("ForwardAgent=" + word)
}

// Option takes one option that Fairlead obeys, with the names of files as they are from everywhere.
func (f *Flags) Option(text string) error {
	o, err := sshconfig.ParseOption(text)
	switch {
	case err != nil && o.IgnoredBy(f.Set.Lines):
		return nil
	case err != nil:
		return err
	}
	if o.Effect == sshconfig.Anyway {
		return nil // calls without it share the connection
	}
	line := o.Name + "=" + o.Value
	if _, ok := files[o.Keyword]; ok {
		if line, err = absoluteFiles(o); err != nil {
			return err
		}
	}
	more := Set{Lines: append(f.Set.Lines[:len(f.Set.Lines):len(f.Set.Lines)], line)}
	if err := (Set{Lines: []string{line}}).check(); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "-o "))
	}
	if len(more.Lines) > maxLines {
		return fmt.Errorf("there are more than %d options", maxLines)
	}
	f.Set.Lines = more.Lines
	return nil
}

// files are options whose values are names of files, which the keeper would look for elsewhere. expanded says that home
// directories, tokens and variables stand for something in them.
var files = map[string]struct{ expanded bool }{
	"identityfile": {true}, "identityfile2": {true}, "certificatefile": {true}, "userknownhostsfile": {true}, "revokedhostkeys": {true},
	"controlpath": {true}, "identityagent": {true}, "globalknownhostsfile": {false},
}

// absoluteFiles is an option with its files named from the root.
func absoluteFiles(o sshconfig.Option) (string, error) {
	var words []string
	for _, word := range o.Words() {
		var err error
		name, ofVariable := strings.CutPrefix(word, "$")
		switch {
		case o.Keyword == "identityagent" && word == "SSH_AUTH_SOCK":
		case o.Keyword == "identityagent" && ofVariable && !strings.HasPrefix(name, "{"):
			if word = strings.ReplaceAll(os.Getenv(name), "%", "%%"); word == "" {
				word = sshconfig.None
			}
		case files[o.Keyword].expanded:
			word, err = absoluteExpanded(word)
		default:
			word, err = absolute(word)
		}
		if err != nil {
			return "", err
		}
		words = append(words, Quoted(word))
	}
	return o.Name + "=" + strings.Join(words, " "), nil
}

// Quoted is word as it stands in a value, where blanks, quotes and "#" have a meaning.
func Quoted(word string) string {
	if !strings.ContainsAny(word, "\"'\\ \t#") {
		return word
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(word) + `"`
}

// oneUser is User for our own commands, where a blank is a slip.
func (f *Flags) oneUser(name string) error {
	if strings.ContainsAny(name, " \t") {
		return fmt.Errorf("%q is not the name of a user", name)
	}
	return f.User(name)
}

// User takes the name of -l or of what stands before the "@": as ssh it takes it as it is.
func (f *Flags) User(name string) error {
	if strings.TrimSpace(name) == "" {
		return errors.New("the name of the user is missing")
	}
	return f.Option("User=" + Quoted(name))
}

// absolute names a file from the root.
func absolute(path string) (string, error) {
	if path == "" || strings.EqualFold(path, sshconfig.None) {
		return path, nil
	}
	return filepath.Abs(path)
}

// absoluteExpanded is absolute for a name that is expanded later, for which other variables than the caller's may be there then. It
// may begin in a home directory. Other tokens stand for words, and what begins with them is in the caller's directory.
func absoluteExpanded(path string) (string, error) {
	if path == "" || strings.EqualFold(path, sshconfig.None) {
		return path, nil
	}
	path, err := withVariables(path)
	if err != nil || filepath.IsAbs(path) || strings.HasPrefix(path, "~") || strings.HasPrefix(path, "%d") {
		return path, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	if dir, err = literal(dir); err != nil {
		return "", fmt.Errorf("this directory: %w", err)
	}
	return filepath.Join(dir, path), nil
}

// withVariables puts the values of variables in the place of "${NAME}".
func withVariables(s string) (string, error) {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "${")
		b.WriteString(before)
		if !ok {
			return b.String(), nil
		}
		name, after, ok := strings.Cut(rest, "}")
		if !ok || name == "" {
			return "", errors.New("${ without a name and a closing brace")
		}
		value, ok := os.LookupEnv(name)
		if !ok {
			return "", fmt.Errorf("the environment variable %s is not set", name)
		}
		value, err := literal(value)
		if err != nil {
			return "", fmt.Errorf("the environment variable %s: %w", name, err)
		}
		b.WriteString(value)
		s = after
	}
}

// literal is text that stands for itself where tokens and variables are expanded.
func literal(text string) (string, error) {
	if strings.Contains(text, "${") {
		return "", errors.New("it holds ${, which would stand for a variable in its turn")
	}
	return strings.ReplaceAll(text, "%", "%%"), nil
}
