package main_test

import (
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cli"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// accepted is everything that Fairlead reads by a name, as "kind<TAB>name", from what reads it.
func accepted(t *testing.T) []string {
	t.Helper()
	all := map[string]bool{}
	add := func(kind, name string) { all[kind+"\t"+name] = true }
	flags(cli.NewRoot(&cmdutil.Factory{IO: iostreams.System(os.Getenv), Getenv: os.Getenv}), func(name string) { add("flag", name) })
	for _, k := range sshconfig.Keywords() {
		add("ssh_config", k)
	}
	fileKeys(t, "../../hosts/inventory", func(name string) { add("inventory", name) })
	fileKeys(t, "../../session/policy/rules", func(name string) { add("policy", name) })
	fileKeys(t, "../internal/config", func(name string) { add("config", name) })
	fileKeys(t, "../../audit/sinks", func(name string) { add("config", name) })
	variables(t, func(name string) { add("env", name) })
	dir, _ := fairleadtest.KeeperHome(t)
	self := fairleadtest.Program(t, dir)
	inventory := filepath.Join(dir, "inventory.yaml")
	require.NoError(t, os.WriteFile(inventory, []byte("version: 1\nhosts: [{name: here, transport: local}]\n"), 0o600))
	routes(t, self, dir, func(name string) { add("api", name) })
	tools(t, self, dir, func(name string) { add("mcp", name) })
	out := make([]string, 0, len(all))
	for item := range all {
		out = append(out, item)
	}
	slices.Sort(out)
	return out
}

// flags are those of a command and all below it, hidden ones too.
func flags(cmd *cobra.Command, add func(string)) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			add(cmd.CommandPath() + " --" + f.Name)
		}
	})
	for _, c := range cmd.Commands() {
		flags(c, add)
	}
}

// fileKeys are the keys that a package reads from a file. Its readers name them in calls of mapping, settings and Fields, in
// maps of readers, and in three lists.
func fileKeys(t *testing.T, dir string, add func(string)) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				fun, ok := n.Fun.(*ast.SelectorExpr)
				if ok && slices.Contains([]string{"mapping", "settings", "Fields"}, fun.Sel.Name) && len(n.Args) > 2 {
					if where, ok := text(n.Args[1]); ok {
						where = strings.TrimPrefix(where, "a ")
						for _, a := range n.Args[2:] {
							if key, ok := text(a); ok {
								add(where + "." + key)
							}
						}
					}
				}
			case *ast.CompositeLit:
				if m, ok := n.Type.(*ast.MapType); ok {
					if v, ok := m.Value.(*ast.Ident); ok && v.Name == "reader" {
						for _, e := range n.Elts {
							key, _ := text(e.(*ast.KeyValueExpr).Key)
							add(strings.TrimSuffix(filepath.Base(name), ".go") + "." + key)
						}
					}
				}
			case *ast.ValueSpec:
				if list := n.Names[0].Name; len(n.Values) == 1 && slices.Contains([]string{"fields", "sections", "keys", "credentialKeys"}, list) {
					ast.Inspect(n.Values[0], func(e ast.Node) bool {
						switch e := e.(type) {
						case *ast.KeyValueExpr:
							if id, ok := e.Key.(*ast.Ident); ok && id.Name != "name" {
								return false // of a field only its name is one
							}
						case *ast.BasicLit, *ast.Ident:
							key, ok := text(e.(ast.Expr))
							if id, is := e.(*ast.Ident); is && id.Name == "labels" {
								key, ok = id.Name, true
							}
							if ok {
								add(map[string]string{"fields": "host", "sections": "file", "keys": "audit.sinks", "credentialKeys": "credentials"}[list] + "." + key)
							}
						}
						return true
					})
				}
			}
			return true
		})
	}
}

func text(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

var (
	asked    = regexp.MustCompile(`(?i)(?:getenv|lookupenv|env\.get)\w*\("([A-Z][A-Z0-9_]*)"\)`)
	variable = regexp.MustCompile(`"((?:FAIRLEAD|XDG|SSH|NO)_[A-Z_]+)"`)
	forTests = regexp.MustCompile(`/\w+test/`) // the directory of a package that only tests import, as sessiontest
)

// variables are the names of environment variables in the program's own sources.
func variables(t *testing.T, add func(string)) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || forTests.MatchString(path) {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, re := range []*regexp.Regexp{asked, variable} {
			for _, m := range re.FindAllSubmatch(data, -1) {
				add(string(m[1]))
			}
		}
		return nil
	})
	require.NoError(t, err)
}

// routes are the parameters and the bodies' fields of every route that the keeper's own document describes, and its headers.
func routes(t *testing.T, self, dir string, add func(string)) {
	t.Helper()
	for _, name := range wire.Headers {
		add("header " + name)
	}
	cmd := exec.CommandContext(t.Context(), self, "-i", filepath.Join(dir, "inventory.yaml"), "exec", "-s", "s", "here", "--", "true")
	cmd.Env = []string{"HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "PATH=" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(dir, "fairlead", "keeper.sock"))
	}}}
	defer client.CloseIdleConnections()
	resp, err := client.Get("http://localhost/openapi.json")
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, In string }
			Body       struct {
				Content map[string]struct{ Schema fairleadtest.Schema }
			} `json:"requestBody"`
		}
		Components struct {
			Schemas map[string]fairleadtest.Schema
		}
	}
	require.NoError(t, json.Unmarshal(data, &doc))
	require.NotEmpty(t, doc.Paths)
	for path, item := range doc.Paths {
		for method, op := range item {
			route := strings.ToUpper(method) + " " + path + " "
			for _, p := range op.Parameters {
				if p.In != "path" {
					add(route + p.In + " " + p.Name)
				}
			}
			for _, c := range op.Body.Content {
				c.Schema.Names(doc.Components.Schemas, route+"body ", add)
			}
		}
	}
}

// tools are the arguments of every tool of the MCP server.
func tools(t *testing.T, self, dir string, add func(string)) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), self, "-i", filepath.Join(dir, "inventory.yaml"), "--keeper", "off", "mcp")
	cmd.Env = []string{"HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "PATH=" + os.Getenv("PATH")}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	connected, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	require.NoError(t, err)
	defer connected.Close()
	list, err := connected.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.NotEmpty(t, list.Tools)
	for _, tool := range list.Tools {
		data, err := json.Marshal(tool.InputSchema)
		require.NoError(t, err)
		var s fairleadtest.Schema
		require.NoError(t, json.Unmarshal(data, &s))
		s.Names(nil, tool.Name+" ", add)
	}
}
