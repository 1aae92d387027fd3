package store

import (
	"context"
	"errors"
)

func openPostgres(ctx context.Context, cfg Config) (*database, error) {
	return nil, errors.New("store: Postgres cannot be used by this build")
}
