package rate

import (
	"context"
	"time"

	"vitrine/shared/platform/id"
)

// HotBlock is the size of a block of permits from which an artifact counts as hot. Blocks reach it after some 60 reads
// within a few seconds in one process.
const HotBlock = 32

// Hot is an artifact that was read often at an instant.
type Hot struct {
	Artifact id.Artifact
	At       time.Time
}

// Marks records which artifacts are hot. An artifact that is read seldom costs no write.
type Marks interface {
	Mark(ctx context.Context, h Hot) error
}
