package rate

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/conflict"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Stream is one slot of a subject, held while a large body is sent.
type Stream struct {
	Kind    string // the kind of subject
	Subject string
	Slot    int
	Until   time.Time // when the stream ends unless it is released; it also tells the holders of a slot apart
}

// The kinds of streams. The suffix mediumStream counts bodies up to limits.LargeStreamsAbove apart.
const (
	addressStream  = "address"
	artifactStream = "artifact"
	mediumStream   = "-medium"
)

// StreamStore is the store of Streams.
// streamLife is when a stream ends that is not released. It is also the time limit of content's function.
const streamLife = 240 * time.Second

// streamWait is the Retry-After when all streams are in use.
const streamWait = 10 * time.Second

type StreamStore interface {
	// AcquireStream takes the slot of a stream if it is free at now. Otherwise ok is false, and free lists the free slots
	// below most. It may be repeated.
	AcquireStream(ctx context.Context, s Stream, most int, now time.Time) (free []int, ok bool, err error)
	// ReleaseStream frees the slot of a stream unless another stream holds it. It may be repeated.
	ReleaseStream(ctx context.Context, s Stream) error
}

// Streams caps how many large bodies are sent at once, because each occupies a function for as long as its reader
// takes, and how many requests of a caller wait.
type Streams struct {
	Store  StreamStore
	Limits *limits.Limits
	Now    func() time.Time
}

// errSlotTaken reports that another stream took a slot that looked free.
var errSlotTaken = errors.New("another stream took the slot")

// slotPolicy bounds how often a stream tries another slot. Every lost attempt means that another stream began.
var slotPolicy = conflict.Policy{Lost: errSlotTaken, Attempts: 8, Exhausted: tooManyStreams}

// Acquire begins a stream of size bytes of an artifact to a client. address is the counter subject of the client, not
// its raw address. release ends the stream even if ctx has ended, and may be called again. Acquire refuses with
// rate_limited_artifact, also when the store is unavailable. If the release is lost or the process dies, the stream
// ends after streamLife.
func (s *Streams) Acquire(
	ctx context.Context, address string, artifact id.Artifact, size int64,
) (release func(), err error) {
	if s.Limits.Off {
		return func() {}, nil
	}
	class := ""
	ofOne, ofAll := s.Limits.AddressStreams, s.Limits.ArtifactStreams
	if size <= limits.LargeStreamsAbove {
		class = mediumStream
		ofOne, ofAll = s.Limits.MediumAddressStreams, s.Limits.MediumArtifactStreams
	}
	other := async.Go(func() (Stream, error) { return s.acquire(ctx, addressStream+class, address, ofOne) })
	ofArtifact, err := s.acquire(ctx, artifactStream+class, string(artifact), ofAll)
	ofAddress, err2 := other.Wait()
	err = cmp.Or(err, err2)
	release = sync.OnceFunc(func() { s.release(ctx, ofAddress, ofArtifact) })
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// acquire takes a free slot. A returned stream of kind "" holds no slot. A stream that is returned with an error may
// hold its slot, because the call may have had its effect.
func (s *Streams) acquire(ctx context.Context, kind, subject string, most int) (Stream, error) {
	now := s.Now()
	// ReleaseStream recognises the holder of a slot by Until, so streams that begin at once need different ends.
	unique := time.Duration(rand.Int64N(int64(time.Millisecond)))
	stream := Stream{
		Kind:    kind,
		Subject: subject,
		Slot:    rand.IntN(most),
		Until:   now.Add(streamLife - unique),
	}
	return conflict.Retry(slotPolicy, func() (Stream, error) {
		free, ok, err := s.Store.AcquireStream(ctx, stream, most, now)
		switch {
		case err != nil:
			return stream, counterUnavailable(fault.RateLimitedArtifact, err)
		case ok:
			return stream, nil
		case len(free) == 0:
			return Stream{}, tooManyStreams()
		}
		stream.Slot = free[rand.IntN(len(free))]
		return Stream{}, errSlotTaken
	})
}

func tooManyStreams() error {
	return fault.New(fault.RateLimitedArtifact,
		"too many large files are being sent at once; wait as long as Retry-After says").After(streamWait)
}

// release ends streams within giveBackTime, because the reader's request waits for it. It drops a failure, because a
// stream ends by itself after streamLife.
func (s *Streams) release(ctx context.Context, streams ...Stream) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackTime)
	defer cancel()
	var steps []func() error
	for _, one := range streams {
		if one.Kind != "" {
			steps = append(steps, func() error { return s.Store.ReleaseStream(ctx, one) })
		}
	}
	_ = async.All(steps...)
}
