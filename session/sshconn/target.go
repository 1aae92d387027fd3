package sshconn

import (
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/allowed"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/clock"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/hostkeys"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/keyring"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/stamp"
)

// target is a host with everything decided that is needed to connect to it.
type target struct {
	name  string // as the operator calls it
	hop   string // the same where it is a jump host of the route; else ""
	host  string // to connect to: a name or an address
	port  uint16
	user  string
	via   []hosts.Host // first hop first
	proxy *proxy       // what connects, where no other host does; nil is this process
	alias string       // the name to look host keys up under; "" means host and port
	login string       // what else tells one login from another, such as a list of key files

	config map[string]stamp.Stamp // the files that say so; nil where none does

	timeout      time.Duration // 0 means the Dialer's
	keepAlive    time.Duration // 0 means the Dialer's; negative means none
	keepAliveMax int           // 0 means the Dialer's

	master  string // the socket of an ssh that may share its connection; "" is none
	options string // what the call says, see hosts.Host.SSHOptions
	lent    string // the socket of the agent that programs on the host may use; "" is none
	limited string // where a PermitRemoteOpen stands; "" is nowhere

	net    network
	rekey  uint64   // bytes; 0 means the library's number
	setEnv []string // NAME=VALUE

	hostKeys   HostKeys
	algorithms allowed.Algorithms
	first      firstContact
	revoked    hostkeys.Revoked
	rotation   *rotation
	checkIP    bool     // CheckHostIP
	scan       bool     // connect for the key of the host alone
	files      []string // known_hosts files of the user; nil where there are none
	turns      *turns   // of questions about host keys
	ask        Ask      // nil where no person may be asked
	methods    allowed.Methods
	keys       func(clk *clock.Clock, bound *keyring.Binding) (*keyring.Ring, error)
}

func (t *target) addr() string { return net.JoinHostPort(t.host, strconv.Itoa(int(t.port))) }

// keyName is what the host's key is recorded under.
func (t *target) keyName() string {
	if t.alias != "" {
		return t.alias
	}
	return knownhosts.Name(t.host, t.port)
}

func (t *target) query() knownhosts.Query {
	return knownhosts.Query{Host: t.host, Port: t.port, Alias: t.alias, Algorithms: t.algorithms.HostKeys, Accept: t.algorithms.CheckAuthority}
}

// key tells logins apart: connections are shared where it is equal, and only there.
func (t *target) key(before string) string {
	way := t.net.String()
	if t.proxy != nil {
		way = t.proxy.line
	}
	return strings.Join([]string{before, t.user, t.addr(), t.alias, t.login, way, t.options}, "\x00")
}

func (t *target) checkHostKey(key ssh.PublicKey) error {
	if err := t.algorithms.CheckHost(key); err != nil {
		return err
	}
	if err := t.revoked.Check(key, t.keyName()); err != nil {
		return err
	}
	return t.hostKeys.Check(t.query(), key)
}

// checkAddress checks the key of a name against what is recorded for the address behind it, where CheckHostIP wants that. As with ssh,
// nothing recorded is no objection, and addresses of this machine and those that another program connects to are not looked up.
func (t *target) checkAddress(remote net.Addr, key ssh.PublicKey) error {
	tcp, ok := remote.(*net.TCPAddr)
	if !t.checkIP || !ok || t.proxy != nil || len(t.via) > 0 || tcp.IP.IsLoopback() || knownhosts.Name(tcp.IP.String(), t.port) == t.host {
		return nil
	}
	keys := t.hostKeys
	if c, ok := keys.(*hostkeys.Command); ok {
		keys = c.Live
	}
	q := t.query()
	q.Host, q.Alias = tcp.IP.String(), ""
	err := keys.Check(q, key)
	if _, unknown := errors.AsType[*knownhosts.UnknownError](err); unknown {
		return nil
	}
	return err
}
