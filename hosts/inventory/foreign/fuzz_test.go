package foreign_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory/foreign"
)

// check holds for whatever a parser returns: an inventory whose names Fairlead can use and whose values it can show, or
// mistakes with their places.
func check(t *testing.T, file string, inv *foreign.Inventory, err error) {
	t.Helper()
	if err != nil {
		list := []error{err}
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			list = joined.Unwrap()
		}
		for _, e := range list {
			var pe *hosts.ParseError
			if !errors.As(e, &pe) || pe.Pos.File != file || strings.ContainsAny(e.Error(), "\n\x1b\x00") {
				t.Fatalf("no place, or not printable: %q", e)
			}
		}
		return
	}
	known, groups := map[string]bool{}, map[string]bool{}
	for _, h := range inv.Hosts {
		if hosts.CheckName(h.Name) != nil || known[h.Name] {
			t.Fatalf("host %q", h.Name)
		}
		known[h.Name] = true
		seen := map[string]bool{}
		for _, f := range h.Fields {
			if seen[f.Name] || f.Refusal == "" && len(f.Values) == 0 && f.Name != "via" || f.Pos.Line == 0 && f.Pos.File != file {
				t.Fatalf("%s: field %+v", h.Name, f)
			}
			seen[f.Name] = true
			for _, v := range f.Values {
				if strings.Contains(v, "{{") && f.Name != "identity" {
					t.Fatalf("%s: a template was taken over: %+v", h.Name, f)
				}
			}
		}
	}
	for _, g := range inv.Groups {
		if hosts.CheckGroup(g.Name) != nil || groups[g.Name] {
			t.Fatalf("group %q", g.Name)
		}
		groups[g.Name] = true
		for _, m := range g.Hosts {
			if !known[m.Name] {
				t.Fatalf("member %q of %q is not a host", m.Name, g.Name)
			}
		}
	}
	for _, g := range inv.Groups {
		for _, c := range g.Children {
			if !groups[c.Name] {
				t.Fatalf("child %q of %q is not a group", c.Name, g.Name)
			}
		}
	}
	for _, n := range inv.Notes {
		if n.Msg == "" || strings.ContainsAny(n.Msg, "\n\x1b\x00") {
			t.Fatalf("note %q", n)
		}
	}
}

func FuzzINI(f *testing.F) {
	for _, s := range []string{
		"a\n[web]\nweb[01:10:2].x:22 ansible_user=u ansible_host='1.2.3.4' # c\n[web:vars]\nansible_port = 22 # x\n[p:children]\nweb\n",
		"[a:children]\nb\n[b:children]\na\n", "x ansible_ssh_common_args='-o ProxyCommand=\"ssh -W %h:%p u@gw\"'", "[::1]:22\n2001:db8::1\n[a:c]", "h a=\"x\\ny\" b=[1, c={{ d }}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		inv, err := foreign.ParseINI("f", data)
		check(t, "f", inv, err)
	})
}

func FuzzYAML(f *testing.F) {
	for _, s := range []string{
		"all:\n  hosts: {a: {ansible_host: 1.2.3.4}, 'b[1:3]': }\n  children: {web: {hosts: b1, vars: &v {ansible_user: u}}, x: {vars: {<<: *v}}}\n",
		"a: &x {children: {b: *x}}", "plugin: x", "a: {hosts: {h: {ansible_port: !vault x, p: [1]}}}", "? [a]\n: b",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		inv, err := foreign.ParseAnsible("f.yml", data)
		check(t, "f.yml", inv, err)
		foreign.LooksAnsible(data)
	})
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"web": {"hosts": ["a"], "vars": {"ansible_user": "u"}, "children": ["x"]}, "x": ["b"], "_meta": {"hostvars": {"a": {"ansible_port": 22}}}}`))
	f.Add([]byte(`{"_meta": {}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		inv, err := foreign.ParseAnsible("f.json", append([]byte(`{"_meta":{},`), data...))
		check(t, "f.json", inv, err)
	})
}

func FuzzVars(f *testing.F) {
	f.Add([]byte("ansible_user: u\nansible_host: '{{ x }}'\nansible_port: 22\n"))
	f.Add([]byte("$ANSIBLE_VAULT;1.1;AES256\n61"))
	f.Fuzz(func(t *testing.T, data []byte) {
		inv, err := foreign.ParseVars("f", data)
		check(t, "f", inv, err)
	})
}

func FuzzClush(f *testing.F) {
	f.Add([]byte("roles:\n  a: 'n[1-3]'\n  b: ['@a', x]\n  c: '@a!n2&@b^q'\n"))
	f.Add([]byte("a: n1 n2,@b\nb: n[01-10/2]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		inv, err := foreign.ParseClush("f", data)
		check(t, "f", inv, err)
	})
}

func FuzzEtcHosts(f *testing.F) {
	f.Add([]byte("10.0.0.1 a b # c\n::1 x\nfe80::1%eth0 z\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.Contains(data, []byte("{{")) {
			return // no template here
		}
		inv, err := foreign.ParseHosts("f", data)
		check(t, "f", inv, err)
	})
}

func FuzzCSV(f *testing.F) {
	f.Add([]byte("name,address,user,port,tier,groups,labels\na,1.2.3.4,u,22,dev,g h,x=y\n"))
	f.Add([]byte("name;addr\n\"a\";b\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.Contains(data, []byte("{{")) {
			return // no template here
		}
		inv, err := foreign.ParseCSV("f", data)
		check(t, "f", inv, err)
	})
}

// Options of ssh become a route or a refusal, and never more than what they say.
func FuzzSSHArgs(f *testing.F) {
	for _, s := range []string{"-J a@b:1,c", `-o ProxyCommand="ssh -W %h:%p x"`, "-p 1 -l u -oPort=2 -C", "-F x", `-oProXYCommAnd="ssh - "`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, args string) {
		set, refused := foreign.SSHArgs(args)
		for field := range set {
			if !slices.Contains([]string{"port", "user", "identity", "via", "connect_timeout"}, field) || refused[field] != "" {
				t.Fatalf("%s: %v %v", field, set, refused)
			}
		}
		for _, hop := range set["via"] {
			if _, ok, err := hosts.ParseAdHoc(hop); (!ok || err != nil) && hosts.CheckName(hop) != nil {
				t.Fatalf("jump host %q", hop)
			}
		}
	})
}

func FuzzRange(f *testing.F) {
	f.Add("web[01:10:2]-[a:c]")
	f.Fuzz(func(t *testing.T, pattern string) {
		names, err := foreign.ExpandRange(pattern, 1000)
		if err == nil && (len(names) == 0 || len(names) > 1000) {
			t.Fatalf("%d names", len(names))
		}
	})
}
