package dynamo

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/feedback"
)

// Feedback stores the threads of artifacts.
type Feedback struct{ *db }

var _ feedback.Store = Feedback{}

func countsFields(f fields, c *feedback.Counts) {
	integer(f, "seq", &c.Seq)
	integer(f, "open", &c.Open)
	integer(f, "threads", &c.Threads)
	integer(f, "messages", &c.Messages)
	integer(f, "text", &c.Text)
	integer(f, "held", &c.Held)
	integer(f, "held_seq", &c.HeldSeq)
	policy := policyOf(c.Settings)
	text(f, "policy", &policy)
	c.Off, c.Links = policy == policyOff, policy == policyLinks
	f.flag("at_once", &c.AtOnce)
	f.flag("agents", &c.AgentsResolve)
}

func readCounts(i item) (c feedback.Counts) {
	countsFields(reading(i), &c)
	return c
}

func threadItem(t feedback.Thread) item { return encode(threadKey(t.Artifact, t.ID), &t, threadFields) }

func threadFields(f fields, t *feedback.Thread) {
	text(f, "rev", &t.Revision)
	text(f, "path", &t.Path)
	anchorFields(f, &t.Anchor)
	text(f, "state", &t.State)
	text(f, "adr_rev", &t.Addressed.Revision)
	integer(f, "adr_no", &t.Addressed.Number)
	author(f, "adr", &t.Addressed.By)
	text(f, "adr_note", &t.Addressed.Note)
	f.time("adr_at", &t.Addressed.At)
	integer(f, "seq", &t.Seq)
	integer(f, "messages", &t.Messages)
	excerpt(f, "first", &t.First)
	excerpt(f, "new", &t.Newest)
	f.time("updated", &t.UpdatedAt)
}

func anchorFields(f fields, a *feedback.Anchor) {
	text(f, "kind", &a.Kind)
	integer(f, "from", &a.From)
	integer(f, "to", &a.To)
	text(f, "exact", &a.Exact)
	text(f, "prefix", &a.Prefix)
	text(f, "suffix", &a.Suffix)
	f.flag("verified", &a.Verified)
}

// excerpt copies the begin of a message. prefix names the attributes.
func excerpt(f fields, prefix string, v *feedback.Excerpt) {
	author(f, prefix, &v.Author)
	text(f, prefix+"_text", &v.Text)
	f.flag(prefix+"_cut", &v.Cut)
	f.time(prefix+"_at", &v.At)
}

// author copies who did something. prefix names the attributes.
func author(f fields, prefix string, v *feedback.Author) {
	text(f, prefix+"_kind", &v.Kind)
	text(f, prefix+"_id", &v.ID)
	text(f, prefix+"_name", &v.Name)
}

func readThread(i item, a id.Artifact, t id.Thread) *feedback.Thread {
	return decode(i, &feedback.Thread{ID: t, Artifact: a}, threadFields)
}

func messageItem(a id.Artifact, m feedback.Message) item {
	return encode(messageKey(a, m.Thread, m.Number), &m, messageFields)
}

func messageFields(f fields, m *feedback.Message) {
	text(f, "id", &m.ID)
	author(f, "by", &m.Author)
	text(f, "body", &m.Body)
	f.time("at", &m.At)
	f.flag("deleted", &m.Deleted)
}

// Thread implements feedback.Store.
func (s Feedback) Thread(
	ctx context.Context, a id.Artifact, t id.Thread,
) (feedback.Counts, *feedback.Thread, error) {
	counts, threads, err := s.Threads(ctx, a, []id.Thread{t})
	return counts, threads[0], err
}

// Threads implements feedback.Threads.
func (s Feedback) Threads(
	ctx context.Context, a id.Artifact, all []id.Thread,
) (feedback.Counts, []*feedback.Thread, error) {
	keys := []key{countsKey(a)}
	for _, t := range all {
		if t.Valid() { // otherwise it may be longer than a key
			keys = append(keys, threadKey(a, t))
		}
	}
	f, err := s.all(ctx, keys, true)
	threads := make([]*feedback.Thread, len(all))
	for n, t := range all {
		threads[n] = readThread(f.at(threadKey(a, t)), a, t)
	}
	return readCounts(f.at(countsKey(a))), threads, err
}

// between reads items of a partition strongly from one sort key to another, about n at a time, until take has enough.
func (s *db) between(ctx context.Context, first, last key, n int, take func(item) (more bool)) error {
	const condition = "#pk = :pk AND #sk BETWEEN :first AND :last"
	in := &dynamodb.QueryInput{
		TableName:                 &s.tables.Core,
		KeyConditionExpression:    aws.String(condition),
		ExpressionAttributeNames:  names(condition),
		ExpressionAttributeValues: values{"pk": first.pk, "first": first.sk, "last": last.sk}.attributes(),
		ConsistentRead:            aws.Bool(true),
		Limit:                     aws.Int32(int32(n)),
	}
	return s.query(ctx, in, func(page []item) (bool, error) {
		return !slices.ContainsFunc(page, func(i item) bool { return !take(i) }), nil
	})
}

// How a list of threads is read.
const (
	maxExamined = 500 // places in the order of changes, for one page
	listTries   = 3   // because a query may see a half of a transaction
)

// List implements feedback.Store.
func (s Feedback) List(ctx context.Context, q feedback.Query) (feedback.Listing, error) {
	for range listTries {
		out, whole, err := s.tryList(ctx, q)
		if err != nil || whole {
			return out, err
		}
		q.Counts = nil
	}
	return feedback.Listing{}, fault.New(fault.DatabaseUnavailable, "the threads keep changing; repeat the request in a moment")
}

// tryList reads a page, and reports whether it is whole. The counts are read first. A transaction that raised them since has
// put the place of its change, which the page has or does not reach; a place whose thread is older has been put by one
// whose other half was not seen.
func (s Feedback) tryList(ctx context.Context, q feedback.Query) (out feedback.Listing, whole bool, err error) {
	if q.Counts != nil {
		out.Counts = *q.Counts
	} else {
		var i item
		i, err = s.get(ctx, countsKey(q.Artifact))
		out.Counts = readCounts(i)
	}
	out.Until = out.Seq
	if err != nil || out.Seq <= q.After {
		return out, err == nil, err
	}
	var places []turn
	end, examined := q.After, 0
	most := maxExamined
	if q.State == "" { // nearly all are wanted
		most = min(q.Limit+1, most)
	}
	err = s.between(ctx, placeKey(q.Artifact, q.After+1), placeKey(q.Artifact, maxSeq), most, func(i item) bool {
		if len(places) == q.Limit || examined == maxExamined {
			out.More = true
			return false
		}
		p := readPlace(i)
		end, examined = p.seq, examined+1
		if wanted(q, p.state) {
			places = append(places, p)
		}
		return true
	})
	switch {
	case err != nil:
		return out, false, err
	case out.More:
		out.Until = end
	case end < out.Seq:
		return out, false, nil
	}
	out.Threads, whole, err = s.threadsAt(ctx, q.Artifact, places)
	return out, whole, err
}

func wanted(q feedback.Query, s feedback.State) bool {
	if q.State == "" {
		return s != feedback.Deleted || q.Deleted
	}
	return s == q.State
}

// turn is where a thread stands in the order of changes.
type turn struct {
	seq    int64
	thread id.Thread
	state  feedback.State
}

func placeItem(t feedback.Thread) item {
	i := newItem(placeKey(t.Artifact, t.Seq)).str("thr", string(t.ID)).str("state", string(t.State))
	if t.First.Author.Kind == feedback.Guest {
		i.str("by", string(feedback.Guest))
	}
	return i
}

func readPlace(i item) turn {
	seq, _ := strconv.ParseInt(strings.TrimPrefix(i.key().sk, placePrefix), 10, 64)
	return turn{
		seq:    seq,
		thread: id.Thread(i.getStr("thr")),
		state:  feedback.State(i.getStr("state")),
	}
}

// placed reads the threads of places strongly; nil for each that there is not.
func (s Feedback) placed(ctx context.Context, a id.Artifact, places []turn) ([]*feedback.Thread, error) {
	keys := make([]key, len(places))
	for n, p := range places {
		keys[n] = threadKey(a, p.thread)
	}
	f, err := s.all(ctx, keys, true)
	if err != nil {
		return nil, err
	}
	threads := make([]*feedback.Thread, len(places))
	for n, p := range places {
		threads[n] = readThread(f.at(keys[n]), a, p.thread)
	}
	return threads, nil
}

// threadsAt reads the threads of places, and reports whether each is as new as its place.
func (s Feedback) threadsAt(
	ctx context.Context, a id.Artifact, places []turn,
) (all []feedback.Thread, whole bool, err error) {
	read, err := s.placed(ctx, a, places)
	if err != nil {
		return nil, false, err
	}
	for n, p := range places {
		t := read[n]
		if t == nil || t.Seq < p.seq {
			return nil, false, nil
		}
		if t.Seq > p.seq && slices.ContainsFunc(places[n+1:], func(later turn) bool { return later.thread == p.thread }) {
			continue // its old place was not yet seen to go
		}
		all = append(all, *t)
	}
	return all, true, nil
}

// Commit implements feedback.Store.
func (s Feedback) Commit(ctx context.Context, c feedback.Commit) error {
	t := s.beginCommit(c)
	if c.Changes() {
		t.count(c.Workspace, c.Thread.Artifact, c.Before, c.After, c.At, raced)
		t.wait(c.Change)
		if c.Changed() {
			t.change(c.Change)
		}
		t.record(c.Event)
	} else {
		t.check(threadKey(c.Thread.Artifact, c.Thread.ID), "#seq = :seq", values{"seq": c.Thread.Seq}, raced)
	}
	return s.commit(ctx, t)
}

// beginCommit returns a transaction with the conditions of every change.
func (s Feedback) beginCommit(c feedback.Commit) *transaction {
	u := updateLive(c.Thread.Artifact)
	u.requireOwner(c.Workspace, c.From)
	u.requireAbsent("lock")
	u.require("attribute_exists(#cur)")
	if c.From == "" { // otherwise the artifact ends when the claim said
		u.require("(#exp > :now OR attribute_exists(#pin_at))")
		u.values["now"] = c.At
	}
	t := s.begin()
	t.finish(c.Command, c.Result, c.At)
	if c.Link != nil {
		u.values["made"] = c.Link.CreatedAt
		u.require("(attribute_not_exists(#links_closed) OR #links_closed < :made)")
		u.requireAbsent("links_off")
		t.check(linkKey(c.Link.Public), "attribute_not_exists(#rev_at) AND #comments = :yes", values{"yes": true},
			func(item) error { return feedback.NoComments() })
	}
	t.checkArtifact(u, moved)
	t.checkFence(c.Workspace)
	return t
}

// count writes the counts of an artifact, which have to be as they were, and its place in the inbox of its workspace.
func (t *transaction) count(w id.Workspace, a id.Artifact, before, after feedback.Counts, at time.Time, r refusal) {
	condition, v := sameHeld+" AND "+sameSettings, settings(before)
	maps.Copy(v, values{
		"held_was":     before.Held,
		"held_seq_was": before.HeldSeq,
		"open":         after.Open,
		"threads":      after.Threads,
		"messages":     after.Messages,
		"text":         after.Text - before.Text, // because a job takes bytes out, too
		"at":           at,
	})
	set := "SET #open = :open, #threads = :threads, #messages = :messages, #updated = :at"
	if after.Seq > 0 {
		set, v["seq"] = set+", #seq = :seq", after.Seq
	}
	if after.HeldSeq > 0 {
		set += ", #held = :held, #held_seq = :held_seq"
		v["held"], v["held_seq"] = after.Held, after.HeldSeq
	}
	if after.Open+after.Held > 0 {
		set += ", #g1p = :inbox, #g1s = :place"
		v["inbox"], v["place"] = openThreadsOf(w), timeKey(at, a)
	} else {
		set += " REMOVE #g1p, #g1s"
	}
	if before.Seq == 0 {
		condition += " AND attribute_not_exists(#seq)"
	} else {
		condition += " AND #seq = :was"
		v["was"] = before.Seq
	}
	t.update(countsKey(a), set+" ADD #text :text", condition, v, r)
}

// closeThreads writes what a publication does to threads.
func (t *transaction) closeThreads(p artifact.Publication) {
	c, ok := p.Threads.(feedback.Closing)
	if !ok {
		return
	}
	first, last := c.Changes[0], c.Changes[len(c.Changes)-1]
	t.count(p.Workspace, p.Artifact, first.Before, last.After, p.At, func(item) error { return artifact.ErrThreads })
	for _, one := range c.Changes {
		t.change(one)
	}
	t.record(c.Event)
}

// change writes a thread and its place in the order of changes.
func (t *transaction) change(c feedback.Change) {
	a := c.Thread.Artifact
	thread := threadItem(c.Thread)
	if c.Thread.State == feedback.Deleted {
		thread.str("g2p", queueOf(threadDue, string(c.Thread.ID))).str("g2s", millisKey(c.Thread.UpdatedAt))
	}
	t.put(thread, "", nil, nil)
	t.put(placeItem(c.Thread), "", nil, nil)
	if c.Was.Seq > 0 {
		t.remove(placeKey(a, c.Was.Seq), "", nil, nil)
	}
	for _, m := range c.Messages {
		if m.Deleted {
			t.put(messageItem(a, m), "", nil, nil)
		} else {
			t.create(messageItem(a, m))
		}
	}
}

func raced(item) error { return feedback.ErrRaced }
