package sshconfig_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// outcomes has a value for every directive of ssh that is not its default, and what becomes of a host for which it stands there:
// "obeyed", "refused" or "skipped". "obeyed" with nothing behind it is in Settings, which the generated tests compare.
var outcomes = map[string][2]string{
	"AddKeysToAgent yes": {"skipped"}, "AddressFamily inet": {"obeyed"}, "BatchMode yes": {"obeyed"}, "BindAddress 127.0.0.1": {"obeyed"},
	"BindInterface lo": {"obeyed"}, "CASignatureAlgorithms ssh-ed25519": {"obeyed"}, "CanonicalDomains a.b": {"obeyed"},
	"CanonicalizeFallbackLocal no": {"obeyed"}, "CanonicalizeHostname yes": {"obeyed"}, "CanonicalizeMaxDots 2": {"obeyed"},
	"CanonicalizePermittedCNAMEs *.a:*.b": {"obeyed"}, "CertificateFile /c": {"obeyed"}, "ChallengeResponseAuthentication no": {"obeyed"},
	"CheckHostIP yes": {"obeyed"}, "Ciphers aes128-ctr": {"obeyed"}, "ClearAllForwardings yes": {"skipped"}, "Compression yes": {"skipped"},
	"ConnectTimeout 5": {"obeyed"}, "ConnectionAttempts 2": {"obeyed"}, "ControlMaster auto": {"skipped"}, "ControlPath /x": {"obeyed"},
	"ControlPersist yes": {"skipped"}, "DynamicForward 1080": {"skipped"}, "EnableEscapeCommandline yes": {"skipped"},
	"EnableSSHKeysign yes": {"skipped"}, "EscapeChar none": {"skipped"}, "ExitOnForwardFailure yes": {"skipped"},
	"FingerprintHash md5": {"skipped"}, "ForkAfterAuthentication yes": {"skipped"}, "ForwardAgent yes": {"skipped"},
	"ForwardX11 yes": {"skipped"}, "ForwardX11Timeout 5": {"skipped"}, "ForwardX11Trusted yes": {"skipped"},
	"GSSAPIAuthentication yes": {"skipped"}, "GSSAPIClientIdentity x": {"skipped"}, "GSSAPIDelegateCredentials yes": {"skipped"},
	"GSSAPIKexAlgorithms gss-group14-sha256-": {"skipped"}, "GSSAPIKeyExchange yes": {"refused"},
	"GSSAPIRenewalForcesRekey yes": {"skipped"}, "GSSAPIServerIdentity x": {"skipped"}, "GSSAPITrustDns yes": {"skipped"},
	"GatewayPorts yes": {"skipped"}, "GlobalKnownHostsFile /g": {"obeyed"}, "HashKnownHosts yes": {"obeyed"},
	"HostKeyAlgorithms ssh-ed25519": {"obeyed"}, "HostKeyAlias x": {"obeyed"}, "HostName other": {"obeyed"},
	"HostbasedAcceptedAlgorithms ssh-ed25519": {"skipped"}, "HostbasedAuthentication yes": {"refused"}, "HostbasedKeyTypes ssh-ed25519": {"skipped"},
	"IPQoS af21": {"skipped"}, "IdentitiesOnly yes": {"obeyed"}, "IdentityAgent none": {"obeyed"}, "IdentityFile /k": {"obeyed"},
	"IgnoreUnknown x": {"obeyed"}, "Include /none/at/all": {"obeyed"}, "KbdInteractiveAuthentication no": {"obeyed"},
	"KbdInteractiveDevices pam": {"skipped"}, "KexAlgorithms curve25519-sha256": {"obeyed"}, "KnownHostsCommand /bin/true": {"obeyed"},
	"LocalCommand true": {"skipped"}, "LocalForward 1 a:2": {"skipped"}, "LogLevel DEBUG": {"skipped"}, "LogVerbose x.c:*:*": {"skipped"},
	"MACs hmac-sha2-256": {"obeyed"}, "NoHostAuthenticationForLocalhost yes": {"skipped"}, "NumberOfPasswordPrompts 1": {"obeyed"},
	"PKCS11Provider /p": {"refused"}, "PasswordAuthentication no": {"obeyed"}, "PermitLocalCommand yes": {"skipped"},
	"PermitRemoteOpen a:1": {"skipped"}, "Port 23": {"obeyed"}, "PreferredAuthentications publickey": {"obeyed"},
	"ProtocolKeepAlives 5": {"obeyed"}, "ProxyCommand nc %h %p": {"obeyed"}, "ProxyJump j": {"obeyed"}, "ProxyUseFdpass yes": {"refused"},
	"PubkeyAcceptedAlgorithms ssh-ed25519": {"obeyed"}, "PubkeyAcceptedKeyTypes ssh-ed25519": {"obeyed"}, "PubkeyAuthentication no": {"obeyed"},
	"RekeyLimit 1G": {"obeyed"}, "RemoteCommand ls": {"refused"}, "RemoteForward 1 a:2": {"skipped"}, "RequestTTY force": {"skipped"},
	"RequiredRSASize 2048": {"obeyed"}, "RevokedHostKeys /r": {"obeyed"}, "SecurityKeyProvider /s": {"refused"}, "SendEnv A": {"obeyed"},
	"ServerAliveCountMax 2": {"obeyed"}, "ServerAliveInterval 5": {"obeyed"}, "SessionType none": {"skipped"}, "SetEnv A=1": {"obeyed"},
	"SetupTimeOut 5": {"obeyed"}, "SmartcardDevice /p": {"refused"}, "StdinNull yes": {"skipped"}, "StreamLocalBindMask 0077": {"skipped"},
	"StreamLocalBindUnlink yes": {"skipped"}, "StrictHostKeyChecking yes": {"obeyed"}, "SyslogFacility LOCAL0": {"skipped"},
	"TCPKeepAlive no": {"skipped"}, "KeepAlive no": {"skipped"}, "Tunnel yes": {"skipped"}, "TunnelDevice 1:1": {"skipped"},
	"UpdateHostKeys yes": {"obeyed"}, "User bob": {"obeyed"}, "UserKnownHostsFile /u": {"obeyed"}, "VerifyHostKeyDNS yes": {"skipped"},
	"VisualHostKey yes": {"skipped"}, "XAuthLocation /x": {"skipped"}, "SkeyAuthentication no": {"obeyed"}, "TISAuthentication no": {"obeyed"},
	"IdentityFile2 /k": {"obeyed"},
	// Of newer versions, or of other systems.
	"ChannelTimeout session=5m": {"skipped", "newer"}, "ObscureKeystrokeTiming no": {"skipped", "newer"}, "RefuseConnection no": {"refused", "newer"},
	"Tag t": {"obeyed", "newer"}, "UseKeychain yes": {"skipped", "newer"}, "VersionAddendum x": {"skipped", "newer"},
	"WarnWeakCrypto no": {"skipped", "newer"},
	// Without effect in ssh, too.
	"Protocol 1": {"skipped"}, "Cipher 3des": {"skipped"}, "CompressionLevel 3": {"skipped"}, "FallBackToRsh yes": {"skipped"}, "UseRsh yes": {"skipped"},
	"UseRoaming yes": {"skipped"}, "UsePrivilegedPort yes": {"skipped"}, "RhostsAuthentication yes": {"skipped"},
	"RhostsRSAAuthentication yes": {"skipped"}, "RSAAuthentication yes": {"skipped"}, "AFSTokenPassing yes": {"skipped"},
	"KerberosAuthentication yes": {"skipped"}, "KerberosTGTPassing yes": {"skipped"}, "DSAAuthentication no": {"obeyed"},
	"GlobalKnownHostsFile2 /g": {"skipped"}, "UserKnownHostsFile2 /u": {"skipped"},
}

func TestEveryDirectiveIsObeyedRefusedOrListed(t *testing.T) {
	ssh := lookSSH(t)
	left := slices.DeleteFunc(sshconfig.Keywords(), func(k string) bool { return k == "host" || k == "match" })
	all := newHome(t) // ssh reads in one file what it takes, and one by one only where it does not take them all
	text := "Host web\n"
	for line, want := range outcomes {
		if want[1] == "" {
			text += line + "\n"
		}
	}
	_, err := sshG(t, ssh, all.writeRaw("home/.ssh/config", text), "web")
	takesAll := err == nil
	for line, want := range outcomes {
		keyword, _, _ := strings.Cut(line, " ")
		t.Run(keyword, func(t *testing.T) {
			h := newHome(t)
			s, err := h.resolve("Host web\n"+line+"\n", "web")
			var skipped []string
			for _, d := range s.Skipped {
				skipped = append(skipped, d.Keyword)
			}
			switch want[0] {
			case "obeyed":
				require.NoError(t, err)
				assert.Empty(t, skipped)
			case "skipped":
				require.NoError(t, err)
				assert.Equal(t, []string{keyword}, skipped)
			case "refused":
				require.ErrorContains(t, err, "config:2: "+line+": ")
			}
			_, err = h.resolve("Host db\n"+line+"\n", "web")
			assert.NoError(t, err, "it is for another host")
			if want[1] == "" && !takesAll {
				_, err := sshG(t, ssh, filepath.Join(h.dir, "home/.ssh/config"), "web")
				assert.NoError(t, err, "ssh takes it too")
			}
		})
		i := slices.Index(left, strings.ToLower(keyword))
		require.GreaterOrEqual(t, i, 0, "%s is in this test only", keyword)
		left = slices.Delete(left, i, i+1)
	}
	assert.Empty(t, left, "give these a row")
}

// Keywords says what apply.go reads.
func TestKeywordsAreThoseThatAreRead(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "apply.go", nil, 0)
	require.NoError(t, err)
	read := []string{"host", "include", "match"}
	ast.Inspect(f, func(n ast.Node) bool {
		if fn, ok := n.(*ast.FuncDecl); ok && fn.Name.Name != "directive" {
			return false
		}
		if c, ok := n.(*ast.CaseClause); ok {
			for _, e := range c.List {
				word, err := strconv.Unquote(e.(*ast.BasicLit).Value)
				require.NoError(t, err)
				read = append(read, word)
			}
		}
		return true
	})
	for _, k := range read {
		assert.Contains(t, sshconfig.Keywords(), k)
	}
	text, err := os.ReadFile("keywords.go")
	require.NoError(t, err)
	_, list, _ := strings.Cut(string(text), "var obeyed = ")
	list, _, _ = strings.Cut(list, "}")
	for _, m := range regexp.MustCompile(`"(\w+)"`).FindAllStringSubmatch(list, -1) {
		assert.Contains(t, read, m[1])
	}
}

// The manual of this machine's ssh names no directive that is not known.
func TestEveryDirectiveOfTheManualIsKnown(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "sh", "-c", "man ssh_config | col -b").Output()
	names := regexp.MustCompile(`(?m)^     ([A-Z][A-Za-z0-9]+)(?:$| {2,})`).FindAllStringSubmatch(string(out), -1)
	if err != nil || len(names) < 50 {
		t.Skip("the manual of ssh_config is not installed")
	}
	for _, m := range names {
		assert.Contains(t, sshconfig.Keywords(), strings.ToLower(m[1]))
	}
}
