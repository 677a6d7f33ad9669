package reading

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/rate"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/tree"
)

// store has the one artifact.
type store struct{ *Artifact }

func (s store) ReadState(context.Context, readaccess.Query) (readaccess.State, error) {
	return s.State, s.StoreErr
}

func (s store) Workspace(context.Context, id.Workspace) (*workspace.Workspace, error) {
	return nil, s.StoreErr
}

func (s store) Revision(context.Context, id.Artifact, id.Revision) (*artifact.Revision, error) {
	return s.Other, s.StoreErr
}

func (s store) Tree(context.Context, id.Artifact, id.Revision) (tree.Tree, error) {
	return s.Files, s.StoreErr
}

// exports has the one export, of the workspace that has the artifact.
type exports struct{ *Artifact }

func (e exports) Export(context.Context, id.Workspace) (*export.Export, error) {
	return &e.Exported, e.StoreErr
}

func (e exports) Workspace(context.Context, id.Workspace) (*workspace.Workspace, error) {
	return e.State.Workspace, e.StoreErr
}

// objects has the bytes of both.
type objects struct{ *Artifact }

func (o objects) Open(_ context.Context, _ id.Workspace, object tree.Object, offset, size int64) (io.ReadCloser, error) {
	o.Opened.Add(1)
	if o.Held != nil {
		<-o.Held
	}
	if o.OpenErr != nil {
		return nil, o.OpenErr
	}
	if o.Body != nil {
		return o.Body(size), nil
	}
	return io.NopCloser(strings.NewReader(o.Bodies[object][offset : offset+size])), nil
}

func (o objects) OpenBundle(_ context.Context, object artifact.BundleObject, offset, size int64) (io.ReadCloser, error) {
	return o.open(object, o.State.Artifact.BundleObject(o.Claims.Revision), offset, size)
}

func (o objects) OpenExport(_ context.Context, object export.Object, offset, size int64) (io.ReadCloser, error) {
	return o.open(object, o.Exported.Object(object.Volume), offset, size)
}

// open opens an archive.
func (o objects) open(asked, there any, offset, size int64) (io.ReadCloser, error) {
	o.Opened.Add(1)
	if asked != there {
		return nil, fmt.Errorf("%+v is opened, not %+v", asked, there)
	}
	return io.NopCloser(strings.NewReader(o.Archive[offset : offset+size])), o.OpenErr
}

// Counted returns how many windows count something.
func (a *Artifact) Counted() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.counts)
}

// Count implements rate.Counters.
func (a *Artifact) Count(_ context.Context, w rate.Window, add, limit int) (int, bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	window := w.Subject + w.Start.String()
	if a.counts[window] >= limit {
		return 0, false, nil
	}
	a.counts[window] += add
	return a.counts[window], true, nil
}

// OpenStreams returns how many streams are open.
func (a *Artifact) OpenStreams() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.streams)
}

// AcquireStream takes a slot of a stream.
func (a *Artifact) AcquireStream(
	_ context.Context, st rate.Stream, most int, _ time.Time,
) (free []int, ok bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	until := st.Until.UnixNano()
	st.Until = time.Time{}
	if a.streams[st] == 0 && !a.NoStreams {
		a.streams[st] = until
		return nil, true, a.StoreErr
	}
	for st.Slot = range most {
		if a.streams[st] == 0 && !a.NoStreams {
			free = append(free, st.Slot)
		}
	}
	return free, false, nil
}

// ReleaseStream gives it back.
func (a *Artifact) ReleaseStream(_ context.Context, st rate.Stream) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	until := st.Until.UnixNano()
	if st.Until = (time.Time{}); a.streams[st] == until {
		delete(a.streams, st)
	}
	return nil
}
