//go:build linux || darwin

package sshserver

import (
	"net"
	"os"
	"os/user"
	"strings"
)

// environ returns what a login would have in its environment.
func (c *conn) environ(s *Session) []string {
	env := c.s.cfg.Env
	if env == nil {
		env = []string{"HOME=" + c.s.home(), "SHELL=" + c.s.cfg.Shell[0]}
		if u, err := user.Current(); err == nil {
			env = append(env, "USER="+u.Username, "LOGNAME="+u.Username)
		}
		for _, name := range []string{"PATH", "TMPDIR", "LANG", "TZ"} {
			if v, ok := os.LookupEnv(name); ok {
				env = append(env, name+"="+v)
			}
		}
	}
	env = append(env[:len(env):len(env)], s.Env...)
	from, fromPort, _ := net.SplitHostPort(c.ssh.RemoteAddr().String())
	to, toPort, _ := net.SplitHostPort(c.ssh.LocalAddr().String())
	env = append(env, "SSH_CONNECTION="+strings.Join([]string{from, fromPort, to, toPort}, " "))
	env = append(env, "SSHSERVER_LOGIN="+c.ssh.User()) // whom it would be, were it not for this process being one account
	if s.PTY {
		env = append(env, "TERM="+s.Term)
	}
	return env
}

// home returns the directory that programs start in.
func (s *Server) home() string {
	if s.cfg.Dir != "" {
		return s.cfg.Dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "/"
	}
	return home
}
