package dynamo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/shared/adapter/chaos"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/publishing/anchor"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/feedback"
)

// history is what several writers do at once to the threads of an artifact.
type history struct {
	discussed
	t         *testing.T
	workspace workspace.Workspace
	service   *feedback.Service
	by        credential.Actor
	clock     atomic.Int64

	mu       sync.Mutex
	begun    []id.Thread
	numbers  []artifact.Revision // that are published, by their number
	done     []deed
	policies []policy
	letters  []letter
	decided  int64 // how often members let letters through, or dropped them
	refused  map[fault.Code]int
}

// policy is what people decided, and when they asked for it and were answered.
type policy struct {
	feedback.Settings
	asked [2]int64
}

// owned reads artifacts as artifact.Service does for the workspace that owns them.
type owned struct{ Artifacts }

func (o owned) Owned(ctx context.Context, _ credential.Actor, a id.Artifact) (*artifact.Artifact, error) {
	return o.Artifact(ctx, a)
}

func newHistory(t *testing.T, seed uint64) *history {
	t.Helper()
	plain := newStore(t)
	w, k := tenant(t, plain)
	s := New(newClient(t, disturbed(t, seed).Add), plain.tables)
	r := draft(t, s, w, k, "")
	noError(t, s.Artifacts.Publish(ctx, publication(k, r, 1)))
	cursors, err := cursor.New(keyring.New().Seal)
	noError(t, err)
	bounds := limits.Default()
	bounds.Off = true
	h := &history{
		discussed: discussed{s, k, r.Artifact, r.ID},
		t:         t,
		workspace: w,
		numbers:   []artifact.Revision{r},
		refused:   map[fault.Code]int{},
		policies:  []policy{{}},
	}
	h.service = &feedback.Service{
		Store:     s.Feedback,
		Artifacts: owned{s.Artifacts},
		Anchors:   anchor.Checker{},
		Cursors:   cursors,
		Limiter:   &rate.Limiter{Limits: &bounds},
		Limits:    &bounds,
		Now:       now,
	}
	h.by = credential.Actor{
		Key:       k,
		Workspace: w,
		Scopes:    []credential.Scope{credential.Publish, credential.Read, credential.Admin},
	}
	return h
}

// disturbed lets some transactions about threads lose a race, and others the answer of their first attempt. One that
// lost its answer loses no race after it, because its command would then be answered with what became of the thread
// later.
func disturbed(t *testing.T, seed uint64) *chaos.Injector {
	var mu sync.Mutex
	random, sent := rand.New(rand.NewPCG(seed, 1)), map[string]bool{}
	seldom := func(c *chaos.Call, mark bool) bool {
		mu.Lock()
		defer mu.Unlock()
		token := *c.Input.(*dynamodb.TransactWriteItemsInput).ClientRequestToken
		first := !sent[token]
		sent[token] = sent[token] || mark
		return first && random.IntN(12) == 0
	}
	faults := chaos.For(t)
	faults.On("TransactWriteItems").Always().If(chaos.Key("pk", "FB#")).Before(
		func(ctx context.Context, c *chaos.Call) error {
			if seldom(c, false) {
				return chaos.Conflict(ctx, c)
			}
			return nil
		}).After(func(ctx context.Context, c *chaos.Call) error {
		if seldom(c, true) {
			return chaos.Timeout(ctx, c)
		}
		return nil
	})
	return faults
}

const (
	writersAtOnce = 6
	actsOfAWriter = 25
)

// TestRandomActsAtOnceLeaveWhatTheModelAllows has members, agents and guests write, publish, delete and decide at once,
// beside a reader who follows. The seed decides what each of them wants; who comes first is the engine's.
func TestRandomActsAtOnceLeaveWhatTheModelAllows(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			h := newHistory(t, seed)
			var writers sync.WaitGroup
			for n := range writersAtOnce {
				w := &writer{
					history:   h,
					random:    rand.New(rand.NewPCG(seed, uint64(100+n))),
					publishes: n == 0,
					decides:   n == 1,
				}
				w.author = feedback.Author{Kind: feedback.Member, ID: fmt.Sprint("mem_", n/2)}
				if n%2 == 1 {
					w.author = h.author()
				}
				writers.Go(func() {
					for range actsOfAWriter {
						w.act()
					}
				})
			}
			ended := make(chan struct{})
			go func() { writers.Wait(); close(ended) }()
			seen := h.follow(ended)
			h.collect()
			stored := h.stored()
			h.wantModelled(stored)
			h.wantSeen(seen, stored)
			t.Logf("%d acts and %d letters, of which members decided %d times; refused: %v",
				len(h.done), len(h.letters), h.decided, h.refused)
		})
	}
}

// writer is one of those who write at once.
type writer struct {
	*history
	random    *rand.Rand
	author    feedback.Author
	publishes bool // it alone, because an artifact has one draft
	decides   bool // it alone, so that settings have an order
}

// act does one thing at random.
func (w *writer) act() {
	switch n := w.random.IntN(100); {
	case w.publishes && n < 30:
		w.publish()
	case w.decides && n < 30:
		w.decide()
	case n < 35:
		w.begin()
	case n < 42 && w.author.Kind == feedback.Member:
		w.takeBack()
	case n < 46:
		w.collect()
	case n < 62:
		w.send()
	case n < 72 && w.author.Kind == feedback.Member:
		w.judge(n < 69)
	default:
		w.answer()
	}
}

// ask does a deed and keeps it if it was acknowledged. A refusal has to be one that a state explains, and then, as when
// too many wrote at once, nothing was written.
func (w *writer) ask(d deed, do func(feedback.Target) (feedback.Thread, error), thread id.Thread) {
	t := w.target(thread)
	d.by, d.asked[0] = w.author, w.clock.Add(1)
	var err error
	d.thread, err = do(t)
	d.asked[1] = w.clock.Add(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		code := fault.CodeOf(err)
		if w.refused[code]++; !slices.Contains([]fault.Code{
			fault.FeedbackConflict, fault.Forbidden, fault.NotFound, fault.DatabaseUnavailable,
		}, code) {
			w.t.Errorf("%v: %v", d, err)
		}
		return
	}
	if w.done = append(w.done, d); d.begins || d.seen > 0 {
		w.begun = append(w.begun, d.thread.ID)
	}
}

func (w *writer) target(thread id.Thread) feedback.Target {
	return feedback.Target{
		Command:     command(w.key, idempotency.AnswerFeedback),
		RequestedID: w.artifact,
		Unread:      true,
		Thread:      thread,
	}
}

func (w *writer) words() string { return strings.Repeat("word ", 1+w.random.IntN(40)) + "." }

func (w *writer) begin() {
	d := deed{begins: true, answer: feedback.Answer{Reply: w.words()}}
	w.ask(d, func(t feedback.Target) (feedback.Thread, error) {
		return w.service.Create(ctx, w.by, w.author, t, feedback.Remark{Body: d.answer.Reply})
	}, "")
}

// any returns one of the threads that were begun last, so that writers meet; empty: there is none.
func (w *writer) any() id.Thread {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.begun) == 0 {
		return ""
	}
	last := min(len(w.begun), 5)
	return w.begun[len(w.begun)-1-w.random.IntN(last)]
}

func (w *writer) answer() {
	thread, d := w.any(), deed{}
	if thread == "" {
		return
	}
	switch w.random.IntN(12) {
	case 0:
		d.answer.Resolve = true
	case 1:
		d.answer.Reopen = true
	case 2:
		d.answer.Delete = true
	case 3:
		d.answer.Resolve, d.answer.Reply = true, w.words()
	case 4:
		d.answer.Reopen, d.answer.Reply = true, w.words()
	case 5, 6, 7, 8:
		if w.address(&d); d.number%2 == 0 {
			d.answer.Reply = w.words()
		}
	default:
		d.answer.Reply = w.words()
	}
	w.ask(d, func(t feedback.Target) (feedback.Thread, error) {
		return w.service.Answer(ctx, w.by, w.author, t, d.answer)
	}, thread)
}

// address names a revision, which may be older than the one that has addressed a thread.
func (w *writer) address(d *deed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d.number = 1 + w.random.IntN(len(w.numbers))
	d.answer.Addressed = w.numbers[d.number-1].ID
}

// takeBack deletes a message, which another may have written.
func (w *writer) takeBack() {
	thread := w.any()
	messages := must(w.Feedback.Messages(ctx, w.artifact, thread, 0, 100))(w.t)
	if len(messages) == 0 {
		return
	}
	m := messages[w.random.IntN(len(messages))]
	w.ask(deed{takes: m.Number}, func(t feedback.Target) (feedback.Thread, error) {
		return w.service.DeleteMessage(ctx, w.by, w.author, t, m.ID)
	}, thread)
}

// publish publishes a revision that says it has dealt with some threads, as artifact.Service does.
func (w *writer) publish() {
	asked := w.clock.Add(1)
	r := draft(w.t, w.Stores, w.workspace, w.key, w.artifact)
	p := publication(w.key, r, len(w.numbers)+1)
	var addresses []artifact.Address
	for range 1 + w.random.IntN(3) {
		if thread := w.any(); thread != "" {
			addresses = append(addresses, artifact.Address{Thread: thread, Seq: maxSeq})
		}
	}
	addresses = must(feedback.Addresses(addresses))(w.t)
	var closed artifact.Closing
	for {
		closed = must(feedback.Closer{Store: w.Feedback}.Close(ctx, w.by, p, addresses))(w.t)
		p.Threads = closed.Changes
		err := w.Artifacts.Publish(ctx, p)
		if err == nil {
			break
		}
		if !errors.Is(err, artifact.ErrThreads) && fault.CodeOf(err) != fault.DatabaseUnavailable {
			w.t.Error(err)
			return
		}
	}
	answered := w.clock.Add(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.numbers = append(w.numbers, r)
	if write, ok := closed.Changes.(feedback.Closing); ok {
		for _, c := range write.Changes {
			w.done = append(w.done, deed{
				by:     feedback.ByAgent(w.by),
				answer: feedback.Answer{Addressed: r.ID},
				number: p.Number,
				asked:  [2]int64{asked, answered},
				thread: c.Thread,
			})
		}
	}
}

// decide turns threads off for a while, or lets agents resolve.
func (w *writer) decide() {
	off, resolve := w.random.IntN(8) == 0, w.random.IntN(2) == 0
	p := policy{asked: [2]int64{w.clock.Add(1)}}
	var err error
	p.Settings, err = w.service.Set(ctx, w.by, w.target(""), feedback.SettingsChange{Off: &off, AgentsResolve: &resolve})
	if err != nil {
		w.t.Error(err)
	}
	p.asked[1] = w.clock.Add(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.policies = append(w.policies, p)
}

// collect removes messages of deleted threads, as the jobs do. What meets another job or a writer is left for later.
func (h *history) collect() {
	for _, one := range must(h.Queue.DueThreads(ctx, now(), 10))(h.t) {
		if err := h.Queue.RemoveMessages(ctx, one); err != nil && fault.CodeOf(err) != fault.DatabaseUnavailable {
			h.t.Error(err)
		}
	}
}

// follow reads on from the last change that it knows, until it knows the last one of all.
func (h *history) follow(ended <-chan struct{}) map[id.Thread]feedback.Thread {
	seen, since := map[id.Thread]feedback.Thread{}, int64(0)
	a := must(h.Artifacts.Artifact(ctx, h.artifact))(h.t)
	for last := false; ; {
		out, next, err := h.service.List(ctx, h.by, a, feedback.Selection{Since: &since})
		if err != nil && fault.CodeOf(err) != fault.DatabaseUnavailable {
			h.t.Fatal(err)
		}
		for _, thread := range out.Threads {
			if thread.Seq < seen[thread.ID].Seq {
				h.t.Errorf("%s goes back from %d to %d", thread.ID, seen[thread.ID].Seq, thread.Seq)
			}
			seen[thread.ID] = thread
		}
		if err == nil {
			since = out.Until
		}
		if last && next == "" && err == nil {
			return seen
		}
		select {
		case <-ended:
			last = true
		default:
		}
	}
}
