package sweep

import (
	"context"

	"golang.org/x/sync/semaphore"

	"vitrine/shared/platform/async"
	"vitrine/shared/publishing/tree"
)

const (
	aheadReads = 16       // files that are read at once
	maxAhead   = 32 << 20 // bytes of files that a function reads ahead
)

// ahead reads up to maxAhead bytes of files before the caller asks for them.
type ahead struct {
	files chan *async.Future[readResult] // in the order of the files
	room  *semaphore.Weighted
	held  int64 // room of the file that next returned last
	stop  context.CancelFunc
}

type readResult struct {
	bytes []byte
	room  int64
}

// readAhead begins to read files. The caller calls next once for each file, in the same order, and then stop.
func readAhead(
	ctx context.Context, files []tree.File, read func(context.Context, tree.File) ([]byte, error),
) *ahead {
	ctx, cancel := context.WithCancel(ctx)
	a := &ahead{
		files: make(chan *async.Future[readResult], len(files)),
		room:  semaphore.NewWeighted(maxAhead),
		stop:  cancel,
	}
	async.Start(func() error {
		for _, f := range files {
			// max bounds how many small files are read at once. min lets through a file that is larger than all the room.
			room := min(max(f.Size, maxAhead/aheadReads), maxAhead)
			failed := a.room.Acquire(ctx, room)
			a.files <- async.Go(func() (readResult, error) {
				if failed != nil { // passed on, because next would wait forever otherwise
					return readResult{}, failed
				}
				b, err := read(ctx, f)
				return readResult{bytes: b, room: room}, err
			})
			if failed != nil {
				return failed
			}
		}
		return nil
	})
	return a
}

// next returns the bytes of the next file. The following call releases their room.
func (a *ahead) next(tree.File) ([]byte, error) {
	a.room.Release(a.held)
	got, err := (<-a.files).Wait()
	a.held = got.room
	return got.bytes, err
}
