package store_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/store"
)

// together calls fn once for each of n, at the same time, and returns the errors.
func together(n int, fn func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = fn(i)
		})
	}
	close(start)
	wg.Wait()
	return errs
}

// winner requires that exactly one has met no error and all others this one, and returns which.
func winner(t *testing.T, errs []error, want error) (who int) {
	t.Helper()
	who = -1
	for i, err := range errs {
		if err != nil {
			require.ErrorIs(t, err, want)
			continue
		}
		require.Equal(t, -1, who, "two of them")
		who = i
	}
	require.NotEqual(t, -1, who, "none of them")
	return who
}

func TestOfTwoStoresOneDecidesAndOneBegins(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		stores := []*store.Store{open(t, cfg), open(t, cfg)}
		for range 15 {
			c := wait(t, stores[0], nil)
			by := winner(t, together(4, func(i int) error {
				d := yes()
				d.By = fmt.Sprintf("operator/%d", i)
				_, err := stores[i%2].Decide(t.Context(), c.ID, d)
				return err
			}), store.ErrNotPending)
			exact := make([][]byte, 4)
			keeper := winner(t, together(4, func(i int) (err error) {
				_, exact[i], err = stores[i%2].Begin(t.Context(), c.ID, fmt.Sprintf("keeper/%d", i))
				return err
			}), store.ErrClaimed)
			for i, b := range exact {
				if i == keeper {
					assert.Equal(t, pending().Exact, b)
				} else {
					assert.Nil(t, b)
				}
			}
			c, err := stores[1].Command(t.Context(), c.ID)
			require.NoError(t, err)
			assert.Equal(t, fmt.Sprintf("operator/%d", by), c.ApprovedBy)
			assert.Equal(t, fmt.Sprintf("keeper/%d", keeper), c.ClaimedBy)
		}
	})
}

func TestOfAYesAndANoAtOnceOneCounts(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		stores := []*store.Store{open(t, cfg), open(t, cfg)}
		for range 8 {
			c := wait(t, stores[0], nil)
			no := yes()
			no.Approve = false
			who := winner(t, together(2, func(i int) error {
				_, err := stores[i].Decide(t.Context(), c.ID, []store.Decision{yes(), no}[i])
				return err
			}), store.ErrNotPending)
			c, err := stores[0].Command(t.Context(), c.ID)
			require.NoError(t, err)
			assert.Equal(t, []store.Status{store.Approved, store.Rejected}[who], c.Status)
		}
	})
}

func TestOfManyThatSendOneKeyOneMakesTheCommand(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		stores := []*store.Store{open(t, cfg), open(t, cfg)}
		for round := range 5 {
			var made [6]bool
			var ids [6]string
			for _, err := range together(6, func(i int) error {
				n := pending()
				n.Key = store.Key{Key: fmt.Sprint("k", round), Request: []byte("a")}
				c, m, err := stores[i%2].Create(t.Context(), n)
				made[i], ids[i] = m, c.ID
				return err
			}) {
				require.NoError(t, err)
			}
			count := 0
			for i := range made {
				if made[i] {
					count++
				}
				assert.Equal(t, ids[0], ids[i])
			}
			assert.Equal(t, 1, count)
		}
	})
}

func TestManyAtOnceNeverMeetABusyDatabaseNorAGapInTheEvents(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		stores := []*store.Store{open(t, cfg), open(t, cfg)}
		const goroutines, rounds = 12, 8
		for i, err := range together(goroutines, func(i int) error {
			s := stores[i%2]
			keeper := fmt.Sprint("keeper/", i)
			var seen int64
			for range rounds {
				n := allowed()
				n.Claim = keeper
				c, _, err := s.Create(t.Context(), n)
				if err != nil {
					return err
				}
				if _, err := s.Sweep(t.Context(), keeper); err != nil {
					return err
				}
				e, err := s.Since(t.Context(), seen, store.MaxLimit)
				if err != nil {
					return err
				}
				for _, v := range e.Items {
					if v.Seq != seen+1 {
						return fmt.Errorf("event %d came after %d", v.Seq, seen)
					}
					seen = v.Seq
				}
				if _, err := s.Finish(t.Context(), c.ID, keeper, store.End{Status: store.Executed, Outcome: "ok"}); err != nil {
					return err
				}
			}
			return nil
		}) {
			require.NoError(t, err, i)
		}
		e, err := stores[0].Since(t.Context(), 0, 1)
		require.NoError(t, err)
		assert.EqualValues(t, 2*goroutines*rounds, e.Last)
	})
}
