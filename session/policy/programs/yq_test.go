package programs_test

import "testing"

// The yq written in Go takes its words out of the text wherever they begin, with or without a parenthesis behind.
func TestWhatAnExpressionOfYqReaches(t *testing.T) {
	table(t, `
		unknown | yq 'loadstr("/etc/shadow")' f
		unknown | yq 'load_str("/etc/shadow")' f
		unknown | yq 'strload("/etc/shadow")' f
		unknown | yq 'str_load  ("/etc/shadow")' f
		unknown | yq 'loadxml("x")' f
		unknown | yq 'loadprops("x")' f
		unknown | yq 'loadbase64("x")' f
		unknown | yq '.a as $f|loadstr $f' f
		unknown | yq 'notloadstr("x")' f
		unknown | yq '..loadstr("x")' f
		unknown | yq '1.5loadstr("x")' f
		unknown | yq '.a"|loadstr("x")|.b"' f
		unknown | yq '."a\"|loadstr("x")|."b"' f
		unknown | yq '"\(loadstr("x"))"' f
		unknown | yq e 'loadstr("x")' f
		unknown | yq eval-all 'loadstr("x")' f g
		unknown | yq '"$HOME" |  envsubst' f
		unknown | yq '.x|=envsubst(nu)' f
		unknown | yq 'system  ("id")' f
		read-only | yq '.payload.env' f
		read-only | yq e '.spec.env' f
		read-only | yq eval '.a' payload.yaml
		read-only | yq '.workload' payload.yaml
		read-only | yq 'select(.kind == "Payload")' f
		read-only | yq '.[] | select(.name=="system") | .evaluation' f
	`)
}
