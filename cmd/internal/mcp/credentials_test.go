package mcp_test

import (
	"crypto/ed25519"
	"encoding/pem"
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
)

const lending = `version: 1
defaults: {ssh_config: ~/ssh_config, shell: sh}
hosts: [{name: prod1, tier: prod}, {name: prod2, tier: prod}, {name: dev1, tier: dev}]
credentials:
  - {principals: [agent/deploy], hosts: prod1, user: robot, identity: ["~/bot"]}
`

// lends gives the account's ssh_config a server for every host, which takes the account's own key and the one in ~/bot.
func (p *place) lends() {
	p.t.Helper()
	key := func(name string) ssh.PublicKey {
		public, private, err := ed25519.GenerateKey(nil)
		require.NoError(p.t, err)
		block, err := ssh.MarshalPrivateKey(private, "")
		require.NoError(p.t, err)
		p.write(name, string(pem.EncodeToMemory(block)))
		k, err := ssh.NewPublicKey(public)
		require.NoError(p.t, err)
		return k
	}
	s := sessiontest.Server(p.t, sshserver.Config{ClientKeys: []ssh.PublicKey{key("bot"), key("mine")}})
	addr, err := net.ResolveTCPAddr("tcp", s.Addr())
	require.NoError(p.t, err)
	known := p.write("known", knownhosts.Name(addr.IP.String(), uint16(addr.Port))+" "+string(ssh.MarshalAuthorizedKey(s.HostKey())))
	p.write("ssh_config", fmt.Sprintf("Host *\n\tHostName %s\n\tPort %d\n\tUser ada\n\tIdentityFile %s/mine\n\tUserKnownHostsFile %s\n\tGlobalKnownHostsFile none\n",
		addr.IP, addr.Port, p.dir, known))
}

func TestAnAgentLogsInAsTheInventorySaysOfItsName(t *testing.T) {
	for _, mode := range []string{"off", "require"} {
		t.Run("keeper "+mode, func(t *testing.T) {
			p := newPlace(t, lending)
			p.lends()
			for name, want := range map[string]map[string]string{
				"deploy": {"prod1": "robot", "prod2": "auth", "dev1": "ada"},
				"other":  {"prod1": "auth", "prod2": "auth", "dev1": "ada"},
			} {
				a := p.stdio("--as", name, "--keeper", mode)
				for host, who := range want {
					r := a.call("session_open", args{"host": host})
					if r.Error != nil {
						assert.Equal(t, who, r.Error.Code, "%s on %s: %s", name, host, r.Error.Message)
						assert.Contains(t, r.Error.Message, "the inventory's credentials give agent/"+name+" no key for it")
						continue
					}
					r = a.call("session_exec", args{"session_id": r.SessionID, "command": "echo $SSHSERVER_LOGIN"})
					assert.Equal(t, who+"\n", r.Stdout, "%s on %s", name, host)
				}
			}
		})
	}
}

func TestAnAgentThatMayDoWhateverYouMayHasItsOwnLoginAllTheSame(t *testing.T) {
	p := newPlace(t, lending)
	p.lends()
	a := p.stdio("--as", "other", "--allow-all", "--keeper", "off")
	for _, host := range []string{"prod1", "root@prod1"} {
		r := a.call("session_open", args{"host": host})
		require.NotNil(t, r.Error, host)
		assert.Equal(t, "auth", r.Error.Code, host)
	}
	assert.Nil(t, a.call("session_open", args{"host": "dev1"}).Error)
}
