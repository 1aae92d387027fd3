package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// send opens a Provider, ends a span, closes it, and returns what was logged.
func send(t *testing.T, url string) []string {
	t.Helper()
	var texts []string
	p, err := Open(t.Context(), Config{URL: url}, "test", func(text string) { texts = append(texts, text) })
	require.NoError(t, err)
	_, span := p.Tracer("test").Start(t.Context(), "the span")
	span.End()
	require.NoError(t, p.Close())
	return texts
}

// What is sent is what OpenTelemetry's own types read.
func TestACollectorReadsWhatIsSent(t *testing.T) {
	got := make(chan *collector.ExportTraceServiceRequest, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "application/x-protobuf", r.Header.Get("Content-Type"))
		unpacked, err := gzip.NewReader(r.Body)
		if !assert.NoError(t, err) {
			return
		}
		body, err := io.ReadAll(unpacked)
		assert.NoError(t, err)
		m := new(collector.ExportTraceServiceRequest)
		assert.NoError(t, proto.Unmarshal(body, m))
		got <- m
	}))
	defer server.Close()
	assert.Empty(t, send(t, server.URL))
	m := <-got
	require.Len(t, m.ResourceSpans, 1)
	require.Len(t, m.ResourceSpans[0].ScopeSpans, 1)
	require.Len(t, m.ResourceSpans[0].ScopeSpans[0].Spans, 1)
	assert.Equal(t, "the span", m.ResourceSpans[0].ScopeSpans[0].Spans[0].Name)
	assert.Empty(t, m.ProtoReflect().GetUnknown())
}

func TestACollectorThatIsBusyIsAskedAgain(t *testing.T) {
	for _, code := range []int{429, 502, 503, 504} {
		var asked atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1) < 3 {
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(code)
			}
		}))
		assert.Empty(t, send(t, server.URL), code)
		assert.EqualValues(t, 3, asked.Load(), code)
		server.Close()
	}
}

// A collector that stays busy is given up with the context, not before and not later.
func TestACollectorThatStaysBusyIsGivenUp(t *testing.T) {
	asked := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
		asked <- struct{}{}
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	go func() { <-asked; cancel() }()
	err := (&client{http: server.Client(), url: server.URL}).UploadTraces(ctx, nil)
	assert.Error(t, err)
	server.Client().CloseIdleConnections()
}

func TestWhatACollectorRejectsIsReported(t *testing.T) {
	message := func(n int64, text string) string {
		b, err := proto.Marshal(&collector.ExportTraceServiceResponse{PartialSuccess: &collector.ExportTracePartialSuccess{RejectedSpans: n, ErrorMessage: text}})
		require.NoError(t, err)
		return string(b)
	}
	for _, c := range []struct{ answer, want string }{
		{message(7, "too old"), "7 spans were rejected: too old"},
		{message(0, "soon no more"), "0 spans were rejected: soon no more"},
		{message(0, ""), ""},
		{"", ""},
		{"{}", ""},
		{strings.Repeat("\xff", 20), ""},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, c.answer) }))
		texts := send(t, server.URL)
		server.Close()
		if c.want == "" {
			assert.Empty(t, texts, "%q", c.answer)
		} else if assert.Len(t, texts, 1) {
			assert.Contains(t, texts[0], c.want)
		}
	}
}

// Whatever a collector answers is read as protobuf's own library reads it.
func FuzzRejected(f *testing.F) {
	for _, m := range []*collector.ExportTracePartialSuccess{nil, {}, {RejectedSpans: 1}, {RejectedSpans: -1, ErrorMessage: "x"}} {
		b, _ := proto.Marshal(&collector.ExportTraceServiceResponse{PartialSuccess: m})
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		err := rejected(answer)
		m := new(collector.ExportTraceServiceResponse)
		if proto.Unmarshal(answer, m) != nil {
			return
		}
		// A field that comes twice is merged there, and the first of them counts here.
		if again, _ := proto.Marshal(m); !bytes.Equal(again, answer) {
			return
		}
		p := m.GetPartialSuccess()
		assert.Equal(t, p.GetRejectedSpans() != 0 || p.GetErrorMessage() != "", err != nil)
	})
}
