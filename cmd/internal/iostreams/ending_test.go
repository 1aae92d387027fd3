package iostreams_test

import (
	"bytes"
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

func TestOutputThatNobodyTakesHoldsUpNoEnd(t *testing.T) { synctest.Test(t, outputThatNobodyTakes) }

func outputThatNobodyTakes(t *testing.T) {
	r, w := io.Pipe()
	defer r.Close()
	var said bytes.Buffer
	s := iostreams.New(nil, w, &said)
	ctx, end := context.WithCancel(t.Context())
	s.End(ctx, time.Second)

	wrote := make(chan error, 1)
	go func() { _, err := io.WriteString(s.Out, "one"); wrote <- err }()
	text := make([]byte, 3)
	_, err := io.ReadFull(r, text)
	require.NoError(t, err)
	require.NoError(t, <-wrote)
	assert.Equal(t, "one", string(text))

	go func() { _, err := io.WriteString(s.Out, "two"); wrote <- err }()
	_, err = io.ReadFull(r, text[:1])
	require.NoError(t, err, "the write has begun")
	end()
	require.ErrorContains(t, <-wrote, "a signal ends the program")
	_, err = io.WriteString(s.Out, "three")
	require.Error(t, err, "an error stays")
	require.Error(t, s.Out.Err())
	_, err = io.WriteString(s.Err, "why")
	require.NoError(t, err)
	assert.Equal(t, "why", said.String())
}
