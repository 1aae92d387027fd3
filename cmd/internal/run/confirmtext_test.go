package run_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/run"
)

// Each question between batches says what came of the last one. With fifty batches, the others would push it off the screen.
func TestAQuestionBetweenBatchesSaysWhatTheLastOneCameTo(t *testing.T) {
	so := wire.RunReport{Done: 2, Batches: []wire.RunBatch{
		{Number: 1, Of: 3, Hosts: "web1", OK: "web1"}, {Number: 2, Of: 3, Hosts: "web[2-3]", OK: "web2", Failed: "web3"}, {Number: 3, Of: 3, Hosts: "web4"},
	}}
	assert.Equal(t, "fairlead: batch 2 of 3 is done; ok: web2; failed: web3\nRun batch 3 of 3 on web4? [y/N] ", run.ConfirmText(so))
	so.Done = 1
	assert.Equal(t, "fairlead: batch 1 of 3 is done; ok: web1\nRun batch 2 of 3 on web[2-3]? [y/N] ", run.ConfirmText(so))
}
