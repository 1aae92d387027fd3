package rules_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

func TestARulesTextsHaveLimits(t *testing.T) {
	many := func(n int, each string) string { return strings.Repeat(each, n) }
	for name, tt := range map[string]struct{ text, want string }{
		"a reason of 500 bytes":   {rule("a", "ask", "classes: [write], reason: "+many(500, "x")), ""},
		"a reason of 501 bytes":   {rule("a", "ask", "classes: [write], reason: "+many(501, "x")), "reason: must be one line of at most 500 bytes"},
		"a reason of two lines":   {rule("a", "ask", `classes: [write], reason: "a\nb"`), "reason: must be one line"},
		"a reason with a tab":     {rule("a", "ask", `classes: [write], reason: "a\tb"`), "reason: must be one line"},
		"a reason with a return":  {rule("a", "ask", `classes: [write], reason: "a\rb"`), "reason: must be one line"},
		"a reason that is a list": {rule("a", "ask", "classes: [write], reason: [a]"), "reason: expected a single value"},
		"hosts that are a list":   {"  - {name: a, hosts: [web1, '@db'], classes: [write], verdict: ask}\n", `hosts: is one selector and no list: write its parts in one text, as in hosts: "web1,@db"`},
		"an example of 4 KiB":     {rule("a", "ask", "classes: [read-only], match: ['ls "+many(4096-3, "x")+"']"), ""},
		"a longer example":        {rule("a", "ask", "classes: [read-only], match: ['ls "+many(4096-2, "x")+"']"), "match: the example is longer than 4096 bytes"},
		"200 examples":            {rule("a", "ask", "classes: [dangerous], match: ["+many(100, "systemctl stop x,")+"], not_match: ["+many(100, "ls,")+"]"), ""},
		"201 examples":            {rule("a", "ask", "classes: [dangerous], match: ["+many(100, "systemctl stop x,")+"], not_match: ["+many(101, "ls,")+"]"), "more than 200 examples in one rule"},
		"no examples":             {rule("a", "ask", "classes: [read-only], match: ls"), "match: expected a list"},
		"a program with a quote":  {rule("a", "ask", `programs: ["a'b"]`), "is literal words without quotes or shell syntax"},
		"a program that climbs":   {rule("a", "ask", "programs: [/bin/../x]"), "must name a program by its bare name or its clean absolute path"},
		"a program below":         {rule("a", "ask", "programs: [bin/x]"), "must name a program by its bare name or its clean absolute path"},
		"a program of nothing":    {rule("a", "ask", "programs: [' ']"), ""},
	} {
		_, err := rules.Parse([]byte("version: 1\nrules:\n"+tt.text), "p")
		switch {
		case name == "a program of nothing":
			assert.Error(t, err)
		case tt.want == "":
			assert.NoError(t, err, name)
		default:
			assert.ErrorContains(t, err, tt.want, name)
		}
	}
	for n, want := range map[int]string{1000: "", 1001: "rules: more than 1000 of them"} {
		var b strings.Builder
		for i := range n {
			b.WriteString(rule(fmt.Sprint("r", i), "ask", "classes: [write]"))
		}
		_, err := rules.Parse([]byte("version: 1\nrules:\n"+b.String()), "p")
		if want == "" {
			assert.NoError(t, err)
		} else {
			assert.ErrorContains(t, err, want)
		}
	}
}

func TestPrincipalsAreNamesRolesOrAll(t *testing.T) {
	for who, good := range map[string]bool{
		"*": true, "role=agent": true, "role=operator": true, "role=program": true, "agent/a": true, "operator/ada": true, "program/ci-1": true,
		"agent": false, "agent/": false, "/a": false, "role=": false, "role=root": false, "root/a": false, "agent/*": false, "agent/a?": false, "agent/a/b": false, "agent/a b": false, "agent/a,b": false, "a": false, "**": false, "program": false,
	} {
		_, err := rules.Parse([]byte("version: 1\nrules:\n  - {name: a, hosts: all, principals: ['"+who+"'], classes: [write], verdict: ask}\n"), "p")
		assert.Equal(t, good, err == nil, "%q: %v", who, err)
		_, err = rules.Parse([]byte("version: 1\nprincipals:\n  - {name: '"+who+"', daily: 1}\n"), "p")
		assert.Equal(t, good, err == nil, "%q: %v", who, err)
	}
}

// What is written as a limit is that limit; everything else is one mistake.
func TestEveryLimitIsReadAsItIsWritten(t *testing.T) {
	for text, want := range map[string]rules.Limits{
		"max_output: 1": {MaxOutput: 1}, "max_output: 64KiB": {MaxOutput: 64 << 10}, "max_output: 2 MiB": {MaxOutput: 2 << 20}, "max_output: 3GiB": {MaxOutput: 3 << 30},
		fmt.Sprint("max_output: ", math.MaxInt64): {MaxOutput: math.MaxInt64}, "max_output: 8589934591GiB": {MaxOutput: 8589934591 << 30},
		"max_timeout: 1ns": {MaxTimeout: 1}, "max_timeout: 1h30m": {MaxTimeout: 90 * time.Minute},
		"rate: 1/s": {Rate: 1, RatePer: time.Second}, "rate: 30/m": {Rate: 30, RatePer: time.Minute}, "rate: 2147483647/h": {Rate: math.MaxInt32, RatePer: time.Hour},
		"daily: 0": {}, "daily: 2147483647": {Daily: math.MaxInt32}, "max_hosts: 0": {}, "max_hosts: 3": {MaxHosts: 3},
		"shell: true": {}, "shell: false": {NoShell: true}, "strict: true": {Strict: true}, "strict: false": {}, "env: clean": {CleanEnv: true}, "env: host": {}, "reads: held": {HeldReads: true}, "reads: judged": {},
		"tools: []": {Tools: []string{}}, "tools: [run, look]": {Tools: []string{"run", "look"}}, "programs: []": {Programs: []string{}}, "programs: [ls, '[']": {Programs: []string{"ls", "["}},
	} {
		e := rules.New(rules.Config{User: limits(t, "  - {name: operator/a, "+text+"}\n")})
		assert.Equal(t, want, e.Limits("operator/a"), text)
	}
	for _, text := range []string{
		"max_output: 0", "max_output: -1", "max_output: KiB", "max_output: 1KiBKiB", "max_output: x", "max_output: 8589934592GiB", "max_output: 9223372036854775808", "max_output: -1KiB", "max_output: [1]",
		"max_timeout: 0s", "max_timeout: -1s", "max_timeout: 1", "max_timeout: x", "max_timeout: [1s]", "rate: 0/s", "rate: 1", "rate: 1/d", "rate: x/s", "rate: -1/s", "rate: 2147483648/s", "rate: 1/s/m", "rate: [1/s]",
		"daily: x", "daily: -1", "daily: 2147483648", "daily: [1]", "max_hosts: {a: b}", "shell: [true]", "shell: yes", "strict: 1", "env: x", "reads: x", "reads: [held]", "reads: true", "env: [clean]", "tools: run", "tools: ['a b']", "tools: {}", "programs: [/bin/ls]", "hosts: [all]", "hosts: 'web['",
	} {
		_, err := rules.Parse([]byte("version: 1\nprincipals:\n  - {name: operator/a, "+text+"}\n"), "p")
		require.Error(t, err, text)
		assert.Len(t, err.(interface{ Unwrap() []error }).Unwrap(), 1, "%s: %v", text, err)
		assert.ErrorContains(t, err, "p:3: "+text[:strings.IndexByte(text, ':')], text)
	}
	_, err := rules.Parse([]byte("version: 1\nprincipals: {name: agent/a, daily: 1}\n"), "p")
	assert.ErrorContains(t, err, "principals: expected a list")
	e := rules.New(rules.Config{User: limits(t, "  - {name: operator/a, daily: 1}\n  - {name: role=operator, daily: 2}\n  - {name: '*', daily: 3}\n")})
	for who, want := range map[string]int{"operator/a": 1, "operator/b": 2, "program/a": 3} {
		assert.Equal(t, want, e.Limits(who).Daily, who)
	}
}

// An example that fails says which condition of the rule keeps it from standing for the command.
func TestAnExampleSaysWhyItDoesNotMatch(t *testing.T) {
	for _, tt := range []struct{ conditions, command, want string }{
		{"classes: [write]", "ls", "it is read-only, which is not one of the rule's classes"},
		{"classes: [write], paths: ['/srv/**']", "ls", "it is read-only, which is not one of the rule's classes"},
		{"classes: [write], paths: ['/srv/**']", "touch /tmp/x", "it writes outside the rule's paths, or names no file that it writes"},
		{"paths: ['/srv/**']", "touch /tmp/x", "it writes outside the rule's paths, or names no file that it writes"},
		{"paths: ['/srv/**']", "deploy", "it is unknown, which the rule covers only if classes name it"},
		{"classes: [unknown], paths: ['/srv/**']", "deploy", "it is unknown, and paths say too little about unknown programs"},
		{"paths: ['/srv/**']", "sudo ls", "it is privileged, which the rule covers only if classes name it"},
		{"paths: ['/srv/**']", "rm -rf /", "it is forbidden, which the rule covers only if classes name it"},
		{"classes: [write, dangerous], paths: ['/srv/**']", "touch -d $(systemctl stop x) /srv/x", "it runs another command, and paths say too little about such ones"},
		{"paths: ['/srv/**']", "curl -s example.com", "it is network-read, which the rule covers only if classes name it"},
		{"paths: ['/srv/**']", "cat /etc/shadow", "it is sensitive-read, which the rule covers only if classes name it"},
		{"programs: ['deploy *']", "deploy >x", "programs match simple commands only, without assignments and redirects to files"},
		{"programs: ['deploy *']", "A=b deploy", "programs match simple commands only, without assignments and redirects to files"},
		{"programs: ['deploy *']", "other", "it is not one of the rule's programs"},
		{"programs: ['deploy *']", "deploy; other", "it is not one of the rule's programs"},
		{"programs: ['deploy *'], classes: [write]", "other", "it is not one of the rule's programs"},
		{"programs: ['deploy *'], classes: [write]", "deploy", "it is unknown, which is not one of the rule's classes"},
		{"programs: ['deploy *'], classes: [write]", "deploy >x", "programs match simple commands only, without assignments and redirects to files"},
		{"programs: ['deploy *', 'touch *'], classes: [write]", "touch x; deploy", "it is unknown, which is not one of the rule's classes"},
		{"programs: ['sudo *'], classes: [write]", "sudo ls", "it is privileged, which is not one of the rule's classes"},
		{"programs: ['rm *']", "rm -rf /", "it is forbidden, which the rule covers only if classes name it"},
		{"programs: ['deploy *'], classes: [privileged]", "sudo rm -rf /", "it is not one of the rule's programs"},
		{"programs: ['touch *'], paths: ['/srv/**']", "touch /tmp/x", "it writes outside the rule's paths, or names no file that it writes"},
		{"to: [loopback]", "touch x", "it is write, which the rule covers only if classes name it"},
		{"to: [loopback]", "ls", "it is read-only, which the rule covers only if classes name it"},
		{"classes: [network-read, read-only], to: [loopback]", "ls", "it connects to no address that Fairlead knows"},
		{"to: [loopback]", "curl -s localhost 10.0.0.1", "it connects to 10.0.0.1, which is not one of the rule's addresses"},
		{"to: [loopback]", "curl -sL localhost", "Fairlead cannot determine all addresses that it connects to"},
		{"to: [0.0.0.0/0]", "curl -s 169.254.169.254", "it reads a metadata service, which the rule covers only if classes name sensitive-read"},
		{"classes: [network-read]", "curl -s 169.254.169.254", "it reads a metadata service, which the rule covers only if classes name sensitive-read"},
		{"classes: [network-read, write], to: [loopback]", "touch x; curl -s localhost", "a part of it connects to no address"},
		{"classes: [forbidden]", "'ls \x7f'", ""},
	} {
		_, err := rules.Parse([]byte("version: 1\nrules:\n"+rule("r", "allow", tt.conditions+", match: ["+`"`+tt.command+`"`+"]")), "p")
		if tt.want == "" {
			assert.Error(t, err)
			continue
		}
		assert.ErrorContains(t, err, "does not match: "+tt.want, "%s: %s", tt.conditions, tt.command)
		if err != nil {
			assert.True(t, strings.HasSuffix(err.Error(), tt.want), "%s: %v", tt.command, err)
		}
	}
	_, err := rules.Parse([]byte("version: 1\nrules:\n"+rule("r", "allow", "paths: ['/srv/app/**'], match: [touch x], not_match: [touch ../x]")), "p")
	assert.NoError(t, err, "an example runs below the first path")
	for _, verdict := range []string{"ask", "deny"} {
		_, err = rules.Parse([]byte("version: 1\nrules:\n"+rule("r", verdict, "programs: ['curl *'], match: ['ls; curl x'], not_match: ['$x']")), "p")
		assert.NoError(t, err)
	}
	_, err = rules.Parse([]byte("version: 1\nrules:\n"+rule("r", "allow", "programs: ['curl *'], not_match: ['ls; curl x']")), "p")
	assert.NoError(t, err)
}
