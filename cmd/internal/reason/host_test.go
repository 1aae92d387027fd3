package reason_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/cmd/internal/reason"
	"github.com/fairlead-ssh/fairlead/session"
)

func TestAReasonIsTheSameForAllHostsThatFailAlike(t *testing.T) {
	for _, host := range []string{"web1", "web2"} {
		err := &session.Error{Op: "run", Host: host, Code: "full", Err: errors.New("sshconn: " + host + ": the server opens no more")}
		assert.Equal(t, "the server opens no more", reason.Of(err))
	}
	assert.Empty(t, reason.Of(nil))
}
