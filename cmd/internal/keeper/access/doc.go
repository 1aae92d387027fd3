// Package access owns who asks and what they may do: roles and what each may, the callers on the socket, on an agent's socket and
// over TCP, tokens and when their right ends, which site a request comes from, and the accounts that the audit log names.
package access
