package sshconfig_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// lookSSH returns the real ssh. Without one the test is skipped, except in CI, where it must not be.
func lookSSH(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("ssh")
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatal("ssh is not installed, and CI must compare with it")
	}
	if err != nil {
		t.Skip("ssh is not installed: nothing to compare with")
	}
	return path
}

// sshG runs "ssh -G", which makes no connection, and returns its values by keyword.
func sshG(t *testing.T, ssh, file, host string, lines ...string) (map[string][]string, error) {
	t.Helper()
	argv := []string{"-G", "-F", file}
	for _, line := range lines {
		argv = append(argv, "-o", line)
	}
	cmd := exec.CommandContext(t.Context(), ssh, append(argv, host)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, stderr.String())
	}
	values := map[string][]string{}
	for l := range strings.Lines(string(out)) {
		k, v, _ := strings.Cut(strings.TrimSuffix(l, "\n"), " ")
		values[k] = append(values[k], v)
	}
	return values, nil
}

// asSSH renders settings the way "ssh -G" prints them.
func asSSH(s sshconfig.Settings) map[string][]string {
	yesNo := map[bool]string{true: "yes", false: "no"}
	m := map[string][]string{
		"hostname":              {s.HostName.V},
		"port":                  {strconv.Itoa(int(s.Port.V))},
		"user":                  {s.User.V},
		"identitiesonly":        {yesNo[s.IdentitiesOnly.V]},
		"hashknownhosts":        {yesNo[s.HashKnownHosts.V]},
		"checkhostip":           {yesNo[s.CheckHostIP.V]},
		"serveraliveinterval":   {strconv.Itoa(int(s.ServerAliveInterval.V.Seconds()))},
		"serveralivecountmax":   {strconv.Itoa(s.ServerAliveCountMax.V)},
		"stricthostkeychecking": {map[sshconfig.StrictHostKeyChecking]string{"yes": "true", "off": "false"}[s.StrictHostKeyChecking.V]},
		"connecttimeout":        {"none"},
	}
	m["addressfamily"] = []string{s.AddressFamily.V}
	if s.AddressFamily.V == "" {
		m["addressfamily"] = []string{"any"}
	}
	for keyword, v := range map[string]sshconfig.Value[string]{"bindaddress": s.BindAddress, "bindinterface": s.BindInterface,
		"preferredauthentications": s.PreferredAuthentications} {
		if v.V != "" {
			m[keyword] = []string{v.V}
		}
	}
	m["batchmode"] = []string{yesNo[s.BatchMode.V]}
	m["requesttty"] = []string{map[string]string{"": "auto", "yes": "true", "no": "false"}[s.RequestTTY.V]}
	if m["requesttty"][0] == "" {
		m["requesttty"] = []string{s.RequestTTY.V}
	}
	for keyword, v := range map[string]sshconfig.Value[string]{"remotecommand": s.RemoteCommand, "ciphers": s.Ciphers, "macs": s.MACs,
		"kexalgorithms": s.KexAlgorithms, "hostkeyalgorithms": s.HostKeyAlgorithms, "pubkeyacceptedalgorithms": s.PubkeyAcceptedAlgorithms,
		"casignaturealgorithms": s.CASignatureAlgorithms} {
		if v.V != "" {
			m[keyword] = []string{v.V}
		}
	}
	m["connectionattempts"] = []string{strconv.Itoa(s.ConnectionAttempts.V)}
	m["pubkeyauthentication"] = []string{yesNo[s.PubkeyAuthentication.V]}
	m["passwordauthentication"] = []string{yesNo[s.PasswordAuthentication.V]}
	m["kbdinteractiveauthentication"] = []string{yesNo[s.KbdInteractiveAuthentication.V]}
	m["numberofpasswordprompts"] = []string{strconv.Itoa(s.NumberOfPasswordPrompts.V)}
	m["requiredrsasize"] = []string{strconv.Itoa(cmp.Or(s.RequiredRSASize.V, 1024))}
	m["rekeylimit"] = []string{strconv.FormatUint(s.RekeyLimit.V, 10)}
	for _, v := range s.SendEnv {
		m["sendenv"] = append(m["sendenv"], v.V)
	}
	for _, v := range s.SetEnv {
		m["setenv"] = append(m["setenv"], v.V)
	}
	if m["stricthostkeychecking"][0] == "" {
		m["stricthostkeychecking"][0] = string(s.StrictHostKeyChecking.V)
	}
	if s.ConnectTimeout.From.File != "" {
		m["connecttimeout"] = []string{strconv.Itoa(int(s.ConnectTimeout.V.Seconds()))}
	}
	for _, v := range s.IdentityFiles {
		if v.Raw != "" { // ssh prints its defaults too, and they differ between versions
			m["identityfile"] = append(m["identityfile"], v.Raw)
		}
	}
	for _, v := range s.CertificateFiles {
		m["certificatefile"] = append(m["certificatefile"], v.Raw)
	}
	m["userknownhostsfile"] = []string{joined(s.UserKnownHostsFiles)}
	m["globalknownhostsfile"] = []string{joined(s.GlobalKnownHostsFiles)}
	m["updatehostkeys"] = []string{map[string]string{"yes": "true", "no": "false", "ask": "ask"}[s.UpdateHostKeys.V]}
	if raw := s.KnownHostsCommand.Raw; raw != "" && raw != "none" {
		m["knownhostscommand"] = []string{s.KnownHostsCommand.Raw}
	}
	if s.ControlPath.V != "" {
		m["controlpath"] = []string{s.ControlPath.V}
	}
	switch raw := s.IdentityAgent.Raw; {
	case raw == "none", raw == "SSH_AUTH_SOCK", strings.HasPrefix(raw, "$") && !strings.HasPrefix(raw, "${"):
		m["identityagent"] = []string{raw} // expanded where it is used
	case raw != "":
		m["identityagent"] = []string{s.IdentityAgent.V}
	}
	if raw := s.RevokedHostKeys.Raw; raw != "" && raw != "none" {
		m["revokedhostkeys"] = []string{raw}
	}
	if s.HostKeyAlias.V != "" {
		m["hostkeyalias"] = []string{s.HostKeyAlias.V}
	}
	if s.ProxyCommand.V != "" {
		m["proxycommand"] = []string{s.ProxyCommand.V}
	}
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
	if hops != nil {
		m["proxyjump"] = []string{strings.Join(hops, ",")}
	}
	return m
}

func joined(vs []sshconfig.Value[string]) string {
	if len(vs) == 0 {
		return "none"
	}
	return strings.Join(paths(vs), " ")
}

// normal drops from ssh's answer what ours leaves out on purpose.
func normal(m map[string][]string) map[string][]string {
	builtin := func(v string) bool { return strings.HasPrefix(v, "~/.ssh/id_") || v == "none" }
	for _, k := range []string{"identityfile", "certificatefile"} {
		m[k] = slices.DeleteFunc(m[k], builtin)
	}
	if v := m["proxyjump"]; len(v) == 1 && v[0] == "none" {
		delete(m, "proxyjump")
	}
	if v := m["proxycommand"]; len(v) == 1 && strings.EqualFold(v[0], "none") {
		delete(m, "proxycommand")
	}
	if v := m["pubkeyauthentication"]; len(v) == 1 {
		m["pubkeyauthentication"] = []string{map[bool]string{true: "no", false: "yes"}[v[0] == "false" || v[0] == "no"]} // other values are about how a signature is bound
	}
	if v := m["remotecommand"]; len(v) == 1 && strings.EqualFold(v[0], "none") {
		delete(m, "remotecommand")
	}
	if v := m["controlmaster"]; len(v) == 1 && (v[0] == "true" || v[0] == "ask") {
		delete(m, "controlpath") // then ssh makes the socket itself
	}
	var sent []string // ssh repeats them in its second pass
	for _, v := range m["sendenv"] {
		if !slices.Contains(sent, v) {
			sent = append(sent, v)
		}
	}
	m["sendenv"] = sent
	for i, v := range m["rekeylimit"] {
		m["rekeylimit"][i], _, _ = strings.Cut(v, " ") // the time is skipped
	}
	return m
}

var compared = []string{"hostname", "port", "user", "identityfile", "certificatefile", "proxyjump", "proxycommand",
	"userknownhostsfile", "globalknownhostsfile", "identitiesonly", "stricthostkeychecking", "connecttimeout",
	"serveraliveinterval", "serveralivecountmax", "hostkeyalias", "hashknownhosts", "checkhostip", "addressfamily", "bindaddress", "bindinterface",
	"connectionattempts", "pubkeyauthentication", "preferredauthentications", "requiredrsasize", "rekeylimit", "setenv", "sendenv", "passwordauthentication", "kbdinteractiveauthentication", "numberofpasswordprompts",
	"updatehostkeys", "knownhostscommand", "controlpath", "identityagent", "revokedhostkeys",
	"batchmode", "requesttty", "remotecommand", "ciphers", "macs", "kexalgorithms", "hostkeyalgorithms", "pubkeyacceptedalgorithms", "casignaturealgorithms"}

var hashed = regexp.MustCompile(`[0-9a-f]{40}`)

func compare(t *testing.T, ssh, file, host string, lines ...string) (failed bool) {
	t.Helper()
	want, wantErr := sshG(t, ssh, file, host, lines...)
	cfg, err := sshconfig.Open(file)
	var got sshconfig.Settings
	if err == nil {
		got, err = cfg.Resolve(host, sshconfig.Options{Lines: lines, Programs: true})
	}
	text, _ := os.ReadFile(file)
	if (err != nil) != (wantErr != nil) {
		t.Fatalf("for %q %s:\n%s\nssh says: %v\nwe say: %v", lines, host, text, wantErr, err)
	}
	if err != nil {
		return true
	}
	want, ours := normal(want), asSSH(got)
	for _, k := range []string{"ciphers", "macs", "kexalgorithms", "hostkeyalgorithms", "pubkeyacceptedalgorithms", "casignaturealgorithms"} {
		if ours[k] == nil {
			delete(want, k) // ssh prints its defaults, which are others
		}
	}
	if got.BatchMode.V && ours["serveraliveinterval"][0] == "0" {
		delete(want, "serveraliveinterval") // Debian's has a default of its own then
		delete(ours, "serveraliveinterval")
	}
	if got.RemoteCommand.V != "" && got.UpdateHostKeys.V == "ask" {
		delete(want, "updatehostkeys") // ssh does not ask where a command is given: its terminal is in use then
		delete(ours, "updatehostkeys")
	}
	if len(got.ProxyJump.V) > 0 {
		for _, k := range []string{"controlpath", "identityagent", "userknownhostsfile"} {
			if hashed.MatchString(strings.Join(want[k], " ")) {
				delete(want, k) // %C has the jump host from 9.6 on
				delete(ours, k)
			}
		}
	}
	for _, k := range compared {
		if strings.Join(want[k], "\n") != strings.Join(ours[k], "\n") {
			t.Fatalf("for %q %s, %s:\n%s\nssh says %q\nwe say %q", lines, host, k, text, want[k], ours[k])
		}
	}
	return false
}

var (
	long = flag.Bool("long", false, "compare 2000 generated configurations with ssh -G")
	seed = flag.Uint64("seed", 7, "generate other configurations")
)

// The strongest claim this package makes: for generated configurations the real ssh gives the same answers.
func TestGeneratedConfigurationsResolveAsWithTheRealSSH(t *testing.T) {
	ssh := lookSSH(t)
	n := 120
	switch {
	case *long:
		n = 2000
	case testing.Short():
		n = 60
	}
	me, err := user.Current()
	require.NoError(t, err)
	dir := t.TempDir()
	refused := 0
	for i := range n {
		g := &generator{Rand: rand.New(rand.NewPCG(uint64(i), *seed)), dir: dir, me: me.Username}
		file := filepath.Join(dir, fmt.Sprintf("config%d", i))
		require.NoError(t, os.WriteFile(file, []byte(g.file(3)), 0o600))
		if compare(t, ssh, file, g.pick(names), g.options()...) {
			refused++
		}
	}
	t.Logf("%d configurations agree, %d of them refused by both", n, refused)
	if refused > n/2 {
		t.Errorf("%d of %d configurations were refused: the generator proves too little", refused, n)
	}
}

// Hand-picked lines, each on its own and each in a block, compared with the real ssh: also what both refuse.
func TestSingleLinesResolveAsWithTheRealSSH(t *testing.T) {
	ssh := lookSSH(t)
	dir := t.TempDir()
	for i, text := range singleLines {
		file := filepath.Join(dir, fmt.Sprintf("config%d", i))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		compare(t, ssh, file, "foo")
	}
}

// The file the machine's own distribution ships must load.
func TestTheSystemFileOfThisMachineLoads(t *testing.T) {
	cfg, err := sshconfig.Load(sshconfig.None, "/etc/ssh/ssh_config")
	require.NoError(t, err)
	_, err = cfg.Resolve("foo", sshconfig.Options{})
	require.NoError(t, err)
}
