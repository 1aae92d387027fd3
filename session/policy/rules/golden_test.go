package rules_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/golden"
)

// policies are files of one rule or two, as conditions of [rule].
var policies = []string{
	"", "allow classes: [write]", "allow classes: [unknown]", "allow classes: [read-only, write, unknown]", "allow classes: [privileged]", "allow classes: [forbidden]", "allow classes: [sensitive-read]",
	"allow classes: [network-read]", "allow classes: [network-read], to: [loopback, private]", "allow classes: [network-read], to: ['*.example.com', 192.0.2.1, 10.1.0.0/16]", "allow programs: ['deploy *']", "allow programs: ['deploy now', 'touch x']",
	"allow programs: ['sudo *']", "allow programs: ['curl *', sh], classes: [forbidden, unknown, network-read, write]", "allow programs: ['/opt/x/deploy *']", "allow paths: ['/srv/**']", "allow classes: [write], paths: ['/srv/*', '/tmp/?']",
	"allow programs: ['systemctl restart *'], classes: [dangerous, write]", "deny classes: [write]", "deny programs: ['touch *']", "deny programs: [curl]", "deny paths: ['/etc/**']", "deny classes: [network-read], to: [private]", "deny programs: ['deploy *'], paths: ['/srv/**']",
	"ask classes: [read-only]", "ask programs: ['ls *']", "ask paths: ['/srv/app']", "allow classes: [write] + deny programs: ['touch *']", "allow classes: [read-only, write, unknown, dangerous] + ask paths: ['/etc/**']",
}

var askers = []policy.Request{
	{Principal: "agent/mcp", Host: hosts.Host{Name: "web1", Tier: hosts.Prod}, Shell: "bash", Dir: "/srv"},
	{Principal: "agent/mcp", Host: hosts.Host{Name: "dev1", Tier: "dev"}, Interactive: true, Set: []string{"x", "PATH", "touch"}},
	{Principal: "operator/ada", Host: hosts.Host{Name: "web1", Tier: hosts.Prod}, Dir: "/etc"},
	{Principal: "operator/ada", Host: hosts.Host{Name: "dev1", Tier: "dev"}, Elsewhere: true},
	{Principal: "operator/ada", Host: hosts.Host{Name: "db"}, Shell: "zsh"},
	{Principal: "program/p", Host: hosts.Host{Name: "web1", Tier: "staging"}},
	{Principal: "nobody", Host: hosts.Host{Name: "web1", Tier: "staging"}, Action: true},
}

// What every one of many policies makes of every command in the tables of these tests, for several who ask.
func TestDecisionsAreWhatTheyWere(t *testing.T) {
	f := golden.Open(t, "testdata/decisions.tsv")
	var commands []string
	if golden.Updating() {
		commands = tabled(t)
	} else {
		commands = f.Keys()
	}
	require.Greater(t, len(commands), 500)
	var engines []*rules.Engine
	for i, p := range policies {
		var list []string
		for n, r := range strings.Split(p, " + ") {
			if verdict, conditions, ok := strings.Cut(r, " "); ok {
				list = append(list, rule("r"+strconv.Itoa(n), verdict, conditions))
			}
		}
		cfg := rules.Config{User: file(t, list...), Program: policy.Verdict(i % 3)}
		if i%5 == 4 {
			cfg.System, cfg.User = cfg.User, file(t, rule("mine", "allow", "classes: [write, unknown, dangerous]"))
		}
		engines = append(engines, rules.New(cfg))
	}
	for _, command := range commands {
		if f.Due(command) {
			f.Check(command, decided(t, engines, command))
		}
	}
}

// decided has for each policy the verdicts by who asks, and a hash over the whole decisions and the rules that are offered.
func decided(t *testing.T, engines []*rules.Engine, command string) string {
	var out []string
	for i, e := range engines {
		all := fnv.New32a()
		var verdicts strings.Builder
		for n, req := range askers {
			if i > 0 && n != i%len(askers) && n != (i+3)%len(askers) {
				continue // with each file two of them
			}
			req.Command = command
			d, err := e.Decide(t.Context(), req)
			require.NoError(t, err)
			verdicts.WriteByte("dsl"[d.Verdict]) // deny, ask, allow
			fmt.Fprintf(all, "%s %s %s %t\n", inFull(d), d.Rests, d.Send, d.Clean)
			if n%3 == 0 && (i%4 == 0) {
				text, err := e.Offer(req)
				fmt.Fprintln(all, text, err)
			}
			if i == 0 {
				req.Input = command
				d, err = e.Decide(t.Context(), req)
				require.NoError(t, err)
				fmt.Fprint(all, inFull(d))
			}
		}
		out = append(out, verdicts.String()+":"+strconv.FormatUint(uint64(all.Sum32()), 36))
	}
	return strings.Join(out, " ")
}

// later are the parts of a decision that came after these files, and have tests of their own or are not there.
var later = strings.NewReplacer(" Sockets:[]", "", " Ends:false", "", " Traceless:true", "", " Traceless:false", "")

// inFull is all of a decision but for those.
func inFull(d policy.Decision) string { return later.Replace(fmt.Sprintf("%+v", d)) }

// tabled gathers the commands of these tests.
func tabled(t *testing.T) (out []string) {
	for _, name := range []string{"decisions_test.go", "edges_test.go", "hiding_test.go", "layers_test.go", "exact_test.go", "narrow_test.go", "own_test.go", "reading_test.go", "redirects_test.go", "runners_test.go", "offer_test.go", "session_test.go", "words_test.go"} {
		tree, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(tree, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				s, err := strconv.Unquote(l.Value)
				require.NoError(t, err)
				if len(s) > 1 && len(s) < 300 && !strings.Contains(s, "hosts:") && !strings.Contains(s, "{name:") && !strings.HasPrefix(s, "version:") {
					out = append(out, s)
				}
			}
			_, imports := n.(*ast.ImportSpec)
			return !imports
		})
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// What is said of a policy file of which one line is missing, is there twice, or says something else.
func TestProblemsOfFilesAreWhatTheyWere(t *testing.T) {
	f := golden.Open(t, filepath.Join("testdata", "problems.tsv"))
	lines := strings.Split(strings.TrimSuffix(everything, "\n"), "\n")
	check := func(key string, lines []string) {
		if !f.Due(key) {
			return
		}
		file, err := rules.Parse([]byte(strings.Join(lines, "\n")+"\n"), "p.yaml")
		if err != nil {
			f.Check(key, err.Error())
			return
		}
		e := rules.New(rules.Config{User: file})
		all := fnv.New32a()
		for _, req := range askers {
			fmt.Fprintf(all, "%+v\n", e.Limits(req.Principal))
			for _, command := range []string{"touch /srv/x", "systemctl restart nginx", "ls", "curl -s localhost", "rm -rf /", "sudo ls", "deploy"} {
				req.Command = command
				d, err := e.Decide(t.Context(), req)
				fmt.Fprintf(all, "%s %v\n", inFull(d), err)
			}
		}
		f.Check(key, "it is read: "+strconv.FormatUint(uint64(all.Sum32()), 36))
	}
	check("all of it", lines)
	for i, line := range lines {
		at := fmt.Sprintf("line %d ", i+1)
		check(at+"missing: "+line, slices.Delete(slices.Clone(lines), i, i+1))
		check(at+"twice: "+line, slices.Insert(slices.Clone(lines), i, line))
		key, _, ok := strings.Cut(line, ": ")
		if !ok {
			continue
		}
		for _, value := range []string{"", "x", "'*'", "1", "0", "-1", "1.5", "true", "[]", "[x]", "[1]", "{}", "{a: b}", "null", "1m", "5/m", "0/m", "5/x", "10KiB", "3GiB", "1XiB", "-1s", "'a b'", "[a, a]", "all", "'tier=dev,'", "['**']", "[/a/../b]", "['/srv/**/x']", "['a * b']", "[forbidden]", "['role=agent', 'x/y']", "allow", "touch", "'" + strings.Repeat("y", 300) + "'", "\"a\\nb\""} {
			check(at+key+": "+value, slices.Replace(slices.Clone(lines), i, i+1, key+": "+value))
		}
	}
}

// everything is a policy file with every key.
const everything = `version: 1
rules:
  - name: free
    hosts: "tier=dev"
    principals: ["role=agent"]
    classes: [read-only, write, dangerous, unknown]
    verdict: allow
    reason: "throw-away machines"
    match: ["touch x"]
    not_match: ["sudo ls"]
  - name: restarts
    hosts: "web*"
    principals: [agent/mcp, operator/ada]
    programs: ["systemctl restart *", "deploy"]
    verdict: allow
    match: ["systemctl restart nginx"]
    not_match:
      - systemctl stop nginx
  - name: srv
    hosts: all
    principals: ["*"]
    classes: [write]
    paths: ["/srv/**"]
    verdict: ask
  - name: near
    hosts: all
    principals: ["*"]
    to: [loopback, 10.0.0.0/8, "*.example.com"]
    classes: [network-read]
    verdict: allow
principals:
  - name: agent/mcp
    hosts: "tier=dev"
    tools: [hosts_list, look, run]
    programs: [systemctl, journalctl]
    shell: false
    strict: true
    env: clean
    max_output: 64KiB
    max_timeout: 10m
    rate: 30/m
    daily: 1000
    max_hosts: 20
  - name: role=operator
    max_hosts: 5
approvals:
  proof:
    prod: passphrase
    staging: {dangerous: touch, "*": unproven}
`
