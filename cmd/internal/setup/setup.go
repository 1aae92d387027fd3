// Package setup writes what the programs that host agents need in order to start "fairlead mcp". NewCmd is "fairlead
// setup".
package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// Options is everything the command needs: dependencies, then flags and arguments.
type Options struct {
	IO         *iostreams.IOStreams
	Getenv     func(string) string
	StartFlags func() ([]string, error) // for a process that starts this program

	As     string
	File   string
	Elicit bool
	Print  bool
	Remove bool
	Client string
}

const long = `Let an agent's client start "fairlead mcp": add it to the servers in the configuration of CLIENT.

  claude  Claude Code      ~/.claude.json
  cursor  Cursor           ~/.cursor/mcp.json
  codex   Codex            ~/.codex/config.toml
  gemini  Gemini CLI       ~/.gemini/settings.json
  vscode  VS Code          mcp.json in the user's settings

Everything else in the file stays byte for byte. A backup of the old file is kept next to it as FILE.fairlead-backup. It is
safe to run again. The agent acts as agent/CLIENT and may do what the policy allows (see "fairlead mcp --help").`

const example = `  fairlead setup claude
  fairlead -i ~/hosts.yaml setup cursor --as editor
  fairlead setup vscode --file .vscode/mcp.json
  fairlead setup codex --remove`

// NewCmd builds the command. runF replaces the real work in tests of flags.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{IO: f.IO, Getenv: f.Getenv, StartFlags: f.StartFlags}
	if runF == nil {
		runF = run
	}
	cmd := &cobra.Command{
		Use:       "setup CLIENT",
		Short:     "Let an agent's client start fairlead mcp",
		Long:      long,
		Example:   example,
		Args:      cmdutil.Args(1, 1, "one client: "+strings.Join(clientNames(), ", ")),
		ValidArgs: clientNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Client = args[0]
			if _, ok := clients[o.Client]; !ok {
				return cmdutil.Usagef("unknown client %q: use one of %s. For another client, see fairlead mcp --print-config", o.Client, strings.Join(clientNames(), ", "))
			}
			if o.As == "" {
				o.As = o.Client
			}
			if !agentName.MatchString(o.As) {
				return cmdutil.Usagef("--as takes a name of letters, digits, dots, dashes and underscores, not %q", o.As)
			}
			if o.Print && o.Remove {
				return cmdutil.Usagef("setup takes one of --print and --remove")
			}
			if o.Remove && (cmd.Flags().Changed("as") || o.Elicit) {
				return cmdutil.Usagef("--remove removes the entry whatever it says: leave --as and --elicit out")
			}
			if o.Print && o.File != "" {
				return cmdutil.Usagef("--print changes no file: leave --file out")
			}
			return runF(cmd.Context(), o)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&o.As, "as", "", "let the agent act as agent/`name` (default CLIENT)")
	fl.StringVar(&o.File, "file", "", "edit `file` instead of the user's configuration")
	fl.BoolVar(&o.Elicit, "elicit", false, "also let the client ask its user for approval; see fairlead mcp --help")
	fl.BoolVar(&o.Print, "print", false, "print what would be added, and change nothing")
	fl.BoolVar(&o.Remove, "remove", false, "remove it again")
	return f.ForPeople(cmd, "change which agents may start fairlead mcp", func() bool { return o.Print })
}

var agentName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// maxConfig bounds the file that is edited.
const maxConfig = 16 << 20

func run(_ context.Context, o *Options) error {
	c := clients[o.Client]
	command, args, err := o.start()
	if err != nil {
		return err
	}
	if o.Print {
		text, err := c.with("", c.entry(command, args))
		if err != nil {
			return err
		}
		_, err = io.WriteString(o.IO.Out, text)
		return err
	}
	file, err := o.file(c)
	if err != nil {
		return err
	}
	f, err := openConfig(file, trusted(file, o.dirs()...))
	if err != nil {
		return err
	}
	defer f.close()
	edit := func(text string) (string, error) { return c.with(text, c.entry(command, args)) }
	if o.Remove {
		edit = c.without
	}
	text, err := edit(string(f.text))
	if err != nil {
		return fmt.Errorf("%s was not changed: %w. fairlead setup %s --print prints what belongs into it", file, err, o.Client)
	}
	if text == string(f.text) {
		fmt.Fprintf(o.IO.Err, "%s is as it should be: nothing was changed\n", cmdutil.OneLine(file))
		return nil
	}
	backup, err := f.replace(text)
	if err != nil {
		return fmt.Errorf("%s was not changed: %w", file, err)
	}
	did, when := "added to", ". Restart "+o.Client+" to use it"
	if o.Remove {
		did, when = "removed from", ""
	}
	fmt.Fprintf(o.IO.Err, "fairlead is %s %s%s\n", did, cmdutil.OneLine(file), when)
	if missing := missingIn(args); !o.Remove && missing != "" {
		fmt.Fprintf(o.IO.Err, "fairlead: warning: there is no inventory at %s: the agent has no hosts until you write it\n", cmdutil.OneLine(missing))
	}
	if backup != "" {
		fmt.Fprintf(o.IO.Err, "the old file is kept as %s\n", cmdutil.OneLine(backup))
	}
	return nil
}

// dirs are the directories whose own paths the user chose.
func (o *Options) dirs() []string {
	wd, _ := os.Getwd() // without one, no path is below it
	return []string{wd, o.Getenv("HOME")}
}

// start is what the client is to start.
func (o *Options) start() (command string, args []string, err error) {
	if command, err = program(os.Args[0]); err != nil {
		return "", nil, err
	}
	if args, err = o.StartFlags(); err != nil {
		return "", nil, err
	}
	args = append(args, "mcp", "--as", o.As)
	if o.Elicit {
		args = append(args, "--elicit")
	}
	return command, args, nil
}

// missingIn is the inventory that args name, if it is not there.
func missingIn(args []string) string {
	for i, arg := range args[:len(args)-1] {
		if arg == "-i" {
			if _, err := os.Stat(args[i+1]); errors.Is(err, fs.ErrNotExist) {
				return args[i+1]
			}
		}
	}
	return ""
}

// program is the path that this program was started by. It may be a link, which stays when the next version is installed
// beside this one.
func program(started string) (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	name, err := exec.LookPath(started)
	if err == nil {
		name, err = filepath.Abs(name)
	}
	if err != nil || !sameFile(name, exe) {
		return exe, nil
	}
	return name, nil
}

func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// file is the one to edit.
func (o *Options) file(c client) (string, error) {
	if o.File != "" {
		return filepath.Abs(o.File)
	}
	home := o.Getenv("HOME")
	if !filepath.IsAbs(home) {
		var err error
		if home, err = os.UserHomeDir(); err != nil || !filepath.IsAbs(home) {
			return "", errors.New("HOME names no directory: set it, or name the file with --file")
		}
	}
	return c.file(paths{o.Getenv, home, runtime.GOOS}), nil
}
