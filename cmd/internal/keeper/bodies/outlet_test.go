package bodies_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/bodies"
)

func TestNothingWaitsForARunThatHasEnded(t *testing.T) {
	var none *bodies.Outlets
	none.Close()
	s := bodies.NewOutlets()
	early := s.Of(0)
	s.Close()
	for _, o := range []*bodies.Outlet{early, s.Of(0), s.Of(1)} {
		select {
		case <-o.Over():
		default:
			t.Error("a taker would wait")
		}
		_, err := o.Write([]byte("x"))
		assert.Error(t, err)
	}
	assert.True(t, s.Of(1).Take(io.Discard))
}
