package sweep

import (
	"context"
	"encoding/json"
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

// discussion is the text of a file about the threads of an artifact.
type discussion struct {
	name string
	text []byte
}

// collectThreads adds the threads of an artifact, if there are any and if there is room.
func (x *Exporter) collectThreads(
	ctx context.Context, a *artifact.Artifact, c *collection, out *export.Artifact,
) (full bool, err error) {
	messages, err := x.Threads.AllMessages(ctx, a.ID)
	if err != nil {
		return false, err
	}
	waiting, err := x.Threads.Waiting(ctx, a.ID)
	if err != nil || len(messages)+len(waiting) == 0 {
		return false, err
	}
	var all []contract.Thread
	for q := (feedback.Query{Artifact: a.ID, Limit: threadPage}); ; {
		l, err := x.Threads.List(ctx, q)
		if err != nil {
			return false, err
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
	if len(all)+len(waiting) == 0 {
		return false, nil
	}
	text, err := json.Marshal(map[string]any{
		"artifact_id": a.ID,
		"threads":     all,
		"held":        contract.Rows(waiting, feedback.Held.Record),
	})
	if err != nil || c.full(int64(len(text))) {
		return err == nil, err
	}
	out.Feedback = fmt.Sprintf("artifacts/%s-%s/feedback.json", archive.Slug(a.Title), a.ID)
	c.threads = append(c.threads, discussion{out.Feedback, text})
	c.size += int64(len(text))
	c.count(out.Feedback)
	return false, nil
}
