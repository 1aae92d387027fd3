package web

import (
	"os/exec"
	"runtime"
	"syscall"
)

// browser returns what shows a file to the person at the machine; nil where there is no screen.
func browser(getenv func(string) string) func(file string) error {
	opener := "xdg-open"
	switch {
	case runtime.GOOS == "darwin":
		opener = "open"
	case getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == "":
		return nil
	}
	return func(file string) error {
		cmd := exec.Command(opener, file)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it outlives the terminal
		if err := cmd.Start(); err != nil {
			return err
		}
		return cmd.Process.Release() // a browser may stay as long as it likes
	}
}
