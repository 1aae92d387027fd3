// Package version implements "fairlead version".
package version

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

// Info says what was built, how and from what.
type Info struct {
	Version  string `json:"version"` // "(devel)" when not built from a release
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"` // of the revision
	Modified bool   `json:"modified,omitempty"`
}

// release is set by the linker where a release is built outside of a module's tree (-X …/version.release=v1.2.3).
var release string

// Read returns what the linker noted in this program.
func Read() Info {
	i := Info{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return i
	}
	if b.Main.Version != "" {
		i.Version = b.Main.Version
	}
	if release != "" {
		i.Version = release
	}
	for _, s := range b.Settings {
		switch s.Key {
		case "vcs.revision":
			i.Revision = s.Value
		case "vcs.time":
			i.Time = s.Value
		case "vcs.modified":
			i.Modified = s.Value == "true"
		}
	}
	return i
}

// String is Info for people.
func (i Info) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "fairlead %s (%s, %s", i.Version, i.Go, i.Platform)
	if i.Revision != "" {
		fmt.Fprintf(&b, ", commit %.12s of %s", i.Revision, i.Time)
		if i.Modified {
			b.WriteString(", with changes")
		}
	}
	return b.String() + ")"
}

// Options is everything that the command needs.
type Options struct {
	IO   *iostreams.IOStreams
	JSON bool
}

// NewCmd builds the command. runF replaces the real work in tests of flags.
func NewCmd(f *cmdutil.Factory, runF func(*Options) error) *cobra.Command {
	o := &Options{IO: f.IO}
	if runF == nil {
		runF = run
	}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cmdutil.Args(0, 0, "no arguments"),
		RunE:  func(*cobra.Command, []string) error { return runF(o) },
	}
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print a JSON object")
	return cmd
}

func run(o *Options) error {
	if o.JSON {
		return json.NewEncoder(o.IO.Out).Encode(Read())
	}
	_, err := fmt.Fprintln(o.IO.Out, Read())
	return err
}
