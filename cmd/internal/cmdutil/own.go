package cmdutil

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/thismachine"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// machine remembers which hosts are this one, for all engines of the process.
var machine thismachine.Machine

// maxClaim bounds what a keeper notes in its claim: a few paths.
const maxClaim = 64 << 10

// Own is what belongs to Fairlead on this machine as this process uses it: the directories that the environment names and
// the usual ones, the inventory, the settings' files, and the program.
func (f *Factory) Own() judge.Own {
	o := judge.Own{Home: f.Getenv("HOME")}
	add := func(name string, err error) {
		if err == nil && filepath.IsAbs(name) {
			o.Paths = append(o.Paths, name)
		}
	}
	add(f.place("XDG_CONFIG_HOME", ".config", ""))
	add(f.place("XDG_STATE_HOME", filepath.Join(".local", "state"), ""))
	for _, variable := range []string{"XDG_STATE_HOME", ""} {
		if jobs, err := f.place(variable, filepath.Join(".local", "state"), "jobs"); err == nil {
			o.Except = append(o.Except, jobs)
		}
	}
	add(f.place("", ".config", ""))
	add(f.place("", filepath.Join(".local", "state"), ""))
	add(filepath.Join("/run/user", strconv.Itoa(os.Getuid()), "fairlead"), nil)
	if run := f.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) {
		add(filepath.Join(run, "fairlead"), nil)
	}
	dirs, err := f.ApprovalsDirs()
	for _, dir := range dirs {
		add(dir, err)
	}
	add(f.InventoryPath())
	if system := filepath.Dir(rules.SystemFile); exists(system) {
		add(system, nil)
	}
	if c, err := f.Config(); err == nil {
		add(c.Store.KeyFile, nil)
		if c.Store.URL != "" && !strings.Contains(c.Store.URL, "://") {
			for _, end := range []string{"", "-wal", "-shm", "-journal", ".key"} {
				add(c.Store.URL+end, nil)
			}
		}
	}
	for _, variable := range []string{"XDG_STATE_HOME", ""} {
		if state, err := f.place(variable, filepath.Join(".local", "state"), ""); err == nil {
			for _, name := range notedByKeepers(state) {
				add(name, nil)
			}
		}
	}
	if exe, err := os.Executable(); err == nil {
		o.Programs = append(o.Programs, exe)
	}
	if exe, err := exec.LookPath("fairlead"); err == nil && filepath.IsAbs(exe) {
		o.Programs = append(o.Programs, exe)
	}
	return o
}

// notedByKeepers are the files that keepers wrote into their claims, beside their log: what their command lines name.
func notedByKeepers(state string) (all []string) {
	claims, _ := filepath.Glob(filepath.Join(state, "keeper-*.lock"))
	for _, claim := range claims {
		if st, err := os.Lstat(claim); err != nil || !st.Mode().IsRegular() || st.Size() > maxClaim {
			continue
		}
		text, err := os.ReadFile(claim)
		var names []string
		if err == nil && json.Unmarshal(text, &names) == nil {
			all = append(all, names...)
		}
	}
	return all
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// Guarded returns an engine that keeps agents from what belongs to Fairlead on this machine, a policy file that was named
// included.
func (f *Factory) Guarded(e *rules.Engine, file string) *rules.Engine {
	o := f.Own()
	if abs, err := filepath.Abs(file); file != "" && err == nil {
		o.Paths = append(o.Paths, abs)
	}
	return e.WithOwn(o, machine.Is)
}
