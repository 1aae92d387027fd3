package sshconfig

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/fairlead-ssh/fairlead/hosts"
)

const (
	// None, given as a path, means no configuration.
	None = "none"

	defaultSystemDir = "/etc/ssh"

	maxFileSize = 8 << 20
	maxFiles    = 4096 // over all includes of one Config
	maxDepth    = 16   // OpenSSH's limit
)

// Loader says whose configuration is read. The zero value means the account and environment of this process. It is
// only read, never changed.
type Loader struct {
	Home      string                      // "" means the account's home directory; $HOME counts only where the account has no entry
	User      string                      // the local account's name; "" means that of this process, which may have none
	UID       string                      // the local account's number, for %i; "" means that of this process
	Hostname  string                      // this machine's name, for %l and %L; "" means os.Hostname
	SystemDir string                      // where the system file lives; "" means /etc/ssh
	LookupEnv func(string) (string, bool) // nil means os.LookupEnv
	Environ   []string                    // of programs that the configuration names, but for SSH_AUTH_SOCK, which is LookupEnv's; nil means os.Environ
	Dir       string                      // where relative names of files lead; "" leaves them as they are: to the directory of this process
	Resolver  *net.Resolver               // for CanonicalizeHostname; nil means net.DefaultResolver
	// NoExec keeps Match exec from running programs: a host for which it decides is refused with ErrNotRun.
	NoExec bool
}

// Config is a set of configuration files read once. The zero value holds no file.
type Config struct {
	local  Loader // complete
	files  []*file
	loaded []string
	execs  *execs // of Match exec

	environment bool     // the environment may count for some host
	included    []string // variables that Include names
}

// Load reads the user's file and then system files, for the account of this process. See [Loader.Load].
func Load(paths ...string) (*Config, error) { return Loader{}.Load(paths...) }

// Open reads one file for the account of this process. See [Loader.Open].
func Open(path string) (*Config, error) { return Loader{}.Open(path) }

// Load reads paths[0] as the user's file and the others as system files; without paths ~/.ssh/config and
// /etc/ssh/ssh_config. Missing files and the path "none" are skipped. A file that cannot be read, is broken, or is the
// user's and can be changed by other accounts is an error; all problems are joined, each an [*Error].
func (l Loader) Load(paths ...string) (*Config, error) {
	l, err := l.complete()
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		paths = []string{filepath.Join(l.Home, ".ssh", "config"), filepath.Join(l.SystemDir, "ssh_config")}
	}
	r := reader{local: l}
	var files []*file
	for i, path := range paths {
		if path == None || path == "" {
			continue
		}
		f, err := r.read(path, i > 0, i == 0)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err != nil {
			r.problems.add(err)
			continue
		}
		files = append(files, f)
	}
	return r.config(files)
}

// Open reads path alone, as "ssh -F path" does: with the rules of a user's file, without the system's, and it must
// exist. The path "none" gives an empty Config.
func (l Loader) Open(path string) (*Config, error) {
	l, err := l.complete()
	if err != nil {
		return nil, err
	}
	r := reader{local: l}
	if path == None {
		return r.config(nil)
	}
	f, err := r.read(path, false, false)
	r.problems.add(err)
	return r.config([]*file{f})
}

// Files returns the files that were read, included ones too, in the order of reading.
func (c *Config) Files() []string { return append([]string(nil), c.loaded...) }

func (l Loader) complete() (Loader, error) {
	if l.Home == "" || l.User == "" || l.UID == "" {
		u, err := account()
		if err != nil {
			return l, err
		}
		l.Home, l.User, l.UID = or(l.Home, u.HomeDir), or(l.User, u.Username), or(l.UID, u.Uid)
	}
	if l.Hostname == "" {
		name, err := os.Hostname()
		if err != nil {
			return l, fmt.Errorf("sshconfig: the name of this machine is unknown: %w", err)
		}
		l.Hostname = name
	}
	l.SystemDir = or(l.SystemDir, defaultSystemDir)
	if l.LookupEnv == nil {
		l.LookupEnv = os.LookupEnv
	}
	return l, nil
}

// account is that of this process. One that the system has no entry for, as containers run some, has no name, and HOME is its
// home.
func account() (*user.User, error) {
	if u, err := user.Current(); err == nil {
		return u, nil
	}
	return nameless(os.Getuid(), os.Getenv("HOME"))
}

func nameless(uid int, home string) (*user.User, error) {
	if !filepath.IsAbs(home) {
		return nil, fmt.Errorf("sshconfig: the account with the number %d is unknown to this machine, and HOME names no directory: set HOME", uid)
	}
	return &user.User{Uid: strconv.Itoa(uid), HomeDir: home}, nil
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// reader reads files and what they include.
type reader struct {
	local    Loader
	problems problems
	loaded   []string
	stack    []string // files being read, outermost first

	environment bool     // see Config
	included    []string // likewise
}

func (r *reader) config(files []*file) (*Config, error) {
	if err := r.problems.err(); err != nil {
		return nil, err
	}
	return &Config{local: r.local, files: files, loaded: r.loaded, execs: &execs{}, environment: r.environment, included: r.included}, nil
}

// read reads one file and its includes. Only the error of opening it is returned; what is wrong inside is collected.
func (r *reader) read(path string, system, checkOwner bool) (*file, error) {
	if len(r.loaded) >= maxFiles {
		return nil, &Error{Pos: hosts.Pos{File: path}, Msg: fmt.Sprintf("more than %d files are included", maxFiles)}
	}
	data, err := readFile(path, checkOwner)
	if err != nil {
		return nil, err
	}
	r.loaded = append(r.loaded, path)
	r.stack = append(r.stack, path)
	f := &file{path: path, system: system, lines: parse(path, data, &r.problems)}
	for i := range f.lines {
		l := &f.lines[i]
		r.environment = r.environment || asksEnvironment(l.name+" "+l.raw)
		if l.key == "include" {
			l.incl = r.include(l, system)
		}
	}
	r.stack = r.stack[:len(r.stack)-1]
	return f, nil
}

func readFile(path string, checkOwner bool) ([]byte, error) {
	at := hosts.Pos{File: path}
	fail := func(msg string, err error) error { return &Error{Pos: at, Msg: msg, Err: err} }
	// A FIFO would block in open, so look first.
	info, err := os.Stat(path)
	if err != nil {
		return nil, fail("cannot be read", pathless(err))
	}
	if mode := info.Mode(); !mode.IsRegular() && mode&fs.ModeCharDevice == 0 {
		return nil, fail("is not a regular file", nil)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fail("cannot be read", pathless(err))
	}
	defer f.Close()
	info, err = f.Stat()
	if err == nil && checkOwner {
		if msg := unsafeOwner(info); msg != "" {
			return nil, fail(msg, nil)
		}
	}
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(f, maxFileSize+1))
	}
	if err != nil {
		return nil, fail("cannot be read", pathless(err))
	}
	if len(data) > maxFileSize {
		return nil, fail(fmt.Sprintf("is larger than %d MiB; this is not a configuration file", maxFileSize>>20), nil)
	}
	return data, nil
}

// pathless takes the path out of an error that is shown behind it.
func pathless(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
