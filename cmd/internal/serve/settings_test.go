package serve_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/reach"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/store/storetest"
)

// settings writes config.yaml.
func (p place) settings(t *testing.T, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(p.home, ".config", "fairlead", "config.yaml"), []byte(text), 0o600))
}

func TestWhereTheRecordMustGoAndCannotNothingRuns(t *testing.T) {
	p := newPlace(t)
	p.settings(t, "audit: {sinks: [{exec: [/bin/false], required: always}]}\n")
	c, err := p.dial(t.Context())
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Open(t.Context(), wire.Open{Host: "here"})
	require.ErrorContains(t, err, "cannot anchor at program /bin/false: exit code 1")
	var problem *wire.Problem
	require.ErrorAs(t, err, &problem)
	assert.Equal(t, "audit", problem.Code)
}

func TestTheStoreIsWhereTheSettingsSay(t *testing.T) {
	var postgres storetest.Postgres
	t.Cleanup(postgres.Stop)
	for name, url := range map[string]func(t *testing.T, p place) string{
		"a file":   func(_ *testing.T, p place) string { return filepath.Join(p.home, "elsewhere", "s.db") },
		"Postgres": func(t *testing.T, _ place) string { return postgres.Schema(t) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			where := url(t, p)
			p.settings(t, "store: \""+where+"\"\n")
			c, err := p.dial(t.Context())
			require.NoError(t, err)
			defer c.Close()
			_, err = c.Open(t.Context(), wire.Open{Host: "here"})
			require.NoError(t, err)
			state := filepath.Join(p.home, ".local", "state", "fairlead")
			assert.NoFileExists(t, filepath.Join(state, "store.db"))
			if strings.Contains(where, "://") {
				assert.FileExists(t, filepath.Join(state, "store.key"))
			} else {
				assert.FileExists(t, where)
			}
		})
	}
}

// The keeper sends spans to the collector that the settings name, with the token.
func TestSpansGoWhereTheSettingsSay(t *testing.T) {
	got := make(chan *collector.ExportTraceServiceRequest, 16)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/v1/traces", r.URL.Path)
		assert.Equal(t, "Bearer t0ken", r.Header.Get("Authorization"))
		body, err := gzip.NewReader(r.Body)
		if !assert.NoError(t, err) {
			return
		}
		data, err := io.ReadAll(body)
		assert.NoError(t, err)
		req := &collector.ExportTraceServiceRequest{}
		assert.NoError(t, proto.Unmarshal(data, req))
		got <- req
	}))
	defer server.Close()
	p := newPlace(t)
	token := filepath.Join(p.home, "token")
	require.NoError(t, os.WriteFile(token, []byte("t0ken\n"), 0o600))
	p.settings(t, "otlp: {url: \""+server.URL+"\", token_file: \""+token+"\"}\n")
	c, err := p.dial(t.Context())
	require.NoError(t, err)
	defer c.Close()
	s, err := c.Open(t.Context(), wire.Open{Host: "here"})
	require.NoError(t, err)
	const secret = "hunter2"
	r, err := c.Run(t.Context(), s.ID, wire.Run{Command: "echo " + secret + "; exit 3"}, "")
	require.NoError(t, err)
	require.NoError(t, reach.Stop(t.Context(), p.places)) // which sends what is left

	for {
		select {
		case req := <-got:
			for _, span := range spansOf(t, req) {
				if span["fairlead.exec"] == r.Exec {
					assert.Equal(t, "fairlead.command", span["name"])
					assert.Equal(t, "here", span["fairlead.host"])
					assert.Equal(t, "3", span["process.exit.code"])
					assert.Equal(t, "fairlead", span["service.name"])
					assert.NotContains(t, prototext.Format(req), secret)
					return
				}
			}
		case <-t.Context().Done():
			t.Fatal("no span came for the command")
		}
	}
}

// spansOf are the spans of a request: name and attributes, with those of the resource.
func spansOf(t *testing.T, req *collector.ExportTraceServiceRequest) (all []map[string]string) {
	t.Helper()
	text := func(kvs []*common.KeyValue, into map[string]string) {
		for _, kv := range kvs {
			switch v := kv.GetValue().GetValue().(type) {
			case *common.AnyValue_StringValue:
				into[kv.GetKey()] = v.StringValue
			case *common.AnyValue_IntValue:
				into[kv.GetKey()] = strconv.FormatInt(v.IntValue, 10)
			}
		}
	}
	for _, rs := range req.GetResourceSpans() {
		for _, ss := range rs.GetScopeSpans() {
			for _, s := range ss.GetSpans() {
				span := map[string]string{"name": s.GetName()}
				text(rs.GetResource().GetAttributes(), span)
				text(s.GetAttributes(), span)
				all = append(all, span)
			}
		}
	}
	return all
}

func TestSettingsThatAreWrongAreToldByWhoWantedAKeeper(t *testing.T) {
	p := newPlace(t)
	p.settings(t, "notify: [{webhook: \"http://example.com/\", secret_file: /x}]\n")
	_, err := p.dial(t.Context())
	require.ErrorContains(t, err, "config.yaml:1: notify: webhook must begin with https://")
}
