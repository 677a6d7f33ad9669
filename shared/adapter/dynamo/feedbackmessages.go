package dynamo

import (
	"context"
	"strconv"
	"strings"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/feedback"
)

// Messages implements feedback.Store.
func (s Feedback) Messages(
	ctx context.Context, a id.Artifact, t id.Thread, after, most int,
) (all []feedback.Message, err error) {
	first, last := messageKey(a, t, after+1), messageKey(a, t, maxMessageNumber)
	err = s.between(ctx, first, last, most, func(i item) bool {
		all = append(all, readMessage(i))
		return len(all) < most
	})
	return all, err
}

// messagesRead is how many messages one read takes; DynamoDB answers at most 1 MB of them.
const messagesRead = 1_000

// AllMessages implements sweep.Discussions.
func (s Feedback) AllMessages(ctx context.Context, a id.Artifact) (map[id.Thread][]feedback.Message, error) {
	all := map[id.Thread][]feedback.Message{}
	first, last := messageKey(a, "", 0), messageKey(a, "~", 0) // an id sorts between them
	err := s.between(ctx, first, last, messagesRead, func(i item) bool {
		m := readMessage(i)
		all[m.Thread] = append(all[m.Thread], m)
		return true
	})
	return all, err
}

func readMessage(i item) feedback.Message {
	_, rest, _ := strings.Cut(i.key().sk, "#")
	thread, number, _ := strings.Cut(rest, "#")
	n, _ := strconv.Atoi(number)
	return *decode(i, &feedback.Message{Thread: id.Thread(thread), Number: n}, messageFields)
}
