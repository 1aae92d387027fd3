package right

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestWhatIsDoneWithARightEndsWithIt(t *testing.T) {
	var r Right
	first, leave := r.Use(t.Context(), time.Time{}, "")
	defer leave()
	child, cancel := context.WithCancel(first)
	defer cancel()
	left, leaveLeft := r.Use(t.Context(), time.Time{}, "")
	own, leaveOwn := r.Use(t.Context(), time.Time{}, "")
	defer leaveOwn()
	leaveLeft()
	assert.True(t, r.Used())
	assert.Empty(t, Why(first))

	r.End(own, "taken away")
	r.End(t.Context(), "again")
	assert.EqualValues(t, "taken away", Why(child), "at once, and the first reason counts")
	assert.Empty(t, Why(left), "it was over before")
	assert.True(t, r.Ended())
	late, leaveLate := r.Use(t.Context(), time.Time{}, "")
	defer leaveLate()
	assert.EqualValues(t, "taken away", Why(late))
}

func TestWhoeverEndsARightMayFinish(t *testing.T) {
	var r Right
	own, leave := r.Use(t.Context(), time.Time{}, "")
	r.End(own, "taken away")
	assert.NoError(t, own.Err())
	leave()
	assert.Empty(t, Why(own), "that it has finished is another thing")
	assert.False(t, r.Used())
}

func TestARightEndsAtItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Right
		ctx, leave := r.Use(t.Context(), time.Now().Add(time.Hour), "too late")
		defer leave()
		time.Sleep(time.Hour - time.Second)
		synctest.Wait()
		assert.Empty(t, Why(ctx))
		time.Sleep(time.Second)
		synctest.Wait()
		assert.EqualValues(t, "too late", Why(ctx))
		assert.ErrorIs(t, ctx.Err(), context.Canceled, "what fails to be written then is no mistake of the writer")
		past, leavePast := r.Use(t.Context(), time.Now(), "too late")
		defer leavePast()
		assert.EqualValues(t, "too late", Why(past))
	})
}
