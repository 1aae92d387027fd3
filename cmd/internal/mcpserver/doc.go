// Package mcpserver lets agents use sessions over the Model Context Protocol: a few tools with stable names, over
// package registry. A Server answers for one principal, over a pair of streams or over HTTP.
//
// What a tool gives is structured content that its schema describes, and one line of text. The output of commands is for
// a model: bounded, without secrets, and without control sequences and characters that nobody sees; session_output
// pages the exact text. A command that failed is a result; what could not be run at all is a result with an error,
// which has a code and says whether to try again. Protocol errors are for broken requests alone.
package mcpserver
