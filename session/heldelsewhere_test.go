package session_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/held"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// agentReads is a session of an agent whose reads are held, on this machine, with a home of its own and more variables.
func agentReads(t *testing.T, home string, env ...string) (*session.Session, *asked) {
	t.Helper()
	file, err := rules.Parse([]byte("version: 1\nprincipals:\n  - {name: role=agent, reads: held}\n"), "policy.yaml")
	require.NoError(t, err)
	host, by := bashHere, &asked{}
	host.Env = append([]string{"HOME=" + home}, env...)
	return holding(t, host, session.Config{Policy: rules.New(rules.Config{User: file}), Principal: "agent/a", Approver: by}), by
}

// listen serves HTTP on a listener, and counts the requests.
func listen(t *testing.T, l net.Listener, answers map[string]string) *atomic.Int64 {
	heard := &atomic.Int64{}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard.Add(1)
		w.Header().Set("Api-Version", "1.41")
		w.Header().Set("Content-Type", "application/json")
		for path, answer := range answers {
			if strings.HasSuffix(r.URL.Path, path) {
				fmt.Fprint(w, answer)
				return
			}
		}
		http.NotFound(w, r)
	})}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return heard
}

// Where the account's variables or files lead docker elsewhere than to the sockets that a held command gets, its answer is the one that it
// always had: the command runs as it is judged, not held, and says so. What would run beside it needs approval.
func TestADockerThatIsElsewhereIsAskedAsEver(t *testing.T) {
	if _, err := exec.LookPath("docker"); err != nil {
		needs.Part(t, "docker is not installed")
	}
	dir, err := os.MkdirTemp("/tmp", "fairlead-docker-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	answers := map[string]string{"/_ping": "OK", "/containers/json": `[{"Id":"0123456789abcdef","Names":["/web"],"Image":"nginx","Command":"nginx","State":"running","Status":"Up"}]`}
	socket := filepath.Join(dir, "socket")
	local, err := net.Listen("unix", socket)
	require.NoError(t, err)
	remote, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	heard, heardFar := listen(t, local, answers), listen(t, remote, answers)
	far := "tcp://" + remote.Addr().String()
	context := filepath.Join(dir, "home")
	for _, args := range [][]string{{"context", "create", "far", "--docker", "host=" + far}, {"context", "use", "far"}} {
		cmd := exec.Command("docker", args...)
		cmd.Env = append(os.Environ(), "HOME="+context, "DOCKER_CONFIG=", "DOCKER_CONTEXT=", "DOCKER_HOST=")
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, string(said))
	}
	for name, c := range map[string]struct {
		home, env, leads string
		asks             *atomic.Int64
	}{
		"another socket":         {dir, "DOCKER_HOST=unix://" + socket, "$DOCKER_HOST", heard},
		"another machine":        {dir, "DOCKER_HOST=" + far, "$DOCKER_HOST", heardFar},
		"a context":              {context, "DOCKER_HOST=", "~/.docker/config.json", heardFar},
		"a context by its name":  {dir, "DOCKER_CONTEXT=far", "$DOCKER_CONTEXT", nil},
		"another configuration":  {dir, "DOCKER_CONFIG=" + context + "/.docker", "$DOCKER_CONFIG", heardFar},
		"nothing":                {dir, "DOCKER_HOST=", "", nil},
		"the socket that it has": {dir, "DOCKER_HOST=unix:///run/docker.sock", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, by := agentReads(t, c.home, c.env)
			r, err := s.Run(t.Context(), session.Command{Script: "docker ps --format '{{.Names}} {{.Image}}'"})
			require.NoError(t, err)
			if c.leads == "" {
				assert.Equal(t, []string{"held", "kernel", ""}, []string{r.Lane, r.Held, r.NotHeld})
				assert.Empty(t, r.Refused, "%s", r.Stderr)
				return
			}
			assert.Equal(t, []string{"session", "no", "", "docker: it asks a service through a socket; it may ask elsewhere there: " + c.leads}, []string{r.Lane, r.Held, r.HeldBy, r.NotHeld})
			assert.Empty(t, by.questions)
			if c.asks == nil {
				return
			}
			assert.Equal(t, "web nginx\n", string(r.Stdout), "%s", r.Stderr)
			assert.Positive(t, c.asks.Load())
			r, err = s.Run(t.Context(), session.Command{Script: "cat /dev/null; docker ps --format '{{.Names}}'"})
			require.NoError(t, err)
			assert.Equal(t, "web\n", string(r.Stdout), "%s", r.Stderr)
			require.Len(t, by.questions, 1)
			assert.Contains(t, by.questions[0].Decision.Reason, "it may ask elsewhere there: "+c.leads)
		})
	}
}

// kubectl asks a cluster over TCP, wherever the account's files say: it runs as it is judged, not held, and says so. Held it is refused exactly
// that connection.
func TestKubectlAsksItsClusterAsEver(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		needs.Part(t, "kubectl is not installed")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	heard := listen(t, l, map[string]string{
		"/version":                        `{"major":"1","minor":"32","gitVersion":"v1.32.4"}`,
		"/api":                            `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis":                           `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
		"/api/v1":                         `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get","list"],"shortNames":["po"]}]}`,
		"/api/v1/namespaces/default/pods": `{"kind":"PodList","apiVersion":"v1","items":[{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-1","namespace":"default"}}]}`,
	})
	home := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(home, ".kube"), 0o700))
	config := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "c", "clusters": [{"name": "c", "cluster": {"server": "http://%s"}}],
"contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}], "users": [{"name": "u", "user": {}}]}`, l.Addr())
	require.NoError(t, os.WriteFile(filepath.Join(home, ".kube", "config"), []byte(config), 0o600))
	s, by := agentReads(t, home)
	r, err := s.Run(t.Context(), session.Command{Script: "kubectl get pods"})
	require.NoError(t, err)
	assert.Contains(t, string(r.Stdout), "web-1", "%s", r.Stderr)
	assert.Equal(t, []string{"session", "no", "", "kubectl: it asks a cluster over the network", "builtin/read-only"}, []string{r.Lane, r.Held, r.HeldBy, r.NotHeld, r.Decision.Rule})
	assert.Empty(t, by.questions)
	before := heard.Load()
	assert.Positive(t, before)
	r, err = s.Run(t.Context(), session.Command{Script: "kubectl get pods", Held: true})
	require.NoError(t, err)
	assert.NotZero(t, *r.ExitCode)
	assert.Contains(t, r.Refused, held.Refusal{Call: "connect", Path: l.Addr().String()})
	assert.Equal(t, before, heard.Load())
}
