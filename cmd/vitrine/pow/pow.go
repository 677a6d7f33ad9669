// Package pow solves the proof of work that a busy server asks for before it makes an ephemeral workspace.
//
// A counter solves a nonce when SHA-256 of "nonce:counter", the counter in decimal, begins
// with at least difficulty zero bits.
package pow

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// MaxDifficulty is the largest number of bits that is worth trying: some 270 million hashes on average.
const MaxDifficulty = 28

// MaxNonce bounds the nonce, so that a hostile server cannot make each hash slow.
const MaxNonce = 256

// batch is how many counters a worker takes at a time. It checks for cancellation between batches.
const batch = 1 << 13

// Challenge is the server's challenge. The client returns it with the Solution.
type Challenge struct {
	Nonce      string    `json:"nonce"`
	Difficulty int       `json:"difficulty"`
	ExpiresAt  time.Time `json:"expires_at"`
	Signature  string    `json:"signature"`
}

// Solution solves a Challenge.
type Solution struct {
	Nonce   string `json:"nonce"`
	Counter uint64 `json:"counter"`
}

// Reasons why a challenge stays unsolved, in addition to the end of the context.
var (
	ErrTooHard = errors.New("the proof of work is harder than the CLI accepts")
	ErrExpired = errors.New("the challenge expired before it was solved")
)

// Solve searches on all cores until it finds a solution, the challenge expires or ctx ends.
func Solve(ctx context.Context, c Challenge) (Solution, error) {
	if c.Difficulty < 0 || c.Difficulty > MaxDifficulty || len(c.Nonce) > MaxNonce {
		return Solution{}, fmt.Errorf("%w: %d bits", ErrTooHard, c.Difficulty)
	}
	ctx, cancel := context.WithDeadlineCause(ctx, c.ExpiresAt, ErrExpired)
	defer cancel()
	counter, found := search(ctx, c, runtime.GOMAXPROCS(0))
	if !found {
		return Solution{}, context.Cause(ctx)
	}
	return Solution{Nonce: c.Nonce, Counter: counter}, nil
}

// search splits the counters among workers. All stop at the first solution or when ctx ends.
func search(ctx context.Context, c Challenge, workers int) (counter uint64, found bool) {
	var next atomic.Uint64
	var group sync.WaitGroup
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	solved := make(chan uint64, workers)
	for range workers {
		group.Go(func() {
			for ctx.Err() == nil {
				if n, ok := try(c, next.Add(batch)-batch); ok {
					solved <- n
					stop()
				}
			}
		})
	}
	group.Wait()
	select {
	case counter = <-solved:
		return counter, true
	default:
		return 0, false
	}
}

// try tries the counters of one batch.
func try(c Challenge, first uint64) (uint64, bool) {
	text := append(make([]byte, 0, MaxNonce+24), c.Nonce...)
	text = append(text, ':')
	for n := first; n < first+batch; n++ {
		sum := sha256.Sum256(strconv.AppendUint(text, n, 10))
		if zeroBits(sum) >= c.Difficulty {
			return n, true
		}
	}
	return 0, false
}

// zeroBits counts the leading zero bits of a digest.
func zeroBits(sum [sha256.Size]byte) (zeros int) {
	for _, b := range sum {
		zeros += bits.LeadingZeros8(b)
		if b != 0 {
			break
		}
	}
	return zeros
}
