// Package setup writes what the programs that host agents need in order to start "fairlead mcp". NewCmd is "fairlead
// setup".
package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/files"
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

const long = `Let a program that hosts an agent start "fairlead mcp": add it to the servers in the configuration of CLIENT.

Clients and the files that are edited:
  claude  Claude Code      ~/.claude.json
  cursor  Cursor           ~/.cursor/mcp.json
  codex   Codex            ~/.codex/config.toml
  gemini  Gemini CLI       ~/.gemini/settings.json
  vscode  VS Code          mcp.json in the user's settings

All else in the file stays as it is, to the byte; what was there before is kept beside it as FILE.fairlead-backup. Doing it
again changes nothing, or what has to be changed. The agent acts as agent/CLIENT; it may do what the policy says (see
"fairlead mcp --help").`

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
		Short:     "Let an agent's program start fairlead mcp",
		Long:      long,
		Example:   example,
		Args:      cmdutil.Args(1, 1, "one client: "+strings.Join(clientNames(), ", ")),
		ValidArgs: clientNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Client = args[0]
			if _, ok := clients[o.Client]; !ok {
				return cmdutil.Usagef("there is no client %q: one of %s. For another one, see fairlead mcp --print-config", o.Client, strings.Join(clientNames(), ", "))
			}
			if o.As == "" {
				o.As = o.Client
			}
			if !agentName.MatchString(o.As) {
				return cmdutil.Usagef("--as takes a name of letters, digits, dots, dashes and underscores, not %q", o.As)
			}
			return runF(cmd.Context(), o)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&o.As, "as", "", "let the agent act as agent/`name` (default CLIENT)")
	fl.StringVar(&o.File, "file", "", "edit `file` instead of the user's configuration")
	fl.BoolVar(&o.Elicit, "elicit", false, "let the client ask its user for approval, too; see fairlead mcp --help")
	fl.BoolVar(&o.Print, "print", false, "print what would be added, and change nothing")
	fl.BoolVar(&o.Remove, "remove", false, "take it away again")
	cmd.MarkFlagsMutuallyExclusive("print", "remove")
	return f.ForPeople(cmd, "change which agents may start fairlead mcp", func() bool { return o.Print })
}

var agentName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// maxConfig bounds the file that is edited.
const maxConfig = 16 << 20

func run(ctx context.Context, o *Options) error {
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
	host, err := files.Open(ctx, nil, hosts.Host{Name: "here", Transport: hosts.Local})
	if err != nil {
		return err
	}
	defer host.Close()
	var old bytes.Buffer
	was, err := host.Read(ctx, file, 0, -1, maxConfig, &old)
	var missing *files.Error
	if errors.As(err, &missing) && missing.Code == files.CodeNotFound {
		err = nil
	}
	if err != nil {
		return err
	}
	edit := func(text string) (string, error) { return c.with(text, c.entry(command, args)) }
	if o.Remove {
		edit = c.without
	}
	text, err := edit(old.String())
	if err != nil {
		return fmt.Errorf("%s was not changed: %w. fairlead setup %s --print prints what belongs into it", file, err, o.Client)
	}
	if text == old.String() {
		fmt.Fprintf(o.IO.Err, "%s is as it should be: nothing was changed\n", file)
		return nil
	}
	return o.write(ctx, host, file, was, old.Bytes(), text)
}

// write replaces the file, and keeps the old content beside it.
func (o *Options) write(ctx context.Context, host *files.Host, file string, was files.Info, old []byte, text string) error {
	private := os.FileMode(0o600) // other entries may hold tokens
	w := files.WriteOptions{If: files.Expect{SHA256: was.SHA256}}
	if was.SHA256 == "" {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		w.Mode, w.If.New = &private, true
	} else if _, err := host.Write(ctx, file+".fairlead-backup", old, files.WriteOptions{Mode: &private}); err != nil {
		return err
	}
	if _, err := host.Write(ctx, file, []byte(text), w); err != nil {
		return err
	}
	did, when := "added to", ". Restart "+o.Client+" to use it"
	if o.Remove {
		did, when = "taken out of", ""
	}
	fmt.Fprintf(o.IO.Err, "fairlead is %s %s%s\n", did, file, when)
	return nil
}

// start is what the client is to start.
func (o *Options) start() (command string, args []string, err error) {
	if command, err = os.Executable(); err != nil {
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
