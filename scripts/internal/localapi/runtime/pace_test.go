package runtime

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

func TestAStreamIsPacedAsLambdaDoes(t *testing.T) {
	for size, want := range map[int64]struct {
		time time.Duration
		cut  bool
	}{
		unpaced:            {},
		unpaced + pace:     {time: time.Second},
		180 << 20:          {time: 91371840 * time.Microsecond},
		maxStream:          {time: 97 * time.Second},
		maxStream + 1:      {time: 97 * time.Second, cut: true},
		maxStream + 10<<20: {time: 97 * time.Second, cut: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			n, err := io.Copy(io.Discard, &paced{Reader: io.LimitReader(zeros{}, size)})
			if took := time.Since(start); took.Round(time.Microsecond) != want.time || n != min(size, maxStream) {
				t.Errorf("%d bytes of %d in %v, want %v", n, size, took, want.time)
			}
			if errors.Is(err, streamTooLarge) != want.cut {
				t.Errorf("%d bytes end with %v", size, err)
			}
		})
	}
}
