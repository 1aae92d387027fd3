// Package route owns how the API's routes are added: what each needs of its caller, what the OpenAPI document says of it, and what
// a request is told that is for none, or that names headers and parameters which its route does not take.
package route
