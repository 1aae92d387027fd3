// Package keeper is the process that holds sessions while nobody looks: callers come and go, shells stay.
//
// A [Keeper] serves one account on a unix socket, and people and programs elsewhere over TLS where it is told to. Its API
// is HTTP with an OpenAPI document at /openapi.json; package wire has its JSON, package client calls it. [Serve] runs a
// keeper until it is asked to end or has had nothing to do for a while; package reach finds one, starting it where none runs.
//
// A keeper under an account of its own can have a second socket, for an agent: see listen.AgentDoor.
//
// Who asks is told by the system for callers on the socket, and by a bearer token for others. Each principal has sessions
// and connections of its own. What a request runs passes the gate of package session: policy, record, send, record.
//
// There is no global state. Nothing outlives Serve.
//
//	goroutine                   started by       ends with                        awaited by
//	one per command in a sandbox  the request   its end, or Close                Close
//	sweep of the store          New              Close                            Close
//	HTTP server and requests    Serve            Shutdown, or the request         Serve
//	approvals' socket           New              Close                            Close
//	what sessions and pools     the first open   Close, or leaving a realm        Close
//	  start
//	idle watch                  Serve            Serve                            Serve
package keeper
