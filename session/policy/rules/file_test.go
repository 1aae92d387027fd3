package rules_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

func parse(t *testing.T, text string) *rules.File {
	t.Helper()
	f, err := rules.Parse([]byte(text), "p.yaml")
	require.NoError(t, err)
	return f
}

const whole = `version: 1
rules:
  - name: dev-is-free
    hosts: "tier=dev"
    principals: ["role=agent"]
    classes: [read-only, write, dangerous, unknown]
    verdict: allow
    reason: "throw-away machines"
    match: ["touch x", "touch x; systemctl stop nginx", "for i in 1 2; do touch x; done", ls]
    not_match: ["sudo ls", "rm -rf /", "touch x; sudo ls"]
  - name: restarts
    hosts: "web*"
    principals: [agent/mcp, operator/ada]
    programs: ["systemctl restart *", "systemctl reload nginx"]
    verdict: allow
    match: ["systemctl restart nginx", "systemctl reload nginx", "systemctl reload nginx >/dev/null 2>&1", "/usr/bin/systemctl restart 'my app'"]
    not_match:
      - systemctl stop nginx
      - systemctl reload nginx other
      - systemctl restart $X
      - systemctl restart nginx; systemctl stop nginx
      - systemctl restart nginx > /etc/passwd
      - PATH=/tmp systemctl restart nginx
      - sudo systemctl restart nginx
      - systemctl restart $(touch /tmp/x)
      - echo systemctl restart nginx > x
      - /tmp/systemctl restart nginx
      - systemctl restart nginx &
  - name: srv
    hosts: all
    principals: ["*"]
    classes: [write, dangerous]
    paths: ["/srv/**"]
    verdict: allow
    match: ["touch /srv/x", "rm -r /srv/app/cache", "echo hi > /srv/x", "mkdir /srv/a; touch /srv/a/b", "cp /etc/hosts /srv/h"]
    not_match:
      - touch /etc/motd
      - touch /etc/x
      - touch /srv/../etc/x
      - touch /srv/a /etc/b
      - touch /srv/a; touch /etc/b
      - rm -rf /srv
      - kill 1 > /srv/x
      - systemctl stop nginx
      - touch /srv/x; systemctl stop nginx
      - touch /srv/$X
      - touch /srvx/y
      - ln -s /etc /srv/l
      - cp -a /proc/1/root /srv/l
      - cp -P /proc/1/root /srv/l
      - curl -o /srv/x http://example.com
      - wget -O /srv/x http://example.com
      - tar -xf a.tar -C /srv
      - ./touch /srv/x
      - git -C /srv/app pull
  - name: no-curl
    hosts: all
    principals: ["*"]
    programs: ["curl *", "git push *"]
    verdict: deny
    match: ["curl -s http://x", "timeout 5 curl x", "ls; (curl x)", "echo $(curl x)", "sh -c 'curl x'", "find . -exec curl {} +", "git push origin", "for i in a; do curl $i; done"]
    not_match: ["echo curl", "ls # curl x", "git log", "grep 'curl x' f"]
  - name: one
    hosts: all
    principals: ["*"]
    programs: ["sudo systemctl restart nginx"]
    verdict: allow
    match: ["sudo systemctl restart nginx"]
    not_match: ["sudo systemctl restart nginx x", "sudo -u bob systemctl restart nginx"]
principals:
  - name: agent/mcp
    hosts: "tier=dev"
    tools: [hosts_list, look, run]
    programs: [systemctl, journalctl]
    shell: false
    strict: true
    env: clean
    reads: held
    max_output: 64KiB
    max_timeout: 10m
    rate: 30/m
    daily: 1000
    max_hosts: 20
approvals:
  proof:
    prod: passphrase
    staging: {dangerous: touch, "*": unproven}
`

func TestAFileWithEverythingAndItsExamplesIsRead(t *testing.T) {
	_, err := rules.Parse([]byte(whole), "p.yaml")
	require.NoError(t, err)
	_, err = rules.Parse([]byte("version: 1\n"), "p.yaml")
	require.NoError(t, err, "a policy may change nothing")
}

func TestEveryMistakeIsToldWithItsLine(t *testing.T) {
	rule := func(lines string) string {
		return "version: 1\nrules:\n  - name: r\n    hosts: all\n    principals: [\"*\"]\n    verdict: allow\n" + lines
	}
	limit := func(line string) string { return "version: 1\nprincipals:\n  - name: agent/a\n    " + line + "\n" }
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":                      {"", "p.yaml:1: the file says nothing"},
		"comments only":                {"# hi\n", "p.yaml:1: the file says nothing"},
		"a list":                       {"- a\n", "p.yaml:1: a policy is a mapping"},
		"no version":                   {"rules: []\n", "p.yaml:1: version is missing"},
		"another version":              {"version: 2\n", "p.yaml:1: version 2 is not known"},
		"an unknown key":               {"version: 1\nrulez: []\n", `p.yaml:2: unknown key "rulez" in a policy; known: version, rules, principals, approvals`},
		"a key twice":                  {"version: 1\nrules: []\nrules: []\n", `p.yaml:3: "rules" is there twice; first on line 2`},
		"two documents":                {"version: 1\n---\nversion: 1\n", "p.yaml:2: a second document"},
		"no YAML":                      {"version: 1\nrules: [\n", "p.yaml:3: not valid YAML"},
		"an alias":                     {"version: 1\nrules: &a []\nprincipals: *a\n", "p.yaml:2: anchors and aliases are not supported"},
		"a tag":                        {"version: !!str 1\n", "p.yaml:1: tags such as !!str are not supported"},
		"not UTF-8":                    {"version: 1\n# \xff\n", "p.yaml:2: the file is not UTF-8"},
		"a character that hides":       {"version: 1\n# \u202e\n", "p.yaml:2: the file holds the character U+202E"},
		"too deep":                     {"version: " + strings.Repeat("[", 40) + strings.Repeat("]", 40), "p.yaml:1: more than 16 levels"},
		"rules as a mapping":           {"version: 1\nrules: {a: b}\n", "p.yaml:2: rules: expected a list"},
		"a rule that is a word":        {"version: 1\nrules:\n  - a\n", "p.yaml:3: a rule: expected a mapping"},
		"an unknown key in a rule":     {rule("    class: [write]\n"), `p.yaml:7: unknown key "class" in a rule`},
		"no name":                      {"version: 1\nrules:\n  - {hosts: all, principals: ['*'], classes: [write], verdict: ask}\n", "p.yaml:3: a rule needs name"},
		"no hosts":                     {"version: 1\nrules:\n  - {name: a, principals: ['*'], classes: [write], verdict: ask}\n", "p.yaml:3: a rule needs hosts"},
		"no principals":                {"version: 1\nrules:\n  - {name: a, hosts: all, classes: [write], verdict: ask}\n", "p.yaml:3: a rule needs principals"},
		"no verdict":                   {"version: 1\nrules:\n  - {name: a, hosts: all, principals: ['*'], classes: [write]}\n", "p.yaml:3: a rule needs verdict"},
		"no conditions":                {rule(""), "p.yaml:3: a rule needs classes, programs, paths or to"},
		"a name that is not a word":    {"version: 1\nrules:\n  - {name: 'a b', hosts: all, principals: ['*'], classes: [write], verdict: ask}\n", "p.yaml:3: name:"},
		"a name twice":                 {"version: 1\nrules:\n  - {name: a, hosts: all, principals: ['*'], classes: [write], verdict: ask}\n  - {name: a, hosts: all, principals: ['*'], classes: [write], verdict: ask}\n", `p.yaml:4: rule "a": the name is taken by the rule on line 3`},
		"a selector that is none":      {"version: 1\nrules:\n  - name: a\n    hosts: 'web['\n    principals: ['*']\n    classes: [write]\n    verdict: ask\n", "p.yaml:4: hosts: selector, column"},
		"a selector that reads a file": {"version: 1\nrules:\n  - name: a\n    hosts: '^/etc/passwd'\n    principals: ['*']\n    classes: [write]\n    verdict: ask\n", "p.yaml:4: hosts: selector"},
		"a principal without role":     {"version: 1\nrules:\n  - name: a\n    hosts: all\n    principals: [ada]\n    classes: [write]\n    verdict: ask\n", `p.yaml:5: principals: "ada" is not a name such as agent/mcp`},
		"a principal with a pattern":   {"version: 1\nrules:\n  - name: a\n    hosts: all\n    principals: ['agent/*']\n    classes: [write]\n    verdict: ask\n", `p.yaml:5: principals: "agent/*"`},
		"an unknown role":              {"version: 1\nrules:\n  - name: a\n    hosts: all\n    principals: ['role=root']\n    classes: [write]\n    verdict: ask\n", `p.yaml:5: principals: role "root" is not one of`},
		"no principal":                 {"version: 1\nrules:\n  - name: a\n    hosts: all\n    principals: []\n    classes: [write]\n    verdict: ask\n", "p.yaml:5: principals: the list is empty"},
		"an unknown verdict":           {"version: 1\nrules:\n  - name: a\n    hosts: all\n    principals: ['*']\n    classes: [write]\n    verdict: yes\n", `p.yaml:7: verdict: "yes" is not one of deny, ask, allow`},
		"an unknown class":             {rule("    classes: [reads]\n"), `p.yaml:7: classes: "reads" is not one of read-only,`},
		"an address that is none":      {rule("    to: ['127.1']\n"), `p.yaml:7: to: "127.1" must be loopback, private, an address`},
		"an unknown word in to":        {rule("    to: ['local host']\n"), `p.yaml:7: to: "local host" must be loopback`},
		"a network with bits behind":   {rule("    to: [10.0.0.1/8]\n"), "p.yaml:7: to: \"10.0.0.1/8\" has bits set behind the length of the network: write 10.0.0.0/8"},
		"a URL as an address":          {rule("    to: ['http://localhost/']\n"), "p.yaml:7: to:"},
		"a port":                       {rule("    to: ['localhost:80']\n"), "p.yaml:7: to:"},
		"a star within a name":         {rule("    to: ['db*.example.com']\n"), "p.yaml:7: to:"},
		"no address":                   {rule("    to: []\n"), "p.yaml:7: to: the list is empty"},
		"an address of other classes":  {allowing("classes: [write], to: [loopback]"), "p.yaml:3: to: the rule can allow nothing"},
		"an address of other programs": {allowing("programs: ['systemctl *'], to: [loopback]"), "p.yaml:3: to: the rule can allow nothing: name a program"},
		"a metadata service":           {allowing("classes: [network-read], to: [169.254.169.254]"), "p.yaml:3: to: 169.254.169.254 is a metadata service"},
		"a metadata service by name":   {allowing("to: [metadata.google.internal]"), "p.yaml:3: to: metadata.google.internal is a metadata service"},
		"a class twice":                {rule("    classes: [write, write]\n"), "p.yaml:7: classes: write is there twice"},
		"a star in a word":             {rule("    programs: ['systemctl re*']\n"), "p.yaml:7: programs:"},
		"a star in the middle":         {rule("    programs: ['systemctl * nginx']\n"), "p.yaml:7: programs:"},
		"a star alone":                 {rule("    programs: ['*']\n"), `p.yaml:7: programs: "*" must begin with the name of a program`},
		"shell syntax":                 {rule("    programs: ['ls; rm']\n"), "p.yaml:7: programs:"},
		"a relative program":           {rule("    programs: ['./x *']\n"), "p.yaml:7: programs:"},
		"a relative path":              {rule("    paths: ['srv/**']\n"), "p.yaml:7: paths:"},
		"a path that climbs":           {rule("    paths: ['/srv/../etc']\n"), "p.yaml:7: paths:"},
		"stars in the middle":          {rule("    paths: ['/**/x']\n"), "p.yaml:7: paths:"},
		"an example that fails":        {rule("    classes: [write]\n    match:\n      - ls\n"), `p.yaml:9: rule "r": the example "ls" does not match: it is read-only, which is not one of the rule's classes`},
		"an example that must not":     {rule("    classes: [write]\n    not_match: ['touch x']\n"), `p.yaml:8: rule "r": the example "touch x" (class write) matches, but not_match says that it must not`},
		"a forbidden example":          {rule("    programs: ['rm *']\n    match: [rm -rf /]\n"), `p.yaml:8: rule "r": the example "rm -rf /" does not match: it is forbidden, which the rule covers only if classes name it`},
		"an example of no program":     {rule("    classes: [write]\n    programs: ['touch *']\n    match: [mkdir x]\n"), `p.yaml:9: rule "r": the example "mkdir x" does not match: it is not one of the rule's programs`},
		"control bytes as an example":  {rule("    classes: [forbidden]\n    match: [\"ls \\x01\"]\n"), "p.yaml:8: rule \"r\": the example"},
		"a text for a list":            {rule("    classes: write\n"), "p.yaml:7: classes: expected a list"},
		"an empty example":             {rule("    classes: [write]\n    match: ['']\n"), "p.yaml:8: match: a value is missing"},
		"limits without a name":        {"version: 1\nprincipals:\n  - shell: false\n", "p.yaml:3: principals: an item needs name"},
		"limits of nothing":            {"version: 1\nprincipals:\n  - name: agent/a\n", "p.yaml:3: principals: an item needs something besides name"},
		"an unknown limit":             {limit("max_host: 1"), `p.yaml:4: unknown key "max_host" in principals`},
		"limits twice":                 {"version: 1\nprincipals:\n  - {name: agent/a, daily: 1}\n  - {name: agent/a, daily: 2}\n", `p.yaml:4: principals: "agent/a" is there twice; first on line 3`},
		"no truth":                     {limit("shell: no"), "p.yaml:4: shell: must be true or false"},
		"no rate":                      {limit("rate: 30"), "p.yaml:4: rate:"},
		"a rate of none":               {limit("rate: 0/m"), "p.yaml:4: rate:"},
		"no number":                    {limit("daily: -1"), "p.yaml:4: daily:"},
		"no duration":                  {limit("max_timeout: 10"), "p.yaml:4: max_timeout:"},
		"no size":                      {limit("max_output: 64KB"), "p.yaml:4: max_output:"},
		"a size that is too large":     {limit("max_output: 9999999999GiB"), "p.yaml:4: max_output:"},
		"another environment":          {limit("env: dirty"), "p.yaml:4: env:"},
		"a program with a path":        {limit("programs: [/bin/ls]"), "p.yaml:4: programs:"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := rules.Parse([]byte(tt.text), "p.yaml")
			require.Error(t, err)
			assert.Nil(t, f)
			assert.Contains(t, err.Error(), "rules: "+tt.want)
			var one *rules.FileError
			assert.ErrorAs(t, err, &one)
		})
	}
}

func TestAllMistakesAreToldAtOnceInOrder(t *testing.T) {
	_, err := rules.Parse([]byte(`version: 2
rules:
  - name: a
    hosts: "web["
    principals: [x]
    classes: [writes]
    verdict: maybe
principals:
  - name: agent/a
    daily: many
`), "p.yaml")
	var lines []string
	for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
		var f *rules.FileError
		require.True(t, errors.As(e, &f))
		lines = append(lines, f.Pos.String())
	}
	assert.Equal(t, []string{"p.yaml:1", "p.yaml:4", "p.yaml:5", "p.yaml:6", "p.yaml:7", "p.yaml:10"}, lines)
}

// The fields narrow: a command must be of the classes, be one of the programs and write below the paths. An example without
// a directory runs below the first of them.
func TestARuleMayNameClassesProgramsAndPaths(t *testing.T) {
	f, err := rules.Parse([]byte(`version: 1
rules:
  - name: dev-is-free
    hosts: "tier=dev"
    principals: ["role=agent"]
    classes: [read-only, write, dangerous]
    programs: ["touch *", "rm *", "systemctl restart *"]
    paths: ["/srv/**"]
    verdict: allow
    reason: "throw-away machines"
    match: ["touch x", "systemctl restart nginx"]
    not_match: ["sudo ls", "rm -rf /", "touch /etc/motd", "frobnicate", "mkdir x"]
`), "p.yaml")
	require.NoError(t, err)
	e := rules.New(rules.Config{User: f})
	for command, want := range map[string]policy.Verdict{
		"touch /srv/x": policy.Allow, "touch /etc/x": policy.Ask, "systemctl restart nginx": policy.Allow, "systemctl stop nginx": policy.Ask, "ls /etc": policy.Allow,
		"rm -rf /srv/old": policy.Allow, "rm -rf /": policy.Deny, "sudo touch /srv/x": policy.Deny, "touch /srv/x /etc/x": policy.Ask, "touch /srv/../etc/x": policy.Ask,
		"mkdir /srv/x": policy.Ask, "mv /srv/a /srv/b": policy.Ask,
	} {
		d, err := e.Decide(t.Context(), policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: command})
		require.NoError(t, err)
		assert.Equal(t, want, d.Verdict, "%s: %s", command, d.Reason)
	}
}

// allowing is a policy with one rule that allows.
func allowing(conditions string) string {
	return "version: 1\nrules:\n  - {name: a, hosts: all, principals: ['*'], verdict: allow, " + conditions + "}\n"
}
