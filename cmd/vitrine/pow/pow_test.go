package pow

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

const nonce = "q83vEjRWeJCrze8SNFZ4kA"

func challenge(difficulty int) Challenge {
	return Challenge{
		Nonce:      nonce,
		Difficulty: difficulty,
		ExpiresAt:  time.Now().Add(time.Hour),
		Signature:  "s",
	}
}

// TestSolve checks each solution independently, by the digest written out in binary.
func TestSolve(t *testing.T) {
	for _, difficulty := range []int{0, 1, 8, 13, 16} {
		t.Run(fmt.Sprintf("%d bits", difficulty), func(t *testing.T) {
			got, err := Solve(t.Context(), challenge(difficulty))
			if err != nil {
				t.Fatal(err)
			}
			if got.Nonce != nonce {
				t.Errorf("nonce %q, want the challenge's", got.Nonce)
			}
			var binary strings.Builder
			for _, b := range sha256.Sum256(fmt.Appendf(nil, "%s:%d", nonce, got.Counter)) {
				fmt.Fprintf(&binary, "%08b", b)
			}
			if !strings.HasPrefix(binary.String(), strings.Repeat("0", difficulty)) {
				t.Errorf("counter %d gives %s, want %d leading zeros", got.Counter, binary.String()[:32], difficulty)
			}
		})
	}
}

func TestSearchFindsTheFirstSolutionAlone(t *testing.T) {
	const difficulty = 10
	want := uint64(0)
	for zeroBits(sha256.Sum256(fmt.Appendf(nil, "%s:%d", nonce, want))) < difficulty {
		want++
	}
	got, ok := search(t.Context(), challenge(difficulty), 1)
	if !ok || got != want {
		t.Errorf("one worker found %d (%v), want the smallest counter %d", got, ok, want)
	}
}

func TestZeroBits(t *testing.T) {
	for _, tt := range []struct {
		sum  [sha256.Size]byte
		want int
	}{
		{[sha256.Size]byte{0x80}, 0},
		{[sha256.Size]byte{0x01}, 7},
		{[sha256.Size]byte{0x00, 0xff}, 8},
		{[sha256.Size]byte{0x00, 0x00, 0x10}, 19},
		{[sha256.Size]byte{}, 256},
	} {
		if got := zeroBits(tt.sum); got != tt.want {
			t.Errorf("zeroBits(%x…) = %d, want %d", tt.sum[:4], got, tt.want)
		}
	}
}

func TestSolveGivesUp(t *testing.T) {
	expired := challenge(MaxDifficulty)
	expired.ExpiresAt = time.Now().Add(-time.Second)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	long := challenge(1)
	long.Nonce = strings.Repeat("n", MaxNonce+1)
	for _, tt := range []struct {
		name string
		ctx  context.Context
		c    Challenge
		want error
	}{
		{"when it is too hard", t.Context(), challenge(MaxDifficulty + 1), ErrTooHard},
		{"when the difficulty is negative", t.Context(), challenge(-1), ErrTooHard},
		{"when the nonce is huge", t.Context(), long, ErrTooHard},
		{"when the challenge has expired", t.Context(), expired, ErrExpired},
		{"when the command is interrupted", cancelled, challenge(MaxDifficulty), context.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Solve(tt.ctx, tt.c); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
		})
	}
}
