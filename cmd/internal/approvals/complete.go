package approvals

import "context"

// ids are those of pending approvals, for completion.
func (b Base) ids(ctx context.Context) (ids []string) {
	c, err := b.Client()
	if err != nil {
		return nil
	}
	list, _ := c.List(ctx) // some may have answered
	for _, s := range list {
		ids = append(ids, line(s.ID))
	}
	return ids
}

// sessionIDs are those of session approvals, for completion.
func (b Base) sessionIDs(ctx context.Context) (ids []string) {
	c, err := b.Client()
	if err != nil {
		return nil
	}
	list, _ := c.ForSessions(ctx)
	for _, g := range list {
		ids = append(ids, line(g.ID))
	}
	return ids
}
