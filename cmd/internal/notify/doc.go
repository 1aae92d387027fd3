// Package notify tells other programs what waits for an answer and what has ended: a web server that gets a signed request
// for each event, or a program that is run for it.
//
// A [Notifier] has a queue for each place and never makes anybody wait: what a place does not take in time is dropped, and
// counted. A web server that cannot be reached, or answers 408, 429 or 5xx, is asked again a few times, ever more slowly;
// a program gets each event once. Places get events in their order.
//
// A request's body is the [Event] as JSON. Its headers are Fairlead-Delivery (the event's id, the same for every attempt),
// Fairlead-Timestamp (seconds since 1970) and Fairlead-Signature: "v1=" and, in hexadecimal, the HMAC-SHA256 with the
// secret over the timestamp, a dot and the body. Whoever checks it should refuse timestamps that are minutes old. Field
// names are a stable format.
//
// Redacting what an event says is the caller's.
//
//	goroutine        started by   ends with   awaited by
//	one per place    New          Close       Close
package notify
