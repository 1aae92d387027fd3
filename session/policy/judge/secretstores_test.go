package judge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// Files of nothing but a secret have no name before it by which redaction would know it, so that their own names must do.
func TestFilesOfNothingButASecretAreHeldBack(t *testing.T) {
	for _, p := range strings.Fields(`~/.consul-token ~/.do_token /run/app/token ./bot.token ~/.planetscale/access-token /root/.restic-password /root/.borg-passphrase ~/.passphrase
		/etc/tower/SECRET_KEY ~/.smb/creds /var/jenkins_home/secrets/initialAdminPassword /etc/gitlab/initial_root_password /etc/mongo-keyfile /root/keyfile.bin
		~/vpn/auth.txt .env-prod .env_prod env.production config/env.prod .dev.vars vault-init.json unseal_keys.txt /etc/keystone/fernet-keys/0 ~/keystonerc_admin
		~/admin-openrc.sh ~/.config/openstack/clouds.yaml /etc/kubernetes/tokens.csv /etc/kubernetes/basic_auth.csv /etc/kubernetes/encryption-config.yaml
		/backup/etcd-snapshot.db prod.auto.tfvars.json plan.tfplan tfplan group_vars/all/vault /opt/activemq/conf/jetty-realm.properties /etc/monit/monitrc
		/etc/tacacs+/tac_plus.conf /var/ossec/etc/client.keys /opt/ejson/keys/x ~/.bitcoin/.cookie payment.skey /srv/pillar/secrets.sls ~/.civo.json
		/var/lib/libvirt/secrets/x.base64 /etc/luks-keys/root /var/lib/ubuntu-advantage/private/machine-token.json ~/anaconda-ks.cfg /etc/bind/Kexample.+013+1.private
		~/.homeassistant/.storage/auth`) {
		for _, program := range []string{"cat ", "grep -h '' ", "tail -c +1 <", "find "} {
			script := program + p
			if program == "find " {
				script += " -exec head {} +"
			}
			r := judge.Judge(judge.Request{Script: script, Shell: "bash"})
			assert.Equal(t, policy.SensitiveRead, r.Class, "%s: %s: %s", script, r.Rule, r.Reason)
		}
	}
	for _, p := range strings.Fields(`data.csv cert.pem token.go src/token/token.go tokens.md refresh_token.py creds.go keyfile.go .env.example .env-example env.example
		main.tf tfplan.md vault-init.sh group_vars/all/main.yml src/etcd.go /etc/monit/conf.d/nginx realm.go docs/reset-password.md private.md app/password_reset.rb
		/var/log/syslog /etc/kubernetes/manifests/kube-apiserver.yaml storage/auth.go`) {
		r := judge.Judge(judge.Request{Script: "cat " + p, Shell: "bash"})
		assert.Equal(t, policy.ReadOnly, r.Class, "%s: %s: %s", p, r.Rule, r.Reason)
	}
}

// Of an archive, -p and -c show the members that are named.
func TestMembersOfArchivesAreNamesOfFiles(t *testing.T) {
	verdicts(t, "bash", `
		sensitive-read | unzip -p b.zip .env
		sensitive-read | unzip -p b.zip home/kim/.ssh/id_rsa
		sensitive-read | unzip -c b.zip '*.key'
		read-only | unzip -p b.zip README.md
		read-only | unzip -l b.zip '*.go'
		read-only | unzip -p b.zip META-INF/MANIFEST.MF
	`)
}

// A pattern within a directory that is known by its name, as those of programs in a home, reaches what lies there.
func TestPatternsInHiddenDirectoriesReachWhatIsThere(t *testing.T) {
	verdicts(t, "bash", `
		sensitive-read | cat ~/.docker/*
		sensitive-read | cat ~/.docker/*.json
		sensitive-read | jq . ~/.docker/*.json
		sensitive-read | head /home/*/.docker/c*
		sensitive-read | cat ~/.config/gh/*.yml
		sensitive-read | cat ~/.config/*/*.yml
		sensitive-read | cat ~/.config/*
		sensitive-read | cat ~/.cargo/*.toml
		sensitive-read | cat ~/.m2/*.xml
		sensitive-read | grep -h x ~/.gem/*
		sensitive-read | cat ~/.codex/*.json
		sensitive-read | cat .composer/*
		read-only | cat ~/.config/nvim/*
		read-only | cat ~/.config/htop/*
		read-only | cat ~/.docker/*.md
		read-only | ls -l ~/.docker/*
		read-only | cat .github/workflows/*.yml
		read-only | cat ~/.local/bin/*.sh
		read-only | cat .vscode/*.md
		read-only | cat ./*/x.txt
		read-only | jq .name *.json
		read-only | jq -s length logs/*.json
		unknown | jq . *
		unknown | jq . "$x"/*
	`)
}

// What lies in a directory of secrets, and what a database stores, is held back; sources, and what only lists, are not.
func TestDirectoriesOfSecretsAndOfDatabases(t *testing.T) {
	verdicts(t, "bash", `
		sensitive-read | cat secrets/db.txt
		sensitive-read | head ./config/secrets/api
		sensitive-read | cat secrets/*
		sensitive-read | strings /var/lib/postgresql/15/main/global/1260
		sensitive-read | strings /var/lib/mysql/ibdata1
		sensitive-read | tail -c 100 /var/lib/redis/dump.rdb
		sensitive-read | git config --blob=HEAD:.pypirc -l
		sensitive-read | git config --blob HEAD:.aws/credentials --list
		unknown | git config --blob="$x" -l
		read-only | git config --blob=HEAD:.gitmodules -l
		read-only | cat internal/secrets/manager.go
		read-only | cat modules/secrets/main.tf
		read-only | ls -l secrets
		read-only | cat /var/lib/postgresql/15/main/PG_VERSION
		read-only | du -sh /var/lib/postgresql/15/main/base/*
		read-only | cat /var/lib/mysql/mysql.err
	`)
}
