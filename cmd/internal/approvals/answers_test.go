package approvals_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"syscall"

	"github.com/creack/pty"
)

// question is how a terminal looks where an answer is awaited.
var question = regexp.MustCompile(`(: |\] )$`)

// answers runs a program at a terminal of its own, types a line of a file at each question that it asks there, and the end of
// the input at the questions after those. What the terminal shows is in the file "tty" in the end. As a person does, it types
// after the question: what comes before one answers nothing.
func answers() {
	os.Exit(func() int {
		lines, err := os.ReadFile(os.Args[1])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		master, tty, err := pty.Open()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		cmd := exec.Command(os.Args[2], os.Args[3:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		if err := cmd.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		tty.Close()
		var shown []byte
		for buf := make([]byte, 1<<12); ; {
			n, err := master.Read(buf)
			if shown = append(shown, buf[:n]...); question.Match(shown) {
				line, rest, more := bytes.Cut(lines, []byte("\n"))
				if lines = rest; more {
					line = append(line, '\n')
				} else if len(line) == 0 {
					line = []byte{4} // the end of the input
				}
				if _, err := master.Write(line); err != nil {
					break
				}
			}
			if err != nil {
				break
			}
		}
		err = cmd.Wait()
		if werr := os.WriteFile("tty", bytes.ReplaceAll(shown, []byte("\r\n"), []byte("\n")), 0o600); werr != nil {
			fmt.Fprintln(os.Stderr, werr)
			return 1
		}
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return cmd.ProcessState.ExitCode()
	}())
}
