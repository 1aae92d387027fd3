package route

import (
	"maps"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// Describe corrects what the document says of answers, once every route is there: errors are problems of ours; lists are
// never null; a field that is added later breaks no client that was made from the document before; and what stands in
// only once a command has run may be null.
func (a *API) Describe() {
	doc := a.OpenAPI()
	schemas := doc.Components.Schemas
	errors := map[string]*huma.MediaType{
		"application/problem+json": {Schema: schemas.Schema(reflect.TypeFor[wire.Problem](), true, "Problem")},
	}
	asked := map[string]bool{} // schemas of requests, which also check them: those stay as they are
	for _, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op == nil {
				continue
			}
			if op.Security != nil {
				op.Responses["401"] = &huma.Response{Description: http.StatusText(http.StatusUnauthorized)}
			}
			op.Responses["default"] = &huma.Response{Description: "Error"}
			for status, r := range op.Responses {
				if n, err := strconv.Atoi(status); err != nil || n >= 400 {
					r.Content = errors
				}
			}
			if op.RequestBody != nil {
				for _, m := range op.RequestBody.Content {
					reach(schemas, m.Schema, asked)
				}
			}
		}
	}
	all := schemas.Map()
	maps.DeleteFunc(all, func(name string, _ *huma.Schema) bool { return name == "ErrorModel" || name == "ErrorDetail" })
	for name, s := range all {
		if asked[name] {
			continue
		}
		if s.AdditionalProperties == false {
			s.AdditionalProperties = nil
		}
		for _, p := range s.Properties {
			if p.Type == huma.TypeArray {
				p.Nullable = false
			}
		}
	}
	for name, field := range map[string]string{"Command": "exec", "Result": "error"} {
		if s := all[name]; s != nil {
			ref := s.Properties[field]
			s.Properties[field] = &huma.Schema{
				Description: ref.Description, OneOf: []*huma.Schema{{Ref: ref.Ref}, {Type: "null"}},
			}
		}
	}
}

// reach notes the names of all schemas that s leads to.
func reach(schemas huma.Registry, s *huma.Schema, seen map[string]bool) {
	if s == nil {
		return
	}
	if s.Ref != "" {
		for name, named := range schemas.Map() {
			if schemas.SchemaFromRef(s.Ref) == named && !seen[name] {
				seen[name] = true
				reach(schemas, named, seen)
			}
		}
		return
	}
	reach(schemas, s.Items, seen)
	for _, p := range s.Properties {
		reach(schemas, p, seen)
	}
	if more, ok := s.AdditionalProperties.(*huma.Schema); ok {
		reach(schemas, more, seen)
	}
}
