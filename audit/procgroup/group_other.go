//go:build !unix

package procgroup

import "os/exec"

// separate has nothing to do: the end of the context kills the program alone.
func separate(*exec.Cmd) {}
