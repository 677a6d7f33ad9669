package feedback

import (
	"context"
	"slices"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
)

// DeleteMessage takes the words of a message away, and deletes a thread that has no other. Errors: artifact_not_found,
// not_found (the thread or the message), forbidden (another one wrote it).
func (s *Service) DeleteMessage(
	ctx context.Context, by credential.Actor, who Author, t Target, m id.Message,
) (Thread, error) {
	if err := by.Require(credential.Publish); err != nil {
		return Thread{}, err
	}
	return s.write(ctx, by, t, event.FeedbackMessageDeleted,
		func(a *artifact.Artifact, counts Counts, thread *Thread) (Change, error) {
			if thread == nil {
				return Change{}, NotFound()
			}
			// Any change of a message since the counts were read makes the commit lose its race.
			all, err := s.Store.Messages(ctx, a.ID, t.Thread, 0, maxReplies+1)
			if err != nil {
				return Change{}, err
			}
			n := slices.IndexFunc(all, func(one Message) bool { return one.ID == m })
			if n < 0 {
				return Change{}, NotFound()
			}
			return DeleteMessage(counts, *thread, all[n], who, s.now())
		})
}
