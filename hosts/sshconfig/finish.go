package sshconfig

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// defaultIdentities are the key files OpenSSH tries when none is configured, in its order.
var defaultIdentities = []string{"id_rsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk"}

// finish fills defaults and expands what can only be expanded once everything is known.
func (r *resolver) finish() {
	s, local := &r.s, r.cfg.local
	s.HostName.V = r.host
	if s.HostName.From.File == Given {
		s.HostName.From = hosts.Pos{}
	}
	if r.canonFrom.File != "" {
		s.HostName.From = r.canonFrom
	}
	if !s.User.isSet() {
		s.User.V = local.User
	}
	if !s.Port.isSet() {
		s.Port.V = DefaultPort
	}
	if !s.ServerAliveCountMax.isSet() {
		s.ServerAliveCountMax.V = DefaultServerAliveCountMax
	}
	if !s.ConnectionAttempts.isSet() {
		s.ConnectionAttempts.V = 1
	}
	if s.ConnectionAttempts.V < 1 {
		r.problems.add(errorAt(s.ConnectionAttempts.From, "ConnectionAttempts: %d is not a number from 1 on", s.ConnectionAttempts.V))
	}
	if !s.PubkeyAuthentication.isSet() {
		s.PubkeyAuthentication.V = true
	}
	if !s.PasswordAuthentication.isSet() {
		s.PasswordAuthentication.V = true
	}
	if !s.KbdInteractiveAuthentication.isSet() {
		s.KbdInteractiveAuthentication.V = true
	}
	if !s.NumberOfPasswordPrompts.isSet() {
		s.NumberOfPasswordPrompts.V = DefaultNumberOfPasswordPrompts
	}
	if !s.StrictHostKeyChecking.isSet() {
		s.StrictHostKeyChecking.V = StrictAsk
	}
	s.HostKeyAlias.V = lower(s.HostKeyAlias.V)
	if lower(s.ProxyCommand.V) == None {
		s.ProxyCommand.V = ""
	}
	r.checkUser()
	r.problems.add(s.finishJumps(r.offline))
	r.files()
	r.agent()
	r.finishKnownHostsCommand()
	r.finishControlPath()
	r.finishRemoteCommand()
	if v := &s.UpdateHostKeys; !v.isSet() {
		own := r.userHostsFrom.File == "" || len(s.UserKnownHostsFiles) == 1 && s.UserKnownHostsFiles[0].Raw == "~/.ssh/known_hosts"
		if v.V = "no"; own { // who names another file may have it looked after by something else
			v.V = "yes"
		}
	}
}

// finishRemoteCommand expands the tokens, of which all are allowed (ssh_config(5), TOKENS).
func (r *resolver) finishRemoteCommand() {
	v := &r.s.RemoteCommand
	if lower(v.Raw) == None {
		v.V = ""
		return
	}
	var err error
	if v.V, err = expand(v.Raw, r.s.tokens(r.cfg.local), nil); err != nil {
		r.problems.add(&Error{Pos: v.From, Msg: "RemoteCommand " + v.Raw, Err: err})
	}
}

// finishControlPath expands the path of the socket. With "ControlMaster yes" and "ask" ssh looks for none.
func (r *resolver) finishControlPath() {
	v := &r.s.ControlPath
	if mode := r.controlMaster.V; !v.isSet() || lower(v.Raw) == None || mode == "yes" || mode == "ask" {
		v.V = ""
		return
	}
	var err error
	if v.V, err = r.cfg.local.path(v.Raw, r.s.tokens(r.cfg.local)); err != nil {
		r.problems.add(&Error{Pos: v.From, Msg: "ControlPath " + v.Raw, Err: err})
	}
}

func (r *resolver) checkUser() {
	user := r.s.User
	err := checkUser(user.V)
	// Newer versions of ssh expand these in user names, older ones do not: whom to log in as must not be a guess.
	if user.From.File != Given && (strings.Contains(user.V, "%") || strings.Contains(user.V, "${")) {
		r.problems.add(errorAt(user.From, "user %s: tokens and variables in user names are not supported", user.V))
	}
	switch {
	case err == nil:
	case user.V == "" && !user.isSet():
		r.problems.add(&Error{Pos: hosts.Pos{File: user.Source()}, Msg: "this account has no name that could be the user on the host: set user"})
	case user.From.File == "" || user.From.File == Given:
		r.problems.add(&Error{Pos: hosts.Pos{File: user.Source()}, Msg: "user", Err: err})
	default:
		r.problems.add(&Error{Pos: user.From, Msg: "user", Err: err})
	}
}

func (r *resolver) files() {
	s, local := &r.s, r.cfg.local
	t := s.tokens(local)
	if len(s.IdentityFiles) == 0 {
		for _, name := range defaultIdentities {
			s.IdentityFiles = append(s.IdentityFiles, Value[string]{V: filepath.Join(local.Home, ".ssh", name)})
		}
	}
	if r.userHostsFrom.File == "" {
		for _, name := range []string{"known_hosts", "known_hosts2"} {
			s.UserKnownHostsFiles = append(s.UserKnownHostsFiles, Value[string]{V: filepath.Join(local.Home, ".ssh", name)})
		}
	}
	if r.globalHostsFrom.File == "" {
		for _, name := range []string{"ssh_known_hosts", "ssh_known_hosts2"} {
			s.GlobalKnownHostsFiles = append(s.GlobalKnownHostsFiles, Value[string]{V: filepath.Join(local.SystemDir, name)})
		}
	}
	r.expandFiles("IdentityFile", &s.IdentityFiles, t)
	s.CertificatesNone = slices.ContainsFunc(s.CertificateFiles, func(v Value[string]) bool { return lower(v.Raw) == None })
	r.expandFiles("CertificateFile", &s.CertificateFiles, t)
	r.expandFiles("UserKnownHostsFile", &s.UserKnownHostsFiles, t)
	if v := &s.RevokedHostKeys; lower(v.V) == None {
		v.V = ""
	} else if v.isSet() {
		var err error
		if v.V, err = r.cfg.local.path(v.Raw, t); err != nil {
			r.problems.add(&Error{Pos: v.From, Msg: "RevokedHostKeys " + v.Raw, Err: err})
		}
	}
	for i, v := range s.GlobalKnownHostsFiles { // they are not expanded by OpenSSH either
		s.GlobalKnownHostsFiles[i].V = local.inDir(v.V)
	}
}

// expandFiles expands what was configured and drops "none".
func (r *resolver) expandFiles(what string, list *[]Value[string], t tokens) {
	kept := (*list)[:0]
	for _, v := range *list {
		if lower(v.Raw) == None {
			continue
		}
		if v.isSet() {
			var err error
			if v.V, err = r.cfg.local.path(v.Raw, t); err != nil {
				r.problems.add(&Error{Pos: v.From, Msg: what + " " + v.Raw, Err: err})
			}
		}
		kept = append(kept, v)
	}
	*list = kept
}

// agent turns the forms of IdentityAgent and ForwardAgent into socket paths.
func (r *resolver) agent() {
	v := &r.s.IdentityAgent
	switch {
	case !v.isSet(), v.Raw == "SSH_AUTH_SOCK":
		v.V, _ = r.env("SSH_AUTH_SOCK")
	case v.Raw == None:
		v.V = ""
	default:
		v.V = r.socket("IdentityAgent", v.Raw, v.From)
	}
	f := r.s.ForwardAgent
	if _, err := parseFlag(f.Raw); f.V && err == nil {
		r.s.AgentLent = v.V
	} else if f.V {
		r.s.AgentLent = r.socket("ForwardAgent", f.Raw, f.From)
	}
}

// socket is the path that raw means, or the variable that it names.
func (r *resolver) socket(keyword, raw string, from hosts.Pos) string {
	if name, ok := strings.CutPrefix(raw, "$"); ok && !strings.HasPrefix(name, "{") {
		path, _ := r.env(name)
		return path
	}
	path, err := r.cfg.local.path(raw, r.s.tokens(r.cfg.local))
	if err != nil {
		r.problems.add(&Error{Pos: from, Msg: keyword + " " + raw, Err: err})
	}
	return path
}
