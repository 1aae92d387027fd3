package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestALinkTakesThePlaceOfSSH(t *testing.T) {
	for _, tt := range []struct{ argv, want []string }{
		{[]string{"fairlead", "run", "web1"}, []string{"run", "web1"}},
		{[]string{"/usr/bin/fairlead-ssh", "-v", "web1"}, []string{"ssh", "-v", "web1"}},
		{[]string{"ssh", "-T", "--", "web1", "docker", "system", "dial-stdio"}, []string{"ssh", "-T", "--", "web1", "docker", "system", "dial-stdio"}},
		{[]string{"/home/ada/bin/ssh"}, []string{"ssh"}},
		{[]string{"/home/ada/bin/ssh", "serve", "--auto"}, []string{"serve", "--auto"}},
		{nil, nil},
	} {
		assert.Equal(t, tt.want, asSSH(tt.argv), "%q", tt.argv)
	}
}
