package mcpserver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fairlead-ssh/fairlead/session/registry"
)

// result is what a tool gives.
type result interface{ fault() **faultOut }

// handler answers one call: the result, and one line about it. A result with an error in it, and an error, are both told
// as a failed call.
type handler[In any, Out result] func(ctx context.Context, c *call, in In) (out Out, line string, err error)

// call is a call in progress.
type call struct {
	req *mcp.CallToolRequest
}

// enums are the arguments that take one of a few words.
var enums = map[string][]any{
	"shell":  words(registry.Shells()),
	"stderr": {"split", "merged"},
	"signal": {"INT", "TERM", "KILL"},
	"stream": {"stdout", "stderr"},
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
	out, err := jsonschema.ForType(reflect.TypeFor[Out]().Elem(), nil)
	if err != nil {
		return fmt.Errorf("mcpserver: %s: %w", t.Name, err)
	}
	t.InputSchema, t.OutputSchema = schema, out
	open := true
	t.Annotations.OpenWorldHint = &open
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
		out, line, err := h(ctx, c, in)
		if err != nil {
			*out.fault() = faultOf(err)
		}
		f := *out.fault()
		if f != nil {
			f.Message, _ = s.cfg.Registry.Redact(f.Message)
			line = cmp.Or(line, told(f))
		}
		line, _ = s.cfg.Registry.Redact(line)
		return answer(out, line, f != nil), nil
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
		return in, invalid("the arguments are not an object: %w", err)
	}
	dropNulls(fields, schema)
	if err := check.Validate(fields); err != nil {
		return in, invalid("the arguments do not fit the tool: %w", err)
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return in, invalid("the arguments do not fit the tool: %w", err)
	}
	return in, nil
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
func answer(content any, line string, failed bool) *mcp.CallToolResult {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // output is full of < > &
	if err := enc.Encode(content); err != nil {
		panic("mcpserver: internal error: " + err.Error()) // structs of strings and numbers can always be written
	}
	return &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: line}},
		StructuredContent: json.RawMessage(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), IsError: failed,
	}
}

// refusal is a call that failed before it reached a tool.
func refusal(f *faultOut) *mcp.CallToolResult {
	return answer(map[string]*faultOut{"error": f}, told(f), true)
}

// told is a fault as a line of text.
func told(f *faultOut) string {
	again := "trying again will not help"
	if f.Retriable {
		again = "trying again may help"
	}
	return fmt.Sprintf("%s: %s (%s)", f.Code, f.Message, again)
}

func hints(title string, readOnly, destructive bool) *mcp.ToolAnnotations {
	a := &mcp.ToolAnnotations{Title: title, ReadOnlyHint: readOnly}
	if !readOnly {
		a.DestructiveHint = &destructive
	}
	return a
}

func (s *Server) addTools() error {
	for _, err := range []error{
		add(s, &mcp.Tool{
			Name: "hosts_list", Annotations: hints("List hosts", true, false),
			Description: "List the hosts of the inventory: groups, labels, tier, transport and connection.",
		}, s.hostsList),
		add(s, &mcp.Tool{
			Name: "look", Annotations: hints("Look at hosts", true, false),
			Description: "Run a command that only reads on one or many hosts. What could change anything, show secrets, or is not known, is refused; use run for that.",
		}, s.look),
		add(s, &mcp.Tool{
			Name: "run", Annotations: hints("Run a command", false, true),
			Description: "Run one command on one or many hosts, each in a fresh shell. Equal outcomes are told once, with the hosts' names folded.",
		}, s.run),
		add(s, &mcp.Tool{
			Name: "session_open", Annotations: hints("Open a session", false, false),
			Description: "Open a shell on a host that keeps directory, variables and functions from command to command.",
		}, s.sessionOpen),
		add(s, &mcp.Tool{
			Name: "session_exec", Annotations: hints("Run in a session", false, true),
			Description: "Run a command in a session and wait for it up to wait_s. If it takes longer it goes on, and state is running: wait for it with session_output, feed it with session_input. " +
				"One command at a time. Standard input is empty unless interactive.",
		}, s.sessionExec),
		add(s, &mcp.Tool{
			Name: "session_input", Annotations: hints("Type into a command", false, true),
			Description: "Type text, then keys, at the interactive command that runs in a session, or send it a signal; then wait until it asks for more, ends, or prints what wait_for finds. " +
				"Keys: Enter, Tab, Esc, Up, C-c, C-d and so on. Text is typed as it is: add \"\\n\" or the key Enter to end a line. " +
				"Where a person has to approve it first, typed says so.",
		}, s.sessionInput),
		add(s, &mcp.Tool{
			Name: "session_output", Annotations: hints("Look at a command", true, false),
			Description: "The result of a command again, running or done: by exec_id, or the last one of a session. Waits up to wait_s for a running one. With offset or stream: the exact output from there on, page by page.",
		}, s.sessionOutput),
		add(s, &mcp.Tool{
			Name: "session_close", Annotations: hints("Close a session", false, true),
			Description: "Close a session and end what runs in it; with reset, give it a new shell in the same directory instead.",
		}, s.sessionClose),
		add(s, &mcp.Tool{
			Name: "file_read", Annotations: hints("Read a file", true, false),
			Description: "Read a file on a host, page by page, with its hash. Secrets are taken out of the text; offsets are those of the text as it is shown.",
		}, s.fileRead),
		add(s, &mcp.Tool{
			Name: "file_write", Annotations: hints("Write a file", false, true),
			Description: "Give a file on a host new content, atomically, or make it. if_sha256 keeps you from undoing what somebody else has changed.",
		}, s.fileWrite),
		add(s, &mcp.Tool{
			Name: "file_edit", Annotations: hints("Edit a file", false, true),
			Description: "Replace text that is in a file exactly once, atomically. Works on the file's own bytes: secrets that you were not shown stay as they are.",
		}, s.fileEdit),
	} {
		if err != nil {
			return err
		}
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
