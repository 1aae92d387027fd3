package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fairlead-ssh/fairlead/session/registry"
)

// result is what a tool gives. Its JSON form and its text have the same facts.
type result interface {
	fault() **faultOut
	failed() bool // it is a failed call
	text() string
}

// handler answers one call. An error takes the place of the result's.
type handler[In any, Out result] func(ctx context.Context, c *call, in In) (Out, error)

// call is a call in progress.
type call struct {
	req      *mcp.CallToolRequest
	reported float64 // the last progress
}

// enums are the arguments that take one of a few words.
var enums = map[string][]any{
	"shell":  words(registry.Shells()),
	"stderr": {"split", "merged"},
	"signal": {"INT", "TERM", "KILL"},
	"stream": {"stdout", "stderr"},

	"direction": {"upload", "download"},
}

func words(list []string) []any {
	any := make([]any, len(list))
	for i, word := range list {
		any[i] = word
	}
	return any
}

// add adds a tool. Arguments are checked against the schema here, so that what is wrong with them has a code like any other
// error, and results are written once.
func add[In any, Out result](s *Server, t *mcp.Tool, h handler[In, Out]) error {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		return fmt.Errorf("mcpserver: %s: %w", t.Name, err)
	}
	for name, words := range enums {
		if p := schema.Properties[name]; p != nil {
			p.Enum = words
		}
	}
	check, err := schema.Resolve(nil)
	if err != nil {
		return fmt.Errorf("mcpserver: %s: %w", t.Name, err)
	}
	if t.InputSchema, err = listed(schema); err != nil {
		return fmt.Errorf("mcpserver: %s: %w", t.Name, err)
	}
	s.mcp.AddTool(t, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		in, err := arguments[In](req.Params.Arguments, schema, check)
		if err != nil {
			return refusal(faultOf(err)), nil
		}
		c := &call{req: req}
		ctx = s.asking(ctx, c)
		if s.cfg.Context != nil {
			ctx = s.cfg.Context(ctx, headerOf(req))
		}
		out, err := h(ctx, c, in)
		if err != nil {
			f := faultOf(err)
			if f.Next == "" {
				f.Next = s.nextFor(f, err)
			}
			*out.fault() = f
		}
		if f := *out.fault(); f != nil {
			f.Message, _ = s.cfg.Registry.Redact(f.Message)
		}
		return answer(out), nil
	})
	return nil
}

// redactor takes secrets out of what is no output, or was cleaned since they were taken out of it.
func (s *Server) redactor() redactor { return s.cfg.Registry.Redact }

// headerOf is what came with a call over HTTP; nil otherwise.
func headerOf(req *mcp.CallToolRequest) http.Header {
	if x := req.GetExtra(); x != nil {
		return x.Header
	}
	return nil
}

// arguments reads a call's arguments.
func arguments[In any](raw json.RawMessage, schema *jsonschema.Schema, check *jsonschema.Resolved) (in In, err error) {
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		return in, invalid("the arguments %s", whyNoObject(raw))
	}
	dropNulls(fields, schema)
	if err := check.Validate(fields); err != nil {
		return in, invalid("the arguments do not fit the tool: %s%s", why(err), known(err, fields, schema))
	}
	if json.Unmarshal(raw, &in) == nil {
		return in, nil
	}
	// What was given as 5.0 or 5e1 is a whole number, and is written as one here.
	var whole In
	raw, err = json.Marshal(fields)
	if err == nil {
		err = json.Unmarshal(raw, &whole)
	}
	if err != nil {
		return in, invalid("the arguments do not fit the tool: %s", whyTooLarge(err))
	}
	return whole, nil
}

// dropNulls takes the arguments out that a client gives as null, which is how some leave one out.
func dropNulls(fields map[string]any, schema *jsonschema.Schema) {
	for name, p := range schema.Properties {
		switch v := fields[name].(type) {
		case nil:
			delete(fields, name)
		case map[string]any:
			dropNulls(v, p)
		}
	}
}

// answer is a result as the protocol has it.
func answer(out result) *mcp.CallToolResult {
	content, err := marshal(out)
	if err != nil {
		panic("mcpserver: internal error: " + err.Error()) // structs of strings and numbers can always be written
	}
	return &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: out.text()}},
		StructuredContent: json.RawMessage(content), IsError: out.failed(),
	}
}

// marshal writes JSON in which output can be read: it is full of < > &.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// refusal is a call that failed before it reached a tool.
func refusal(f *faultOut) *mcp.CallToolResult { return answer(&refused{Error: f}) }

// Failure is the result of a call in whose place there is only an error, for whoever stands between a client and a server.
func Failure(code, message, next string, retriable bool) *mcp.CallToolResult {
	return refusal(&faultOut{Code: code, Message: message, Next: next, Retriable: retriable})
}

// refused is the result of a call that failed before it reached a tool.
type refused struct {
	Error *faultOut `json:"error"`
}

func (o *refused) fault() **faultOut { return &o.Error }
func (o *refused) failed() bool      { return true }
func (o *refused) text() string      { return o.Error.text() }

func hints(title string, readOnly, destructive bool) *mcp.ToolAnnotations {
	open := true
	a := &mcp.ToolAnnotations{Title: title, ReadOnlyHint: readOnly, OpenWorldHint: &open}
	if !readOnly {
		a.DestructiveHint = &destructive
	}
	return a
}

func (s *Server) addTools() error {
	for _, err := range []error{
		add(s, &mcp.Tool{
			Name: "hosts_list", Annotations: hints("List hosts", true, false), OutputSchema: schemaOf(`"hosts":{"type":"array"}`),
			Description: "List hosts: groups, labels, tier, transport, connection.",
		}, s.hostsList),
		add(s, &mcp.Tool{
			Name: "look", Annotations: hints("Look at hosts", true, false), OutputSchema: schemaOf(runFields),
			Description: "Run a command that only reads, on one or many hosts. Never needs approval: anything else is refused.",
		}, s.look),
		add(s, &mcp.Tool{
			Name: "run", Annotations: hints("Run a command", false, true), OutputSchema: schemaOf(runFields),
			Description: "Run a command on one or many hosts, each in a fresh shell. Hosts with identical results are grouped. Anything not known to be harmless needs a person's approval.",
		}, s.run),
		add(s, &mcp.Tool{
			Name: "session_open", Annotations: hints("Open a session", false, false), OutputSchema: schemaOf(`"session_id":{"type":"string"}`),
			Description: "Open a shell on a host that keeps directory, variables and functions between commands.",
		}, s.sessionOpen),
		add(s, &mcp.Tool{
			Name: "session_exec", Annotations: hints("Run in a session", false, true), OutputSchema: schemaOf(commandFields),
			Description: "Run a command in a session. Returns state running after wait_s; then session_output waits for it and session_input interrupts it or types. One command at a time. Standard input is empty unless interactive.",
		}, s.sessionExec),
		add(s, &mcp.Tool{
			Name: "session_input", Annotations: hints("Type into a command", false, true), OutputSchema: schemaOf(commandFields),
			Description: "Send input to the running command: text, then keys, then a signal. Waits for a prompt, the end, or wait_for. Returns what is new, or all once it has ended. " +
				"A line of text ends with \\n or the key Enter. The key C-c and signal INT interrupt.",
		}, s.sessionInput),
		add(s, &mcp.Tool{
			Name: "session_output", Annotations: hints("Look at a command", true, false), OutputSchema: schemaOf(commandFields),
			Description: "Wait for a command and show it: what is new while it runs, all when it has ended; with offset or stream, exact pages. Without arguments: list your sessions, running and pending commands, runs, also ended ones, and jobs.",
		}, s.sessionOutput),
		add(s, &mcp.Tool{
			Name: "session_close", Annotations: hints("Close a session", false, true), OutputSchema: schemaOf(""),
			Description: "Close a session and end what runs in it, or reset it; left_running is what nohup or setsid keeps. With a run's id: stop the run.",
		}, s.sessionClose),
		add(s, &mcp.Tool{
			Name: "file_read", Annotations: hints("Read a file", true, false), OutputSchema: schemaOf(fileFields),
			Description: "Read a file in pages of whole lines, with its sha256. Secrets are redacted; offsets and lines are those of the redacted text.",
		}, s.fileRead),
		add(s, &mcp.Tool{
			Name: "file_write", Annotations: hints("Write a file", false, true), OutputSchema: schemaOf(fileFields),
			Description: "Write all of a file, atomically.",
		}, s.fileWrite),
		add(s, &mcp.Tool{
			Name: "file_edit", Annotations: hints("Edit a file", false, true), OutputSchema: schemaOf(fileFields),
			Description: "Replace old, which must be in the file exactly once, by new, atomically. Redacted secrets stay as they are.",
		}, s.fileEdit),
	} {
		if err != nil {
			return err
		}
	}
	if err := s.addTransferTool(); err != nil {
		return err
	}
	if s.cfg.Jobs == nil {
		return nil
	}
	return s.addJobTools()
}

// admit counts calls of tools, and refuses those that the principal may not make.
func (s *Server) admit(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		growStack()
		r, ok := req.(*mcp.CallToolRequest)
		if !ok {
			return next(ctx, method, req)
		}
		if err := s.cfg.Limits().Tool(r.Params.Name); err != nil {
			return refusal(faultOf(err)), nil
		}
		if err := s.cfg.Admit(time.Now()); err != nil {
			return refusal(faultOf(err)), nil
		}
		return next(ctx, method, req)
	}
}
