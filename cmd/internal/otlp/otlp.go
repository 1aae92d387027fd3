// Package otlp sends spans to a collector with OpenTelemetry's protocol (OTLP) over HTTP, as the settings say.
package otlp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/fairlead-ssh/fairlead/audit/sinks"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// Limits of one export: what a collector does not take in time is given up, and reported.
const (
	tryTime    = 10 * time.Second
	exportTime = 30 * time.Second // with what is tried again
	closeTime  = 5 * time.Second
)

// Config says where spans go. The zero Config is nowhere.
type Config struct {
	URL       string // https://HOST[:PORT][/PATH], or http:// on this machine; without a path it is /v1/traces
	CAFile    string // certificates in PEM to trust instead of the system's
	TokenFile string // a file (0600) with a bearer token, read for every export
}

// Check says what is wrong with c.
func (c Config) Check() error {
	u, err := url.Parse(c.URL)
	switch {
	case c.URL == "":
		return errors.New("it needs url: where the collector listens, such as https://collector.example.com:4318")
	case err != nil || u.Host == "":
		return errors.New("url must be a URL, such as https://collector.example.com:4318")
	case u.User != nil:
		return errors.New("url must not hold a password: put a token into token_file")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("url must end with its path")
	case u.Scheme == "http" && !onThisMachine(u.Hostname()):
		return errors.New("url must begin with https://; http:// is for collectors on this machine")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("url must begin with https://")
	case u.Scheme == "http" && c.CAFile != "":
		return errors.New("ca_file goes with https://")
	}
	for key, path := range map[string]string{"ca_file": c.CAFile, "token_file": c.TokenFile} {
		if path != "" && !filepath.IsAbs(path) {
			return errors.New(key + " must be an absolute path")
		}
	}
	return nil
}

func onThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// endpoint is URL with the path that collectors have by default (OTLP, "OTLP/HTTP Request"), where it has none.
func (c Config) endpoint() string {
	u, err := url.Parse(c.URL)
	if err == nil && strings.Trim(u.Path, "/") == "" {
		return u.JoinPath("v1/traces").String()
	}
	return c.URL
}

// Provider makes tracers whose spans are sent. Close it.
type Provider struct {
	*trace.TracerProvider
	http *http.Client
}

// Open returns a Provider. It connects to nothing yet; log is called with what goes wrong later, from any goroutine.
func Open(ctx context.Context, c Config, version string, log func(text string)) (*Provider, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	post, err := sinks.NewClient(c.CAFile)
	if err != nil {
		return nil, err
	}
	if _, err := sinks.ReadToken(c.TokenFile); err != nil {
		return nil, err
	}
	post.Transport = &authorized{post.Transport, c.TokenFile}
	post.Timeout = tryTime
	exporter, err := otlptrace.New(ctx, &client{http: post, url: c.endpoint()})
	if err != nil {
		return nil, err
	}
	provider := trace.NewTracerProvider(
		trace.WithBatcher(&reporting{exporter, log}, trace.WithExportTimeout(exportTime)),
		trace.WithSampler(trace.AlwaysSample()), // no caller decides that its commands are not seen
		trace.WithResource(resource.NewSchemaless(attribute.String("service.name", "fairlead"), attribute.String("service.version", version))),
	)
	return &Provider{provider, post}, nil
}

// Close sends what is left, within a few seconds.
func (p *Provider) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	defer p.http.CloseIdleConnections()
	return p.Shutdown(ctx)
}

// authorized sends requests with the token that a file holds at the time.
type authorized struct {
	http.RoundTripper
	tokenFile string
}

// CloseIdleConnections is for http.Client.
func (a *authorized) CloseIdleConnections() {
	(&http.Client{Transport: a.RoundTripper}).CloseIdleConnections()
}

func (a *authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := sinks.ReadToken(a.tokenFile)
	if err != nil {
		return nil, err
	}
	if token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return a.RoundTripper.RoundTrip(r)
}

// reporting logs that spans were lost, once for each export.
type reporting struct {
	trace.SpanExporter
	log func(text string)
}

// urls are what the library puts into its errors; one may hold a secret.
var urls = lazyregexp.New(`https?://\S+`)

func (e *reporting) ExportSpans(ctx context.Context, spans []trace.ReadOnlySpan) error {
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil {
		e.log("otlp: the collector did not take the last spans: " + urls.ReplaceAllString(sinks.WithoutURL(err).Error(), "it,"))
	}
	return nil
}
