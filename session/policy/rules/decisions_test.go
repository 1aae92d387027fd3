package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// An allow must surely stand for all of a command. Everything else stays as the table has it.
func TestWhatAnAllowStandsFor(t *testing.T) {
	files := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, " /srv/%d", i)
		}
		return b.String()
	}
	for conditions, commands := range map[string]map[bool][]string{
		"programs: ['deploy *']": {
			true: {
				"deploy", "deploy now", "! deploy a", "deploy a | deploy b", "deploy a |& deploy b", "deploy a && deploy b || deploy c; deploy d", "deploy a | deploy b | deploy c && deploy d",
				"deploy a >/dev/null", "deploy a >>/dev/null", "deploy a </dev/null", "deploy a 2>&1", "deploy a >&2", "deploy a 2>/dev/null", "deploy a 0</dev/null", "deploy a 1>/dev/null", "deploy a 0<&1", "deploy a 1>&0", "</dev/null deploy a", "deploy a </dev/null b",
				"/bin/deploy a", "/usr/bin/deploy a", "/sbin/deploy a", "/usr/sbin/deploy a", "/usr/local/bin/deploy a", "/usr/local/sbin/deploy a", "deploy größe",
			},
			false: {
				"deploy a &", "deploy a & deploy b", "(deploy a)", "deploy a | (deploy b)", "(deploy a) | deploy b", "deploy a | other b", "other a | deploy b", "(deploy a | deploy b) 2>/dev/null", "! deploy a | deploy b", "! (deploy a && deploy b)", "{ deploy a && deploy b; } &", "deploy a && deploy b &", "deploy a | deploy b &",
				"deploy a >x", "deploy a >x 2>/dev/null", "deploy a 2>/dev/null >x", "deploy a >$x/dev/null", "deploy a >&$x", "deploy a >>x", "deploy a <x", "deploy a <>/dev/null", "deploy a >|/dev/null", "deploy a 3>/dev/null", "deploy a 3>&1", "deploy a >&3", "deploy a 2>&-", "deploy a >$x", "deploy a &>/dev/null", "deploy a <<E\nE", "deploy a <<<x", "deploy a {x}>/dev/null", "deploy a 10>&1", "deploy a >&x", "deploy a </dev/zero",
				"A=b deploy a", "A=b", "deploy $x", "$x", "/opt/deploy a", "/usr/deploy a", "./deploy a", "/usr/bin/../bin/deploy a", "/usr/bin/x/deploy a", "coproc deploy a", "time deploy a", "if deploy a; then deploy b; fi", "deploy a #\\\ndeploy b", "deployer a",
				"deploy $\\\n(x)", "deploy `\\\nx`", "deploy(){ x; }; deploy a", "deploy \\", "deploy '", "deploy a |",
			},
		},
		"programs: ['deploy now']": {
			true:  {"deploy now", "deploy 'now'", `deploy "now"`, `deploy n\ow`},
			false: {"deploy", "deploy now b", "deploy later", "deploy /bin/now", "deploy now; deploy", "deploy now now"},
		},
		"classes: [write], paths: ['/srv/**']": {
			true: {
				"touch /srv/x", "mkdir /srv/x", "rmdir /srv/x", "unlink /srv/x", "mv /srv/a /srv/b", "tee /srv/x", "truncate -s 0 /srv/x", "chmod 644 /srv/x", "chown a /srv/x", "chgrp a /srv/x",
				"mkfifo /srv/x", "sort -o /srv/x /srv/y", "sed -i s/a/b/ /srv/x", "gzip /srv/x", "gunzip /srv/x.gz", "bzip2 /srv/x", "bunzip2 /srv/x.bz2", "xz /srv/x", "unxz /srv/x.xz", "zstd /srv/x",
				"cp /a /srv/x", "cp -f /a /srv/x", "cp -fvnpui /a /srv/x", "echo a >/srv/x", "ls >>/srv/x", "echo a >/srv/x 2>/dev/null", "/bin/touch /srv/x", "sort y >/srv/x", ">/srv/x sort y", ">/srv/x sort y 2>/dev/null", "touch /srv/x | touch /srv/y", "touch" + files(200), "touch" + files(255),
			},
			false: {
				"touch /etc/x", "touch /srv/x /etc/x", "touch x", "touch ~/x", "touch $x", "touch /srv", "cp -a /a /srv/x", "cp -r /a /srv/x", "cp -fd /a /srv/x", "cp $x /srv/x", "cp --preserve=links /a /srv/x", "cp -- /a /srv/x",
				"/opt/touch /srv/x", "./touch /srv/x", "dd of=/srv/x", "install a /srv/x", "ln -s /etc /srv/x", "scp a h:/srv/x", "rsync a /srv/x", "curl -o /srv/x h", "tar xf a -C /srv/x", "kill 1 >/srv/x", "wget -O /srv/x h", "touch a >/srv/x", "sort >/srv/x y", "sort >/srv/x y >/srv/z", "sort >/srv/x y 2>/dev/null", "echo a >/srv/x >/etc/x",
				"touch" + files(300), "touch" + files(256), "touch /srv/x; deploy", "systemctl stop x >/srv/x", "kill 1", "mount /a /srv/x", "nohup ls", "A=b touch $A",
			},
		},
		"paths: ['/srv/**']": {
			true: {"touch -d \"$(ls)\" /srv/x", "touch /srv/x", "echo a >/srv/x", "ls; touch /srv/x", "rm -r /srv/x"},
			false: {"deploy /srv/x", "deploy >/srv/x", "sudo touch /srv/x", "cat /etc/shadow", "cat /etc/shadow >/srv/x", "systemctl stop x >/srv/x", "cp -f /etc/shadow /srv/x",
				"touch -d \"$(curl -s localhost)\" /srv/x", "touch -d \"$(cat /etc/shadow)\" /srv/x", "touch -d \"$(sudo ls)\" /srv/x", "touch -d \"$(deploy)\" /srv/x", "curl -s localhost"},
		},
		"classes: [unknown], paths: ['/srv/**']": {false: {"deploy /srv/x", "deploy >/srv/x", "deploy"}},
		"programs: ['deploy *'], paths: ['/srv/**']": {
			true:  {"deploy a", "deploy a; deploy b"},
			false: {"deploy a >/srv/x", "deploy a >/etc/x", "deploy a >/srv/x >/etc/x", "touch /srv/x"},
		},
		"classes: [write], programs: ['deploy *']":                     {false: {"touch x; deploy a", "deploy a | touch x", "deploy a", "other; deploy a", "sudo ls"}},
		"classes: [write, unknown], programs: ['deploy *', 'touch *']": {true: {"touch x; deploy a", "deploy a | touch x", "deploy a"}, false: {"other; deploy a", "mkdir x; deploy a", "sudo ls"}},
		"programs: ['sudo *']":                                         {true: {"sudo ls"}, false: {"sudo rm -rf /", "sudo ls; deploy"}},
		"programs: ['sudo ls']":                                        {true: {"sudo ls"}, false: {"sudo ls x"}},
		"programs: ['rm *']":                                           {true: {"rm x"}, false: {"rm -rf /"}},
		"classes: [privileged]":                                        {true: {"sudo ls"}, false: {"sudo rm -rf /", "touch x; sudo ls"}},
		"classes: [forbidden]":                                         {true: {"rm -rf /"}},
		"classes: [read-only, write, unknown]":                         {true: {"curl http://x -o y", "for i in a b; do touch $i; done", "(deploy; touch x)"}, false: {"curl http://x | sh", "(deploy; kill 1)"}},
		"programs: ['curl *', sh]":                                     {true: {"sh", "curl x"}, false: {"curl http://x | sh"}},
		"programs: ['curl *', sh], classes: [forbidden, unknown, network-read, write, dangerous]": {true: {"curl http://x; sh"}, false: {"curl http://x | sh"}}, // the pipeline is not a program
		"classes: [forbidden, unknown, network-read, write, dangerous]":                           {true: {"curl http://x | sh"}},
		"programs: ['systemctl stop *'], classes: [write]":                                        {false: {"systemctl stop x", "systemctl stop x && touch y"}},
		"programs: ['systemctl stop *'], classes: [dangerous]":                                    {true: {"systemctl stop x", "systemctl stop x && systemctl stop y", "systemctl stop x; systemctl stop y | systemctl stop z"}, false: {"systemctl stop x && touch y", "systemctl stop x && systemctl disable x"}},
		"programs: ['/opt/x/deploy *']":                                                           {true: {"/opt/x/deploy a"}, false: {"deploy a", "/opt/y/deploy a", "/usr/bin/deploy a"}},
		"programs: ['deploy *'], classes: [dangerous], paths: ['/srv/app/*', '/srv/other/x']":     {false: {"rm -r /srv/app/x /srv/other/x"}},
		"classes: [dangerous], paths: ['/srv/app/*', '/srv/other/x']":                             {true: {"rm -r /srv/app/x /srv/other/x"}, false: {"rm -r /srv/app/x/y", "rm -r /srv/other"}},
		// A program by itself may do what writes nothing; beside a write, only what the classes name.
		"programs: ['cat *', 'touch *'], paths: ['/srv/**']":                                   {true: {"cat /etc/shadow", "touch /srv/x"}, false: {"cat /etc/shadow; touch /srv/x", "cat /etc/shadow; touch /etc/x"}},
		"classes: [sensitive-read, write], programs: ['cat *', 'touch *'], paths: ['/srv/**']": {true: {"cat /etc/shadow; touch /srv/x"}, false: {"cat /etc/shadow; touch /etc/x"}},
		"classes: [network-read, write], programs: ['curl *', 'touch *'], paths: ['/srv/**']":  {true: {"curl -s example.com; touch /srv/x"}, false: {"curl -s example.com; touch /etc/x"}},
		"programs: ['dd *'], paths: ['/srv/**']":                                               {true: {"dd if=/x of=/srv/x"}, false: {"dd if=/x of=/etc/x", "dd if=/srv/x of=x"}},
		"classes: [network-read, write], paths: ['/srv/**']":                                   {true: {"touch -d \"$(curl -s localhost)\" /srv/x"}, false: {"touch -d \"$(deploy)\" /srv/x"}},
		"classes: [write, sensitive-read], paths: ['/srv/**']":                                 {true: {"cp -f /etc/shadow /srv/x", "touch -d \"$(cat /etc/shadow)\" /srv/x"}, false: {"cp -f /etc/shadow /etc/x"}},
		"classes: [dangerous, privileged], paths: ['/srv/**']":                                 {true: {"rm -r /srv/x/y"}, false: {"systemctl stop x", "systemctl stop x; rm -r /srv/x/y", "sudo ls", "sudo rm -r /srv/x/y"}},
		"classes: [dangerous, write], paths: ['/srv/**']":                                      {true: {"rm -r /srv/x/y"}, false: {"systemctl stop x >/srv/x"}},
		"programs: ['deploy *', 'touch *', 'dd *'], paths: ['/srv/**']":                        {true: {"deploy a; deploy b", "touch /srv/x; dd of=/srv/y"}, false: {"deploy a; touch /srv/x"}},
		"programs: ['scp *', 'sudo *', 'ssh *'], paths: ['/srv/**']":                           {true: {"scp h:/a /srv/x", "sudo touch /srv/x"}, false: {"scp h:/a /etc/x", "sudo touch /etc/x", "ssh h touch /srv/x"}},
		"paths: ['/**']": {true: {"touch /x"}, false: {"touch x", "touch ~/x", "touch $x", "touch /x $x", "rm -r /srv/$x"}},
		// What runs within a plain command may do anything else.
		"classes: [write, unknown, dangerous, privileged], paths: ['/srv/**']": {
			true: {"touch /srv/x", "touch -d \"$(ls)\" /srv/x", "echo $(ls) >/srv/x"},
			false: {
				"touch -d \"$(deploy)\" /srv/x", "touch -d \"$(systemctl stop x)\" /srv/x", "touch -d \"$(sudo ls)\" /srv/x", "touch -d \"$(touch /srv/y)\" /srv/x", "touch /srv/x <<<\"$(systemctl stop x)\"", "touch /srv/x <<E\n$(systemctl stop x)\nE",
				"echo a >/srv/x <<<\"$(systemctl stop x)\"", "A=$(systemctl stop x) touch /srv/x", "touch /srv/x < <(systemctl stop x)", "touch -d \"$(ls $(systemctl stop x))\" /srv/x", "touch --frobnicate /srv/x", "ls >&3",
			},
		},
	} {
		e := rules.New(rules.Config{User: file(t, rule("p", "allow", conditions))})
		for allowed, list := range commands {
			for _, command := range list {
				d := decide(t, e, policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: command, Shell: "bash"})
				assert.Equal(t, allowed, d.Verdict == policy.Allow, "%s: %.80q: %s %s", conditions, command, d.Rule, d.Reason)
			}
		}
	}
}

// Shells have ways of their own to leave a command running behind their backs.
func TestNoAllowForWhatRunsOnBehindTheShell(t *testing.T) {
	e := rules.New(rules.Config{User: file(t, rule("p", "allow", "programs: ['deploy *']"), rule("q", "allow", "classes: [write], paths: ['/srv/**']"))})
	for shell, commands := range map[string][]string{
		"bash": {"deploy a &", "deploy a | deploy b &", "touch /srv/x &", "ls >/srv/x &"},
		"zsh":  {"deploy a &!", "deploy a &|", "deploy a | deploy b &!", "deploy a && deploy b &|", "touch /srv/x &!", "ls >/srv/x &|"},
		"mksh": {"deploy a |&", "deploy a | deploy b |&", "deploy a && deploy b |&", "touch /srv/x |&"},
	} {
		for _, command := range append(commands, "A=b >/srv/x") {
			d := decide(t, e, policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: command, Shell: shell})
			assert.Equal(t, policy.Ask, d.Verdict, "%s in %s: %s", command, shell, d.Reason)
		}
		for _, command := range []string{"deploy a", "deploy a | deploy b", "touch /srv/x", "ls >/srv/x"} {
			d := decide(t, e, policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: command, Shell: shell})
			assert.Equal(t, policy.Allow, d.Verdict, "%s in %s: %s", command, shell, d.Reason)
		}
	}
}

// A word that one shell has reserved is a program in another one.
func TestWordsAreThoseOfTheShell(t *testing.T) {
	e := rules.New(rules.Config{User: file(t, rule("p", "allow", "programs: ['coproc *']"))})
	for shell, want := range map[string]policy.Verdict{"": policy.Ask, "bash": policy.Ask, "mksh": policy.Allow, "ksh": policy.Allow, "dash": policy.Allow} {
		d := decide(t, e, policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: "coproc deploy a", Shell: shell})
		assert.Equal(t, want, d.Verdict, "%q: %s", shell, d.Reason)
	}
}

// What is read-only is asked about for programs, which may do nothing by themselves.
func TestWhatAnAllowOfReadsStandsFor(t *testing.T) {
	for conditions, commands := range map[string]map[bool][]string{
		"classes: [read-only]":                                 {true: {"ls", "ls; ls"}, false: {"touch x", "ls; touch x"}},
		"classes: [write]":                                     {false: {"ls", "ls; touch x"}},
		"classes: [read-only], paths: ['/srv/**']":             {true: {"ls", "ls /etc; ls"}, false: {"touch /srv/x"}},
		"classes: [sensitive-read, write], paths: ['/srv/**']": {true: {"cat /etc/shadow >/srv/x", "touch /srv/x"}, false: {"cat /etc/shadow", "cat /etc/shadow >/etc/x", "cat /etc/shadow; touch /srv/x"}},
		"classes: [network-read, write], paths: ['/srv/**']":   {true: {"curl -s example.com >/srv/x"}, false: {"curl -s example.com", "curl -s example.com >/tmp/x"}},
		"classes: [write], paths: ['/srv/**']":                 {true: {"touch /srv/x"}, false: {"ls", "ls; touch /srv/x"}},
		"paths: ['/srv/**']":                                   {true: {"touch /srv/x"}, false: {"ls", "ls >&-", "ls 3>/dev/null", "ls; touch /srv/x", "cat <x; touch /srv/x"}},
		"programs: ['ls *']":                                   {true: {"ls", "ls; ls -l"}, false: {"cat x", "ls | wc"}},
		"programs: ['ls *'], paths: ['/srv/**']":               {true: {"ls", "ls /etc"}, false: {"ls >/srv/x"}},
		"to: [loopback]":                                       {true: {"curl -s localhost"}, false: {"curl -s localhost | jq .", "ls", "curl -s example.com"}},
		"classes: [network-read]":                              {true: {"curl -s localhost"}, false: {"curl -s localhost | jq .", "ls"}},
		"classes: [network-read, read-only]":                   {true: {"curl -s localhost | jq .", "ls"}, false: {"curl -s localhost; touch x", "curl -s 169.254.169.254"}},
		"programs: ['ls *', 'touch *'], paths: ['/srv/**']":    {true: {"ls", "touch /srv/x"}, false: {"ls /etc; touch /srv/x"}},
		"classes: [read-only, write], programs: ['ls *', 'touch *'], paths: ['/srv/**']": {true: {"ls /etc; touch /srv/x"}, false: {"ls /etc; touch /etc/x"}},
		"classes: [network-read, read-only], to: [loopback]":                             {true: {"curl -s localhost | jq .", "curl -s localhost; ls"}, false: {"ls", "curl -s example.com; ls"}},
		"classes: [network-read, read-only, sensitive-read], to: [169.254.169.254]":      {true: {"curl -s 169.254.169.254 | jq ."}, false: {"ls", "curl -s localhost"}},
	} {
		e := rules.New(rules.Config{User: file(t, rule("p", "allow", conditions))})
		for allowed, list := range commands {
			for _, command := range list {
				d := decide(t, e, policy.Request{Principal: "program/ci", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: command, Shell: "bash"})
				assert.Equal(t, allowed, d.Verdict == policy.Allow, "%s: %.80q: %s %s %s", conditions, command, d.Class, d.Rule, d.Reason)
			}
		}
	}
}

// A deny stands for anything in a command, and asks where nobody can tell.
func TestWhatADenyStandsFor(t *testing.T) {
	long := strings.Repeat("x", 250)
	for conditions, commands := range map[string]map[string][]string{
		"programs: ['curl *']": {
			"deny": {
				"curl", "curl x", "ls; curl x", "x | curl y", "env curl x", "env env curl x", "sh -c 'curl x; ls'", "sh -c 'ls; curl x'", "sh -c 'ls\ncurl x'", "echo $(curl " + long + ")", "for i in 1; do sh -c 'curl x'; done", "xargs curl <f", "curl $x", "if x; then curl; fi", "eval \"curl x\"",
				"x=$(curl y)", "curl <<E\n$x\nE", "bash -c 'bash -c \"curl x\"'", "timeout 5 /opt/curl x", "f() { curl x; }", "curl x &", "(curl x)", "curl x; '",
			},
			"ask":   {"$x", "sh -c '$x'", "env $x", "$(x) y", "curl*", "xargs $x", "curl\"$x\" y"},
			"allow": {"ls", "echo curl", "xcurl", "curlx", "ls curl", "export curl=x", "x=1", "x=1 y=2", "if x=1; then ls; fi", "sh -c 'x=1'", "sh -c '[[ a = b ]]'", "sh -c '(ls)'", "sh -c '((1))'", ">x", "sh -c 'ls curl'", "sh -c 'export curl=1'", "declare curl"},
		},
		"programs: ['git push *']": {
			"deny":  {"git push", "git push x", "env git push x", "sh -c 'git push'"},
			"ask":   {"git -C x push", "git push-x push", "git $x", "git -C $x push", "git -c a=b push x", "env git -C x push"},
			"allow": {"git log", "git log x", "git pushy", "gitx push"},
		},
		"programs: ['git push']": {
			"deny":  {"git push"},
			"ask":   {"git push x", "git -C x push", "git $x", "git push $x"},
			"allow": {"git log", "git"},
		},
		"programs: [export]":     {"deny": {"sh -c 'export a=b'"}, "allow": {"ls"}},
		"programs: ['export x']": {"ask": {"sh -c 'export a=b'"}},
		"paths: ['/srv/**']":     {"deny": {"touch /srv/x", "touch /etc/x /srv/x", "sh -c 'touch /srv/x'", "echo >/srv/x"}, "ask": {"touch $x", "rm -r /srv", "touch x", "rm -r /"}, "allow": {"touch /etc/x", "ls /srv"}},
		"paths: ['/srv/a/**']": {
			"ask": {"tar xf x -C /srv/a", "tar xf x -C/srv/a/b", "tar -C /srv -xf x", "unzip x -d /srv/a", "git -C /srv/a pull", "nano /srv/a/b", "deploy --to=/srv/a/b", "deploy /x:/srv/a/b",
				"cd /srv/a && tar xf /x", "cd /srv; cd a; make", "cd /srv && unzip x -d a", "env git -C /srv/a pull", "sh -c 'nano /srv/a/b'", "patch -d /srv/a -p1 <x", "mount /dev/x /srv/a", "tar xf x -C /srv/a >/tmp/x"},
			"allow": {"tar xf x -C /srv/b", "tar cf /tmp/x /srv/a", "git -C /srv/b pull", "nano /srv/b", "make", "cd /srv/b && make", "ls /srv/a; make", "cat /srv/a/b", "deploy srv/a", "cp /srv/a/b /tmp/c",
				"cd /srv/a && systemctl restart x", "cat /srv/a/b >/tmp/x", "systemctl restart a"},
		},
		"classes: [dangerous]":                                                   {"deny": {"systemctl stop x", "ls; sudo ls; systemctl stop x", "sh -c 'kill 1'"}, "allow": {"touch x", "curl x"}},
		"classes: [read-only]":                                                   {"deny": {"ls", "ls; touch x"}},
		"classes: [write, dangerous], paths: ['/srv/**']":                        {"deny": {"touch /srv/x"}, "ask": {"touch x"}, "allow": {"touch /etc/x", "ls"}},
		"programs: ['curl *', 'cat *', 'deploy *'], paths: ['/srv/**']":          {"deny": {"curl -s localhost >/srv/x", "deploy"}, "ask": {"curl -s localhost >x"}, "allow": {"curl -s localhost", "cat /etc/shadow", "cat /srv/x", "curl -s localhost >/etc/motd"}},
		"classes: [read-only, sensitive-read, network-read], paths: ['/srv/**']": {"deny": {"cat /etc/shadow >/srv/x"}, "allow": {"ls", "cat /etc/shadow", "curl -s localhost"}},
		"programs: ['touch *'], paths: ['/srv/**']":                              {"deny": {"touch /srv/x"}, "ask": {"touch x"}, "allow": {"touch /etc/x", "mkdir /srv/x", "ls"}},
	} {
		e := rules.New(rules.Config{User: file(t, rule("p", "deny", conditions))})
		for want, list := range commands {
			for _, command := range list {
				d := decide(t, e, policy.Request{Principal: "operator/a", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: command, Shell: "bash"})
				assert.Equal(t, want, d.Verdict.String(), "%s: %.80q: %s %s", conditions, command, d.Rule, d.Reason)
				if want == "ask" && d.Rule == "policy/p" {
					assert.Equal(t, "Fairlead cannot determine whether this rule denies the command: the rule says so", d.Reason)
				}
			}
		}
	}
	// Where the judge gives up, there may be anything.
	for conditions, command := range map[string]string{
		"programs: ['curl *']": "deploy " + strings.Repeat("x", 70<<10), "paths: ['/srv/**']": "touch" + strings.Repeat(" /etc/x", 300) + "; deploy " + strings.Repeat("x", 70<<10),
		"paths: ['/srv/x']": "touch" + strings.Repeat(" /opt/x", 256), "classes: [write], paths: ['/srv/x']": "touch" + strings.Repeat(" /opt/x", 300),
	} {
		e := rules.New(rules.Config{User: file(t, rule("p", "deny", conditions))})
		d := decide(t, e, policy.Request{Principal: "operator/a", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: command})
		assert.Equal(t, policy.Ask, d.Verdict, conditions)
		assert.Equal(t, "policy/p", d.Rule)
	}
}

// The strictest of several rules counts, and what a rule asks is its own reason, or that it says so.
func TestTheStrictestRuleCountsAndSaysWhy(t *testing.T) {
	because := func(name, verdict, conditions string) string {
		return rule(name, verdict, conditions+", reason: 'because of "+name+"'")
	}
	for _, tt := range []struct {
		user    []string
		command string
		want    string
	}{
		{[]string{because("a", "ask", "programs: ['touch *']")}, "touch x", "ask policy/a because of a"},
		{[]string{rule("a", "ask", "programs: ['touch *']")}, "touch x", "ask policy/a the rule says so"},
		{[]string{because("a", "ask", "programs: ['touch *']"), because("b", "deny", "programs: ['touch *']")}, "touch x", "deny policy/b because of b"},
		{[]string{because("b", "deny", "programs: ['touch *']"), because("a", "ask", "programs: ['touch *']")}, "touch x", "deny policy/b because of b"},
		{[]string{because("a", "ask", "programs: ['touch *']"), because("b", "deny", "programs: ['touch *']")}, "env touch x", "deny policy/b because of b"},
		{[]string{because("b", "deny", "programs: ['touch *']"), because("a", "ask", "programs: ['touch *']")}, "env touch x", "deny policy/b because of b"},
		{[]string{because("a", "ask", "programs: ['touch *']")}, "env $x", "ask policy/a because of a"},
		{[]string{because("b", "deny", "programs: ['touch *']")}, "env $x", "ask policy/b Fairlead cannot determine whether this rule denies the command: because of b"},
		{[]string{because("a", "allow", "programs: ['touch *']")}, "env touch x", "allow builtin/write"},
	} {
		e := rules.New(rules.Config{User: file(t, tt.user...)})
		d := decide(t, e, policy.Request{Principal: "operator/a", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: tt.command})
		assert.Contains(t, fmt.Sprint(d.Verdict, " ", d.Rule, " ", d.Reason), tt.want, tt.command)
	}
}

// The reason is the judge's about the part that decides.
func TestTheReasonIsThatOfTheClassThatDecides(t *testing.T) {
	e := rules.New(rules.Config{User: file(t, rule("p", "allow", "classes: [dangerous]"))})
	for command, like := range map[string]string{
		"systemctl stop x; touch y": "touch y", "(ls; systemctl stop x); touch y": "touch y", "systemctl stop x; (ls; touch y)": "touch y", "ls; sh -c 'systemctl stop x; touch y'": "touch y", "touch y": "touch y",
	} {
		d := decide(t, e, policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "h"}, Command: command})
		plain := decide(t, e, policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "h"}, Command: like})
		assert.Equal(t, policy.Ask, d.Verdict, command)
		assert.Equal(t, plain.Reason, d.Reason, command)
	}
	for _, command := range []string{"ls \u200b", "touch x; ls \u200b", "rm -rf /; ls \u200b", "ls; (touch x; ls $(rm -rf /; ls \u200b))", "rm -rf /; (ls; rm -rf /); cat $(ls \u200b)"} {
		d := decide(t, e, policy.Request{Principal: "operator/a", Host: hosts.Host{Name: "h"}, Command: command})
		assert.Equal(t, "deny builtin/bytes", d.Verdict.String()+" "+d.Rule, command)
		assert.Equal(t, decide(t, e, policy.Request{Principal: "operator/a", Host: hosts.Host{Name: "h"}, Command: "ls \u200b"}).Reason, d.Reason, command)
	}
}
