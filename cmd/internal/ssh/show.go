package ssh

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	hostscmd "github.com/fairlead-ssh/fairlead/cmd/internal/hosts"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// show prints where the call leads, in the form of ssh -G. It is by this that git finds out which options a program takes.
func (r *runner) show(h hosts.Host) error {
	conf, err := hostscmd.LoadSSHConfig(h.SSHConfig, r.f.NoPrograms())
	if err != nil {
		return r.fail(err)
	}
	s, err := conf.Resolve(h.Name, sshconfig.Options{User: h.User, Port: h.Port, Lines: h.SSHOptions, Programs: true})
	if err != nil {
		return r.fail(err)
	}
	name := s.HostName.V
	if h.Addr != "" {
		name = h.Addr
	}
	fmt.Fprintf(r.f.IO.Out, "host %s\nuser %s\nhostname %s\nport %d\n", r.c.host, s.User.V, name, s.Port.V)
	for _, line := range shown(s) {
		fmt.Fprintln(r.f.IO.Out, line)
	}
	return nil
}

// shown are the settings that programs look for in what ssh -G prints, as it prints them. What is not configured, and has no default of
// its own, is left out as there.
func shown(s sshconfig.Settings) (lines []string) {
	yesNo := map[bool]string{true: "yes", false: "no"}
	add := func(keyword, value string) {
		if value != "" {
			lines = append(lines, keyword+" "+value)
		}
	}
	add("addressfamily", cmp.Or(s.AddressFamily.V, "any"))
	add("batchmode", yesNo[s.BatchMode.V])
	add("checkhostip", yesNo[s.CheckHostIP.V])
	if s.ForwardAgent.V { // in files it has no effect
		add("forwardagent", "yes")
	}
	add("hashknownhosts", yesNo[s.HashKnownHosts.V])
	add("identitiesonly", yesNo[s.IdentitiesOnly.V])
	add("kbdinteractiveauthentication", yesNo[s.KbdInteractiveAuthentication.V])
	add("passwordauthentication", yesNo[s.PasswordAuthentication.V])
	add("pubkeyauthentication", map[bool]string{true: "true", false: "false"}[s.PubkeyAuthentication.V])
	strict := map[sshconfig.StrictHostKeyChecking]string{sshconfig.StrictYes: "true", sshconfig.StrictOff: "false"}[s.StrictHostKeyChecking.V]
	add("stricthostkeychecking", cmp.Or(strict, string(s.StrictHostKeyChecking.V)))
	timeout := "none"
	if s.ConnectTimeout.V > 0 {
		timeout = strconv.Itoa(int(s.ConnectTimeout.V.Seconds()))
	}
	add("connecttimeout", timeout)
	add("connectionattempts", strconv.Itoa(s.ConnectionAttempts.V))
	add("numberofpasswordprompts", strconv.Itoa(s.NumberOfPasswordPrompts.V))
	add("serveralivecountmax", strconv.Itoa(s.ServerAliveCountMax.V))
	add("serveraliveinterval", strconv.Itoa(int(s.ServerAliveInterval.V.Seconds())))
	for keyword, v := range map[string]sshconfig.Value[string]{
		"bindaddress": s.BindAddress, "bindinterface": s.BindInterface, "controlpath": s.ControlPath, "hostkeyalias": s.HostKeyAlias,
		"preferredauthentications": s.PreferredAuthentications, "proxycommand": s.ProxyCommand, "remotecommand": s.RemoteCommand,
	} {
		add(keyword, v.V)
	}
	agent := s.IdentityAgent.V
	if raw := s.IdentityAgent.Raw; raw == "" || strings.EqualFold(raw, sshconfig.None) || raw == "SSH_AUTH_SOCK" || raw[0] == '$' && !strings.HasPrefix(raw, "${") {
		agent = raw // expanded where it is used
	}
	add("identityagent", agent)
	slices.Sort(lines)
	for _, f := range s.IdentityFiles { // ssh's own are in the account's home, and shown so
		add("identityfile", cmp.Or(f.Raw, "~/.ssh/"+filepath.Base(f.V)))
	}
	for _, f := range s.CertificateFiles {
		add("certificatefile", f.Raw)
	}
	for _, v := range s.SendEnv {
		add("sendenv", v.V)
	}
	for _, v := range s.SetEnv {
		add("setenv", v.V)
	}
	add("globalknownhostsfile", together(s.GlobalKnownHostsFiles))
	add("userknownhostsfile", together(s.UserKnownHostsFiles))
	var hops []string
	for _, j := range s.ProxyJump.V {
		hop := j.Host
		if strings.Contains(hop, ":") {
			hop = "[" + hop + "]"
		}
		if j.User != "" {
			hop = j.User + "@" + hop
		}
		if j.Port != 0 {
			hop += ":" + strconv.Itoa(int(j.Port))
		}
		hops = append(hops, hop)
	}
	add("proxyjump", strings.Join(hops, ","))
	return lines
}

func together(files []sshconfig.Value[string]) string {
	var all []string
	for _, f := range files {
		all = append(all, f.V)
	}
	return cmp.Or(strings.Join(all, " "), "none")
}
