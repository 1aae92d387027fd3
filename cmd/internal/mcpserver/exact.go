package mcpserver

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fairlead-ssh/fairlead/cmd/internal/jsontext"
)

// exact refuses calls whose arguments would not be read as they are: another command would be judged and run than the one that
// was sent.
func exact(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if r, ok := req.(*mcp.CallToolRequest); ok {
			err := jsontext.Check(r.Params.Arguments)
			if two, ok := errors.AsType[*jsontext.TwiceError](err); ok {
				return refusal(faultOf(invalid("the arguments are ambiguous: %w: send each argument once", two))), nil
			}
			if err != nil {
				return refusal(faultOf(invalid("the arguments would be read as something else, since JSON is text and %v: "+
					"write such bytes in the command itself, as printf '\\377' does", err))), nil
			}
		}
		return next(ctx, method, req)
	}
}
