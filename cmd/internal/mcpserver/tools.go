package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
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
	"stderr": {"split", "merged"},
	"signal": {"INT", "TERM", "KILL"},
	"stream": {"stdout", "stderr"},
}

// add adds a tool.
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
	t.InputSchema = schema
	open := true
	t.Annotations.OpenWorldHint = &open
	mcp.AddTool(s.mcp, t, func(ctx context.Context, req *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
		out, line, err := h(ctx, &call{req: req}, in)
		if err != nil {
			*out.fault() = faultOf(err)
		}
		f := *out.fault()
		if f != nil && line == "" {
			line = told(f)
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: line}}, IsError: f != nil}, out, nil
	})
	return nil
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
				"Keys: Enter, Tab, Esc, Up, C-c, C-d and so on. Text is typed as it is: add \"\\n\" or the key Enter to end a line.",
		}, s.sessionInput),
		add(s, &mcp.Tool{
			Name: "session_output", Annotations: hints("Look at a command", true, false),
			Description: "The result of a command again, running or done: by exec_id, or the last one of a session. Waits up to wait_s for a running one. With offset or stream: the exact output from there on, page by page.",
		}, s.sessionOutput),
		add(s, &mcp.Tool{
			Name: "session_close", Annotations: hints("Close a session", false, true),
			Description: "Close a session and end what runs in it; with reset, give it a new shell in the same directory instead.",
		}, s.sessionClose),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// admit counts calls of tools, refuses those that the principal may not make, and gives what the SDK finds wrong with
// arguments a code.
func (s *Server) admit(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
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
		res, err := next(ctx, method, req)
		if c, ok := res.(*mcp.CallToolResult); ok && err == nil && c.IsError && c.StructuredContent == nil {
			why := "the arguments are not valid"
			if e := c.GetError(); e != nil {
				why = clip(e.Error(), 1000)
			}
			return refusal(&faultOut{Code: "invalid", Message: why}), nil
		}
		return res, err
	}
}

// refusal is a call that failed before it reached a tool.
func refusal(f *faultOut) *mcp.CallToolResult {
	content, err := json.Marshal(map[string]*faultOut{"error": f})
	if err != nil {
		panic("mcpserver: internal error: " + err.Error()) // a struct of strings can always be written
	}
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: told(f)}}, StructuredContent: json.RawMessage(content), IsError: true,
	}
}
