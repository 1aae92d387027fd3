package sandbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/framing/hostcode"
)

// Secrets are what no program in a kernel's sandbox may see: paths on a host, absolute and without symbolic links.
type Secrets struct {
	Dirs  []string
	Files []string // sockets too
}

// AccountSecrets are the keys and credentials of an account that sandboxes hide: names below its home directory, and
// patterns of system files that only the superuser can read. What else programs keep in other places is not known here.
var AccountSecrets = struct{ Home, System []string }{
	Home: []string{
		".ssh", ".gnupg", ".age", ".pki", // keys
		".aws", ".azure", ".config/gcloud", ".oci", ".aliyun", ".config/doctl", ".config/hcloud", ".fly", ".s3cfg", ".boto", ".config/rclone", // clouds
		".kube", ".docker", ".config/containers", ".config/helm", ".terraform.d", ".terraformrc", ".config/op", ".vault-token", // clusters and vaults
		".netrc", ".authinfo", ".authinfo.gpg", ".git-credentials", ".config/git/credentials", ".config/gh", ".config/glab-cli", ".config/hub", // code
		".npmrc", ".yarnrc.yml", ".pypirc", ".gem/credentials", ".cargo/credentials", ".cargo/credentials.toml", ".composer/auth.json", ".m2/settings.xml",
		".pgpass", ".my.cnf", ".mylogin.cnf", ".smbcredentials", ".password-store", ".local/share/keyrings", ".local/share/kwalletd",
		".config/fairlead", ".local/state/fairlead", // a keeper of the account's own
	},
	System: []string{"/etc/shadow", "/etc/gshadow", "/etc/ssh/ssh_host_*_key", "/etc/krb5.keytab", "/etc/fairlead"},
}

// FindSecrets asks a host which of [AccountSecrets], and of further absolute paths, the account can reach there. It changes
// nothing. An error means that nothing is known.
func FindSecrets(ctx context.Context, run Runner, host string, further []string) (Secrets, error) {
	var b strings.Builder
	b.WriteString("(" + resolveText() + "\n" + hostcode.Fill(findSecretsText(), "names", strings.Join(AccountSecrets.Home, " ")) + "\n")
	for _, p := range AccountSecrets.System {
		if strings.Contains(p, "*") {
			b.WriteString("setopt nullglob 2>/dev/null\n") // zsh would end here
		}
		b.WriteString(secretName + " " + p + "\n")
	}
	for _, p := range further {
		word, err := framing.Quote(p)
		if err != nil || !strings.HasPrefix(p, "/") {
			return Secrets{}, fmt.Errorf("sandbox: a path to hide on %s cannot be passed", host)
		}
		b.WriteString(secretName + " " + word + "\n")
	}
	b.WriteString("printf E)")
	said, err := run(ctx, host, b.String())
	if err != nil {
		return Secrets{}, fmt.Errorf("sandbox: %s was asked where keys are and did not say: %w", host, err)
	}
	list := strings.Split(said, "\x00")
	if list[len(list)-1] != "E" {
		return Secrets{}, fmt.Errorf("sandbox: %s was asked where keys are and gave an answer that makes no sense; is its shell a POSIX shell?", host)
	}
	var out Secrets
	for _, p := range list[:len(list)-1] {
		switch {
		case strings.HasPrefix(p, "d/"):
			out.Dirs = append(out.Dirs, strings.TrimSuffix(p[1:], "/"))
		case strings.HasPrefix(p, "f/"):
			out.Files = append(out.Files, strings.TrimSuffix(p[1:], "/"))
		default:
			return Secrets{}, fmt.Errorf("sandbox: %s was asked where keys are and gave an answer that makes no sense; is its shell a POSIX shell?", host)
		}
	}
	return out.sorted(), nil
}

// sorted takes out what is there twice, and what lies in a directory that is there itself.
func (s Secrets) sorted() Secrets {
	slices.Sort(s.Dirs)
	slices.Sort(s.Files)
	s.Dirs, s.Files = slices.Compact(s.Dirs), slices.Compact(s.Files)
	inDir := func(p string) bool { return belowAny(p, s.Dirs) }
	files := slices.DeleteFunc(slices.Clone(s.Files), inDir)
	s.Dirs = slices.DeleteFunc(slices.Clone(s.Dirs), inDir)
	s.Files = files
	return s
}

// in reports one of them that is a directory, or lies in it.
func (s Secrets) in(dir string) (string, bool) {
	for _, p := range slices.Concat(s.Dirs, s.Files) {
		if within(p, dir) {
			return p, true
		}
	}
	return "", false
}

// unwrappable reports one of them that cannot be passed to a login shell as it is.
func (s Secrets) unwrappable() (string, bool) {
	for _, p := range slices.Concat(s.Dirs, s.Files) {
		if !wrappable(p) {
			return p, true
		}
	}
	return "", false
}
