//go:build !linux

package doctor

import "context"

// clock says what time it is.
func (o *Options) clock(context.Context) []Check {
	return []Check{ok("clock", "%s", o.Now().Format("2006-01-02 15:04:05 -0700"))}
}
