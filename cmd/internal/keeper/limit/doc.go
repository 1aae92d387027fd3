// Package limit owns the bounds on what callers ask: how often each may, and how much memory their requests take at a time.
package limit
