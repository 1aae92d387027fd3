package judge

import (
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

// secretTable knows the paths whose content is secret.
var secretTable = secretsOf()

func secretsOf() *pathTable {
	var t pathTable
	add := func(why, except, paths string) { t.add(policy.SensitiveRead, "secrets/path", why, except, paths) }
	add("it holds password hashes", "", `
		/etc/shadow /etc/gshadow /etc/shadow* /etc/gshadow* /etc/master.passwd /etc/security/opasswd /etc/sudoers /etc/sudoers.d/** /var/backups/*shadow*
		**/.htpasswd* /etc/libuser.conf /etc/ppp/*secrets /etc/opasswd`)
	add("it holds private keys", "*.pub known_hosts* authorized_keys* config allowed_signers *.crt *.cer", `
		**/.ssh/** /etc/ssh/ssh_host_*_key **/id_rsa* **/id_dsa* **/id_ecdsa* **/id_ed25519* **/*.key **/*.keytab **/*.p12 **/*.pfx **/*.jks
		**/*.keystore **/*.kdbx **/*.ppk **/privkey*.pem **/*key.pem **/*-key.pem **/*private*.pem **/private.pem
		/etc/ssl/private/** /etc/pki/tls/private/** /etc/letsencrypt/accounts/** /etc/letsencrypt/keys/** /etc/krb5.keytab
		**/.gnupg/** **/*.gpg.key **/secring.gpg /etc/wireguard/** /etc/ipsec.secrets /etc/ipsec.d/private/** /etc/swanctl/private/**
		/etc/swanctl/rsa/** **/.age/** **/*.agekey /etc/kubernetes/pki/**.key /var/lib/sss/secrets/** /etc/machine-secret`)
	add("it holds credentials", "*.example *.sample *.template *.dist", `
		**/.env **/.env.* **/*.env **/.envrc **/credentials **/credentials.* **/.credentials* **/.aws/** **/.azure/** **/.config/gcloud/**
		**/.config/gh/hosts.yml **/.config/hub **/.kube/** **/kubeconfig* /etc/kubernetes/*.conf /etc/rancher/** **/.docker/config.json
		**/.netrc **/_netrc **/.authinfo* **/.pgpass **/.my.cnf **/.mylogin.cnf **/.git-credentials **/.npmrc **/.yarnrc.yml **/.pypirc
		**/.gem/credentials **/.cargo/credentials* **/.composer/auth.json **/.m2/settings.xml **/.terraform.d/** **/*.tfstate*
		**/*.tfvars **/.vault-token **/.vault_pass* **/.s3cfg **/.boto **/rclone.conf **/.rclone.conf **/.smbcredentials **/.cifs*
		**/wp-config.php **/secrets.y*ml **/secret.y*ml **/secrets.json **/secrets.toml **/secrets.env **/.secrets **/.secret **/.password*
		**/.passwd **/*.password **/password.txt **/passwords* **/service-account*.json **/serviceaccount*/** **/master.key
		**/.msmtprc **/.fetchmailrc **/.esmtprc **/.config/fairlead/** /etc/fairlead/** /etc/mysql/debian.cnf /etc/postfix/sasl_passwd*
		/etc/exim4/passwd.client /run/secrets/** /var/run/secrets/** /run/credentials/** /etc/credstore*/** /var/lib/kubelet/**
		/var/lib/etcd/** /var/lib/rancher/** /var/lib/docker/** /etc/NetworkManager/system-connections/** /etc/wpa_supplicant/**
		/etc/netplan/** /etc/openvpn/** /etc/openvpn/auth* /etc/bind/rndc.key /etc/rndc.key /etc/grafana/grafana.ini
		/etc/gitlab/gitlab-secrets.json /etc/gitlab/gitlab.rb /etc/default/*secret* /etc/ansible/vault* /etc/sssd/sssd.conf
		/etc/ldap.secret /etc/pam_ldap.secret /etc/samba/smbpasswd /var/lib/samba/private/** /etc/chrony.keys /etc/ntp.keys
		/etc/snmp/snmpd.conf /var/lib/cloud/** /run/cloud-init/** /var/lib/waagent/** /etc/cni/net.d/**kubeconfig /etc/vault*/**
		/etc/consul*/** /etc/nomad*/** **/.config/op/** **/.password-store/** **/.local/share/keyrings/** **/Cookies **/logins.json
		**/key[0-9].db`)
	add("it is Fairlead's own state", "", `
		**/fairlead/audit/** **/fairlead/store.db* **/fairlead/store.key **/fairlead/recordings/** **/fairlead/run/** **/fairlead/approvals/**`)
	add("it holds what people typed before", "", `
		**/.*_history* **/.history **/.zhistory **/.sh_history **/.histfile **/.lesshst **/.viminfo **/fish_history **/.local/share/fish/**
		**/.python_history **/.node_repl_history **/.wget-hsts **/.bash_sessions/** **/.zsh_sessions/** /var/account/**`)
	add("it shows a process's environment or memory", "", `
		/proc/*/environ /proc/*/task/*/environ /proc/*/mem /proc/*/task/*/mem /proc/*/fd/** /proc/*/cwd/** /proc/*/map_files/**
		/dev/fd/3* /dev/fd/4* /dev/fd/5* /dev/fd/6* /dev/fd/7* /dev/fd/8* /dev/fd/9* /dev/fd/1?* /dev/fd/2?*
		/proc/kcore /proc/keys /dev/mem /dev/kmem /proc/*/auxv /var/lib/systemd/coredump/** /var/crash/** **/core.[0-9]*`)
	add("it is a raw disk", "", `
		/dev/sd* /dev/hd* /dev/vd* /dev/xvd* /dev/nvme*n* /dev/mmcblk* /dev/md[0-9]* /dev/dm-* /dev/mapper/** /dev/disk/** /dev/loop[0-9]*`)
	return &t
}

// holdsSecrets reports whether a path, which may be a pattern, is or may reach a file whose content is secret. Symbolic
// links are the host's affair: this is about the text alone.
func holdsSecrets(p, dir string, pattern bool) (why string, ok bool) {
	e := secretTable.find(segments(throughProc(resolve(p, dir))), pattern)
	if e == nil {
		return "", false
	}
	return e.why, true
}

// throughProc takes away what leads to the same file by another way.
func throughProc(p string) string {
	for range maxDepth {
		rest, ok := strings.CutPrefix(p, "/proc/")
		if !ok {
			break
		}
		_, rest, _ = strings.Cut(rest, "/")
		if t, ok := strings.CutPrefix(rest, "task/"); ok {
			_, rest, _ = strings.Cut(t, "/")
		}
		if rest, ok = strings.CutPrefix(rest, "root/"); !ok {
			break
		}
		p = "/" + rest
	}
	if rest, ok := strings.CutPrefix(p, "/private/etc/"); ok {
		return "/etc/" + rest
	}
	return p
}

// secretsBelow reports whether a directory holds files whose place is known and whose content is secret.
func secretsBelow(p, dir string) (why string, ok bool) {
	if why, ok := holdsSecrets(strings.TrimSuffix(p, "/")+"/*", dir, true); ok {
		return why, true
	}
	segs := segments(throughProc(resolve(p, dir)))
	if len(segs) == 0 {
		return "", false
	}
	if segs[0] == "~" && len(segs) == 1 {
		return "everybody's secrets lie below", true
	}
	if segs[0] != "" {
		return "", false
	}
	if len(segs) == 1 || len(segs) <= 3 && (segs[1] == "home" || segs[1] == "root" || segs[1] == "Users") {
		return "everybody's secrets lie below", true
	}
	for i := range secretTable.all {
		s := &secretTable.all[i]
		if s.anchored && len(s.segs) > len(segs) && reaches(segs, s.segs[:len(segs)], true) {
			return "below it is a file of which: " + s.why, true
		}
	}
	return "", false
}

// namesSecret knows names of variables that usually hold secrets.
func namesSecret(name string) bool {
	if len(name) < 5 {
		return false
	}
	upper := strings.ToUpper(name)
	for _, s := range [...]string{"SECRET", "TOKEN", "PASSW", "PASSPHRASE", "CREDENTIAL", "APIKEY", "API_KEY", "ACCESS_KEY", "PRIVATE_KEY", "_PASS", "_PWD", "AUTH_KEY", "DATABASE_URL", "_DSN"} {
		if strings.Contains(upper, s) {
			return true
		}
	}
	return strings.HasSuffix(upper, "_KEY") || upper == "PGPASS" || upper == "MYSQL_PWD"
}
