package otlp

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestWhatACollectorDoesNotTakeIsReportedWithoutItsURL(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusForbidden)
	}))
	defer server.Close()
	var texts []string
	p, err := Open(t.Context(), Config{URL: server.URL + "/secret-path"}, "test", func(text string) { texts = append(texts, text) })
	require.NoError(t, err)
	_, span := p.Tracer("test").Start(t.Context(), "x")
	span.End()
	require.NoError(t, p.Close())
	assert.EqualValues(t, 1, asked.Load(), "a refusal is not tried again")
	require.Len(t, texts, 1)
	assert.Contains(t, texts[0], "otlp: the collector did not take the last spans: ")
	assert.NotContains(t, texts[0], "secret-path")
}

// What OpenTelemetry's libraries read from the environment changes nothing: the settings say all.
func TestTheEnvironmentChangesNothing(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it went elsewhere") }))
	defer elsewhere.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", elsewhere.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", elsewhere.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-from-environment=1")
	t.Setenv("OTEL_TRACES_SAMPLER", "always_off")
	t.Setenv("OTEL_SERVICE_NAME", "other")
	got := make(chan http.Header, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Header }))
	defer server.Close()
	p, err := Open(t.Context(), Config{URL: server.URL}, "test", func(text string) { t.Error(text) })
	require.NoError(t, err)
	_, span := p.Tracer("test").Start(t.Context(), "x")
	span.End()
	require.NoError(t, p.Close())
	assert.Empty(t, (<-got).Get("X-From-Environment"))
}

func TestATokenThatOthersCanReadIsRefused(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte("x"), 0o644))
	_, err := Open(t.Context(), Config{URL: "https://127.0.0.1:1", TokenFile: token}, "test", nil)
	assert.ErrorContains(t, err, "token_file: other accounts may read")
	_, err = Open(t.Context(), Config{URL: "https://127.0.0.1:1", CAFile: token}, "test", nil)
	assert.ErrorContains(t, err, "ca_file: ")
}

func TestAURLIsChecked(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "it needs url",
		"collector:4318":                "url must be a URL",
		"https://":                      "url must be a URL",
		"https://u:p@h/":                "must not hold a password",
		"https://h/?a=b":                "must end with its path",
		"http://10.0.0.1:4318":          "must begin with https://",
		"ftp://h":                       "must begin with https://",
		"http://127.0.0.1:4318":         "",
		"http://[::1]:4318/v1/traces":   "",
		"http://localhost:4318":         "",
		"https://collector.example.com": "",
	} {
		err := Config{URL: text}.Check()
		if want == "" {
			assert.NoError(t, err, text)
		} else {
			assert.ErrorContains(t, err, want, text)
		}
	}
}

// The key ca_file names the certificates that a collector is trusted by.
func TestSpansGoOverTLSWithTheCertificatesThatAreNamed(t *testing.T) {
	got := make(chan string, 1)
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.URL.Path }))
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	p, err := Open(t.Context(), Config{URL: server.URL + "/in/v1/traces", CAFile: ca}, "test", func(text string) { t.Error(text) })
	require.NoError(t, err)
	_, span := p.Tracer("test").Start(t.Context(), "x")
	span.End()
	require.NoError(t, p.Close())
	assert.Equal(t, "/in/v1/traces", <-got)
}
