package main_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
)

const module = "github.com/fairlead-ssh/fairlead/"

// pkg is what "go list" says about a package.
type pkg struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string
	Module     *struct{ Path string }
}

// list runs "go list" over packages of this module.
func list(t *testing.T, args ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Standard,Imports,Deps,Module"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	var all []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p pkg
		require.NoError(t, dec.Decode(&p))
		all = append(all, p)
	}
	return all
}

// graph has every package of this module by its path, for which go list runs once.
var graph map[string]pkg

// one returns a package of this module.
func one(t *testing.T, name string) pkg {
	t.Helper()
	if graph == nil {
		graph = map[string]pkg{}
		for _, p := range list(t, module+"...") {
			graph[p.ImportPath] = p
		}
	}
	require.Contains(t, graph, module+name)
	return graph[module+name]
}

// ours returns the packages of this module among paths, without the module's name.
func ours(paths []string) (rel []string) {
	for _, p := range paths {
		if r, ok := strings.CutPrefix(p, module); ok {
			rel = append(rel, r)
		}
	}
	return rel
}

// The picture of the tree, as a test: for each package, the packages of ours that it may reach, directly or not.
func TestArrowsPointOneWay(t *testing.T) {
	const inSSH = "session/sshconn/internal/"
	ssh := []string{"audit/procgroup", "session/internal/tty", "hosts/sshconfig", "hosts/knownhosts", "hosts/trustedfile", inSSH + "allowed", inSSH + "clock", inSSH + "hostkeys", inSSH + "keyring", inSSH + "stamp", "session/sshconn/privatekey"}
	near := []string{"hosts", "hosts/internal/near", "hosts/lazyregexp", "hosts/printable", "hosts/wildcard"}
	core := append(near, "audit", "framing", "framing/hostcode", "session/become", "session/policy", "session/held", "session/id", "session/internal/capture", "session/internal/ctxerr", "session/internal/lacking", "session/internal/seam",
		"session/internal/signum", "session/internal/terminalread", "session/screen")
	for name, may := range map[string][]string{
		"framing":                       {"framing/hostcode"},
		"framing/hostcode":              {},
		"audit":                         nil,
		"hosts":                         {"hosts/internal/near", "hosts/lazyregexp", "hosts/printable", "hosts/wildcard"},
		"hosts/lazyregexp":              {},
		"hosts/printable":               {},
		"hosts/sshconfig":               append(near, "audit/procgroup"),
		"hosts/knownhosts":              near,
		"hosts/inventory":               append(near, "audit/procgroup", "hosts/strictyaml", "hosts/trustedfile", "hosts/sshconfig", "hosts/inventory/foreign"),
		"hosts/inventory/foreign":       append(near, "audit/procgroup", "hosts/strictyaml", "hosts/trustedfile", "hosts/sshconfig"),
		"hosts/strictyaml":              {"hosts/lazyregexp", "hosts/printable"},
		"hosts/trustedfile":             {},
		"session/policy":                append(near, "framing/hostcode"),
		"session":                       core,
		"session/policy/programs":       append(near, "framing/hostcode", "session/policy"),
		"session/policy/parse":          {},
		"session/internal/capture":      {},
		"session/internal/signum":       {},
		"session/internal/terminalread": {"framing/hostcode", "hosts/lazyregexp"},
		"session/become":                append(near, "framing", "framing/hostcode"),
		"session/held":                  append(near, "framing/hostcode"),
		"session/policy/judge":          append(near, "framing/hostcode", "session/policy", "session/policy/parse", "session/policy/programs"),
		"session/policy/rules":          append(near, "framing/hostcode", "session/held", "hosts/strictyaml", "hosts/trustedfile", "session/policy", "session/policy/judge", "session/policy/parse", "session/policy/programs"),
		"session/approval":              append(near, "framing/hostcode", "session/id", "session/policy", "session/approval/sshsig"),
		"session/approval/sshsig":       {},
		"session/id":                    {},
		"session/store":                 {"session/id"},
		"session/internal/hostfs":       append(core, "session", "session/internal/fileplan"),
		"session/files":                 append(core, "session", "session/internal/fileplan", "session/internal/hostfs"),
		"session/telemetry":             append(core, "session"),
		"session/rollout":               append(core, "session"),
		"session/template":              append(near, "framing", "framing/hostcode"),
		"session/dialer": append(append(core, ssh...),
			"session", "session/localpty", "session/sshconn", "session/sessiontest/sshserver"),
		"session/copies":   append(core, "session", "session/files", "session/internal/fileplan", "session/internal/hostfs"),
		"session/filework": append(core, "session", "session/files", "session/internal/fileplan", "session/internal/hostfs", "session/registry", "session/rollout", "session/output", "session/redact", "session/screen"),
		"session/jobs":     append(core, "session"),
		"session/jobwork":  append(core, "session", "session/jobs", "session/registry", "session/rollout", "session/output", "session/redact", "session/screen"),
		"session/sandbox":  append(core, "session", "session/policy/judge", "session/policy/parse", "session/policy/programs"),
		"session/registry": append(core, "session", "session/output", "session/redact", "session/rollout", "session/screen"),
		"audit/sinks":      {"audit", "audit/procgroup"},
		"audit/procgroup":  {},
		"session/redact":   {"hosts/lazyregexp"},
		"session/output":   {},
		"session/screen":   {"hosts/printable"},
		"session/localpty": append(core, "session", "session/internal/tty"),
		"session/sshconn":  append(append(core, ssh...), "session"),
		inSSH + "allowed":  append(near, "audit/procgroup", "hosts/sshconfig", "hosts/knownhosts"),
		inSSH + "clock":    {},
		inSSH + "hostkeys": append(near, "audit/procgroup", "hosts/sshconfig", "hosts/knownhosts", "hosts/trustedfile", inSSH+"allowed", inSSH+"clock", inSSH+"keyring", inSSH+"stamp", "session/sshconn/privatekey"),
		inSSH + "keyring":  append(near, "audit/procgroup", "hosts/sshconfig", "hosts/knownhosts", "hosts/trustedfile", inSSH+"allowed", inSSH+"clock", inSSH+"stamp", "session/sshconn/privatekey"),
		inSSH + "stamp":    {},

		"session/sshconn/privatekey": {"hosts/printable"},

		"cmd/internal/oracle/proof": append(near, "framing/hostcode", "session/policy", "session/policy/judge", "session/policy/parse", "session/policy/programs"),
	} {
		t.Run(name, func(t *testing.T) {
			for _, dep := range ours(one(t, name).Deps) {
				assert.Contains(t, may, dep, "%s must not reach it", name)
			}
		})
	}
}

// The keeper is put together from parts: none of them reaches the keeper, and the parts below reach none of those above.
func TestThePartsOfTheKeeperPointOneWay(t *testing.T) {
	const keeper = "cmd/internal/keeper"
	for name, may := range map[string][]string{
		"wire":       {},
		"right":      {},
		"listen":     {},
		"events":     {"wire"},
		"reach":      {"client", "listen", "problem", "wire"},
		"params":     {"access", "client", "limit", "listen", "page", "problem", "right", "route", "stream", "wire"},
		"runs":       {"access", "bodies", "client", "connect", "limit", "listen", "livepolicy", "onlyonce", "page", "params", "problem", "realm", "right", "route", "stream", "wire"},
		"terminal":   {"access", "client", "connect", "limit", "listen", "livepolicy", "page", "params", "problem", "realm", "right", "route", "stream", "wire"},
		"watch":      {"access", "client", "connect", "limit", "listen", "livepolicy", "page", "params", "problem", "realm", "right", "route", "stream", "terminal", "wire"},
		"boxes":      {"access", "client", "connect", "events", "limit", "listen", "livepolicy", "page", "params", "problem", "realm", "right", "route", "sandboxed", "stream", "wire"},
		"realm":      {"access", "client", "connect", "listen", "livepolicy", "problem", "right", "wire"},
		"problem":    {"client", "wire"},
		"livepolicy": {},
		"connect":    {},
		"limit":      {"client", "wire"},
		"access":     {"client", "listen", "problem", "right", "wire"},
		"auditlog":   {"access", "client", "limit", "listen", "page", "problem", "right", "route", "stream", "wire"},
		"bodies":     {"client", "problem", "wire"},
		"onlyonce":   {"client", "problem", "wire"},
		"casts":      {"access", "client", "limit", "listen", "page", "problem", "right", "route", "stream", "wire"},
		"stream":     {"access", "client", "listen", "problem", "right", "wire"},
		"sandboxed":  {"access", "client", "listen", "problem", "right", "wire"},
		"route":      {"access", "client", "limit", "listen", "page", "problem", "right", "stream", "wire"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, dep := range ours(one(t, keeper+"/"+name).Deps) {
				if dep == keeper {
					t.Errorf("%s must not reach the keeper itself", name)
				} else if part, ok := strings.CutPrefix(dep, keeper+"/"); ok {
					assert.Contains(t, may, part, "%s must not reach it", name)
				}
			}
		})
	}
}

func TestFramingAndAuditImportOnlyTheStandardLibrary(t *testing.T) {
	for _, p := range list(t, "-deps", module+"framing", module+"audit") {
		assert.True(t, p.Standard || strings.HasPrefix(p.ImportPath, module), p.ImportPath)
	}
}

func TestSessionKnowsNothingOfSSHAndCommandLines(t *testing.T) {
	for _, p := range list(t, "-deps", module+"session") {
		for _, not := range []string{"golang.org/x/crypto/ssh", "github.com/spf13/", "net/http", "database/sql", "log/slog", "go.opentelemetry.io/", "github.com/prometheus/"} {
			assert.False(t, strings.HasPrefix(p.ImportPath, not), "session must not reach %s", p.ImportPath)
		}
	}
}

// What is at the top of the tree is fixed: everything else has its place inside.
func TestTheTopLevelIsFixed(t *testing.T) {
	top, err := os.ReadDir("../..")
	require.NoError(t, err)
	for _, e := range top {
		if !strings.HasPrefix(e.Name(), ".") {
			assert.Contains(t, []string{"cmd", "hosts", "session", "framing", "audit", "inventory.example.yaml", "go.mod", "go.sum", "README.md", "LICENSE"}, e.Name())
		}
	}
}

func TestNothingImportsCommands(t *testing.T) {
	for _, p := range list(t, module+"...") {
		for _, dep := range ours(p.Imports) {
			if strings.HasPrefix(dep, "cmd/") {
				assert.True(t, strings.HasPrefix(p.ImportPath, module+"cmd/"), "%s imports %s", p.ImportPath, dep)
			}
		}
	}
}

// maxModules is how many modules, outside of the standard library and golang.org/x, a program links that embeds sessions.
const maxModules = 8

func TestEmbeddingStaysLight(t *testing.T) {
	var modules []string
	for _, p := range list(t, "-deps", module+"session", module+"session/sshconn", module+"session/localpty") {
		for _, not := range []string{"github.com/spf13/", "net/http", "database/sql", "go.opentelemetry.io/", "github.com/prometheus/"} {
			assert.False(t, strings.HasPrefix(p.ImportPath, not), "it must not link %s", p.ImportPath)
		}
		if p.Standard || p.Module == nil || strings.HasPrefix(p.Module.Path, "golang.org/x/") || strings.HasPrefix(p.ImportPath, module) {
			continue
		}
		if !slices.Contains(modules, p.Module.Path) {
			modules = append(modules, p.Module.Path)
		}
	}
	t.Logf("a program with session, sshconn and localpty links %d modules outside std and golang.org/x: %s",
		len(modules), strings.Join(modules, ", "))
	assert.LessOrEqual(t, len(modules), maxModules)
}

func TestEmbeddablePackagesCompileForWindows(t *testing.T) {
	fairleadtest.NotWithTheDetector(t)
	t.Parallel()
	cmd := exec.Command("go", "build", module+"framing/...", module+"audit/...", module+"hosts/...", module+"session/...")
	cmd.Env = append(os.Environ(), "GOOS=windows", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	assert.NoError(t, err, "GOOS=windows go build:\n%s", out)
}

// A package with more files than somebody keeps in mind is several.
func TestNoPackageHasMoreThanFortyFiles(t *testing.T) {
	files := map[string]int{}
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			files[filepath.Dir(path)]++
		}
		return err
	}))
	require.NotEmpty(t, files)
	for dir, n := range files {
		assert.LessOrEqual(t, n, 40, "files of %s", dir)
	}
}
