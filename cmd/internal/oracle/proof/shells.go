package proof

import "os/exec"

// Shell is a shell that commands run on.
type Shell struct {
	Name  string   // as users of the oracle write it
	Judge string   // as the judge calls it
	Argv  []string // before the script
}

// Shells are all that the oracle knows.
var Shells = []Shell{
	{"bash", "bash", []string{"/bin/bash", "--norc", "--noprofile", "-c"}},
	{"zsh", "zsh", []string{"/usr/bin/zsh", "-f", "-c"}},
	{"dash", "dash", []string{"/bin/dash", "-c"}},
	{"ksh93", "ksh", []string{"/usr/bin/ksh93", "-c"}},
	{"mksh", "mksh", []string{"/usr/bin/mksh", "-c"}},
	{"busybox", "ash", []string{"/bin/busybox", "sh", "-c"}},
}

// Installed reports whether the shell is on this machine.
func (s Shell) Installed() bool {
	_, err := exec.LookPath(s.Argv[0])
	return err == nil
}
