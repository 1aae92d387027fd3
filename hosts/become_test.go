package hosts_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/hosts"
)

func TestACallSaysWhomToBecome(t *testing.T) {
	configured := hosts.Become{User: "postgres", Method: "doas"}
	for _, tt := range []struct {
		name string
		b    hosts.Become
		call string
		want hosts.Become
	}{
		{"nothing anywhere", hosts.Become{}, "", hosts.Become{}},
		{"the inventory's", configured, "", configured},
		{"the same", configured, "postgres", configured},
		{"another", configured, "root", hosts.Become{User: "root", Method: "doas", ByCall: true}},
		{"the call's alone", hosts.Become{}, "root", hosts.Become{User: "root", ByCall: true}},
		{"none", configured, hosts.NoBecome, hosts.Become{}},
	} {
		got, err := tt.b.Called(tt.call)
		assert.NoError(t, err, tt.name)
		assert.Equal(t, tt.want, got, tt.name)
	}
	for _, user := range []string{"a b", "-u", "x'y", `dom\user`, "#0", "a;b", "a!b", "$(id)"} {
		_, err := hosts.Become{}.Called(user)
		assert.Error(t, err, user)
	}
}

func TestWhatIsSaidOfBecome(t *testing.T) {
	assert.Empty(t, hosts.Become{}.String())
	assert.Empty(t, hosts.Become{}.Program())
	assert.Equal(t, "root by sudo", hosts.Become{User: "root"}.String())
	assert.Equal(t, "app.x@corp by su", hosts.Become{User: "app.x@corp", Method: "su"}.String())
	for text, want := range map[string]hosts.Become{
		"": {}, "none": {}, "root": {User: "root"}, "root by sudo": {User: "root", Method: "sudo"}, "app.x@corp by su": {User: "app.x@corp", Method: "su"},
	} {
		got, err := hosts.ParseBecome(text)
		assert.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, text := range []string{"root by", "root by ", "by sudo", "root by runas", "a b", " by su"} {
		_, err := hosts.ParseBecome(text)
		assert.Error(t, err, text)
	}
	assert.NoError(t, hosts.Become{}.Check())
	assert.EqualError(t, hosts.Become{Method: "su"}.Check(), "su needs an account to become")
	assert.EqualError(t, hosts.Become{User: "root", Method: "runas"}.Check(), `"runas" is not one of sudo, sudo-rs, su, doas`)
	assert.EqualError(t, hosts.Become{User: "none"}.Check(), `"none" is what a call says to become no other account`)
}
