package keeper

import (
	"context"
	"errors"
)

// storeFault is what was wrong with the store a moment ago; "" is nothing.
func (k *Keeper) storeFault() string {
	if k.commands == nil {
		return ""
	}
	return k.commands.Fault()
}

// unread says why the desk may not have all that is pending.
func (k *Keeper) unread() error {
	if text := k.storeFault(); text != "" {
		return errors.New(text)
	}
	return nil
}

// readPending makes the desk know all that is pending in the store, or says why it cannot.
func (k *Keeper) readPending(ctx context.Context) error {
	if k.commands == nil {
		return nil
	}
	return k.commands.ReadPending(ctx)
}
