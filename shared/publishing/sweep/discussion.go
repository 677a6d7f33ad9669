package sweep

import (
	"context"
	"fmt"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/archive"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/feedback"
)

// Discussions reads the threads about artifacts.
type Discussions interface {
	List(ctx context.Context, q feedback.Query) (feedback.Listing, error)
	// AllMessages reads the messages of all threads of an artifact strongly, each in their order.
	AllMessages(ctx context.Context, a id.Artifact) (map[id.Thread][]feedback.Message, error)
	// Waiting reads what guests wrote that waits for a member.
	Waiting(ctx context.Context, a id.Artifact) ([]feedback.Held, error)
}

// threadPage is how many threads one read takes.
const threadPage = 100

// discussion is a file about the threads of an artifact. Its text is read again when it is written, because those of a
// whole archive would fill the memory.
type discussion struct {
	name     string
	artifact id.Artifact
}

// collectThreads adds the threads of an artifact, if there are any and if there is room.
func (x *Exporter) collectThreads(
	ctx context.Context, a *artifact.Artifact, c *collection, out *export.Artifact,
) (full bool, err error) {
	text, found, err := x.discussion(ctx, a.ID)
	if err != nil || !found {
		return false, err
	}
	size := int64(len(text))
	if c.full(size) {
		return true, nil
	}
	out.Feedback = fmt.Sprintf("artifacts/%s-%s/feedback.json", archive.Slug(a.Title), a.ID)
	c.threads = append(c.threads, discussion{out.Feedback, a.ID})
	c.size += size
	c.count(out.Feedback)
	return false, nil
}

// discussion returns the threads of an artifact with all of their messages as JSON, and whether there are any.
func (x *Exporter) discussion(ctx context.Context, a id.Artifact) (text []byte, found bool, err error) {
	messages, err := x.Threads.AllMessages(ctx, a)
	if err != nil {
		return nil, false, err
	}
	waiting, err := x.Threads.Waiting(ctx, a)
	if err != nil {
		return nil, false, err
	}
	all := []contract.Thread{}
	for q := (feedback.Query{Artifact: a, Limit: threadPage}); len(messages) > 0; {
		l, err := x.Threads.List(ctx, q)
		if err != nil {
			return nil, false, err
		}
		for _, t := range l.Threads {
			said := contract.Rows(messages[t.ID], feedback.Message.Record)
			all = append(all, contract.Thread{ThreadSummary: t.Record(), Items: said})
		}
		if !l.More {
			break
		}
		q.After = l.Until
	}
	text, err = contract.Encode(map[string]any{
		"artifact_id": a,
		"threads":     all,
		"held":        contract.Rows(waiting, feedback.Held.Record),
	})
	return text, len(all)+len(waiting) > 0, err
}
