package hostfs

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/pkg/sftp"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
)

// smallPacket is what every server takes, and the library's default.
const smallPacket = 32 << 10

// channel is one channel to a host's sftp server, which is a process of its own there.
type channel struct {
	c     *sftp.Client
	rw    io.Closer
	block int // bytes of a request
}

func openChannel(ctx context.Context, conn Subsystems, requests int) (*channel, error) {
	rw, err := conn.Subsystem(ctx, "sftp")
	if err != nil {
		return nil, err
	}
	answer, cancel := context.WithTimeout(ctx, ProgramWait)
	defer cancel()
	stop := context.AfterFunc(answer, func() { rw.Close() }) // a server that says nothing
	c, err := sftp.NewClientPipe(rw, rw, sftp.UseConcurrentWrites(true), sftp.MaxConcurrentRequestsPerFile(requests))
	if !stop() {
		rw.Close()
		if ctx.Err() == nil {
			return nil, fault(Other, "the host's sftp server did not answer within %v: find out there whether it starts, and try again", ProgramWait)
		}
		return nil, &session.Error{Op: "files", Code: "unreachable", Retriable: true, Err: fmt.Errorf("sftp did not begin: %w", ctxerr.Of(ctx))}
	}
	if err != nil {
		rw.Close()
		// sshd starts what is configured and says yes before it knows that the program is missing.
		return nil, fmt.Errorf("the sftp server makes no sense (%s): %w", heardOf(err.Error()), errors.ErrUnsupported)
	}
	ch := &channel{c: c, rw: rw, block: smallPacket}
	if _, ok := c.HasExtension(extLimits); ok {
		_ = sftp.MaxPacketUnchecked(LargePacket)(c)
		ch.block = LargePacket
	}
	return ch, nil
}

func (ch *channel) close() error {
	_ = ch.rw.Close() // the client would wait for a request that a server does not take
	return ch.c.Close()
}
