package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// maxAnswer bounds what is read of a collector's answer, in bytes.
const maxAnswer = 64 << 10

// client posts spans to a collector (OTLP 1.x, "OTLP/HTTP"). OpenTelemetry's own brings gRPC with it, which every start of
// the program would pay for: it makes the types of requests and answers that this one reads and writes as bytes.
type client struct {
	http *http.Client
	url  string
}

// Start is for otlptrace.Client: there is nothing to start.
func (*client) Start(context.Context) error { return nil }

// Stop is for otlptrace.Client: what is under way ends with the context of its call.
func (*client) Stop(context.Context) error { return nil }

// UploadTraces sends spans, again where the collector says that it may take them later, until ctx ends.
func (c *client) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// ExportTraceServiceRequest has the same one field, with the same number, as TracesData.
	message, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	var body bytes.Buffer
	packed := gzip.NewWriter(&body)
	if _, err := packed.Write(message); err != nil {
		return err
	}
	if err := packed.Close(); err != nil {
		return err
	}
	for pause := time.Second; ; pause = min(2*pause, tryTime) {
		wait, err := c.post(ctx, body.Bytes())
		if err == nil || wait == never {
			return err
		}
		if wait < 0 {
			wait = pause
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// When to try again, if not after a time that the collector has named.
const (
	never time.Duration = -1 - iota
	soon
)

// post sends body once. With an error comes when to try again.
func (c *client) post(ctx context.Context, body []byte) (again time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return never, err
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("Content-Encoding", "gzip")
	r.Header.Set("User-Agent", "fairlead")
	resp, err := c.http.Do(r)
	if err != nil {
		if temporary, ok := errors.AsType[interface {
			error
			Temporary() bool
		}](err); ok && temporary.Temporary() {
			return soon, err
		}
		return never, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return never, err
	}
	if resp.StatusCode/100 == 2 {
		return never, rejected(answer)
	}
	again = never
	// "Retryable Response Codes" of the same specification.
	if slices.Contains([]int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, resp.StatusCode) {
		again = soon
		if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s >= 0 {
			again = time.Duration(s) * time.Second
		}
	}
	return again, fmt.Errorf("it answered %s", resp.Status)
}

// rejected says which spans a collector that took the request did not take: the partial_success of an
// ExportTraceServiceResponse (field 1), which holds rejected_spans (1) and error_message (2). What is no such message, as
// JSON, says nothing.
func rejected(answer []byte) error {
	partial, _ := field(answer, 1, protowire.BytesType)
	_, n := field(partial, 1, protowire.VarintType)
	text, _ := field(partial, 2, protowire.BytesType)
	if n == 0 && len(text) == 0 {
		return nil
	}
	return fmt.Errorf("%d spans were rejected: %s", n, text)
}

// field is the value of a field of a message, in bytes or as a number.
func field(message []byte, num protowire.Number, typ protowire.Type) ([]byte, uint64) {
	for len(message) > 0 {
		got, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			break
		}
		message = message[n:]
		if n = protowire.ConsumeFieldValue(got, kind, message); n < 0 {
			break
		}
		if got == num && kind == typ {
			if typ == protowire.VarintType {
				v, _ := protowire.ConsumeVarint(message)
				return nil, v
			}
			v, _ := protowire.ConsumeBytes(message)
			return v, 0
		}
		message = message[n:]
	}
	return nil, 0
}
