package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"
)

// newHost returns a host with a clock that a call of a job moves.
func newHost(jobs ...Job) (h *Host, clock *time.Time, log *bytes.Buffer) {
	now, log := time.Unix(1_800_000_000, 0), new(bytes.Buffer)
	return &Host{Jobs: jobs, Log: slog.New(slog.NewTextHandler(log, nil)), Now: func() time.Time { return now }}, &now, log
}

func TestItWorksUntilNothingIsDue(t *testing.T) {
	left, calls := 3, []string{}
	h, _, _ := newHost(
		Job{"many", func(context.Context) (Round, error) {
			calls = append(calls, "many")
			left--
			return Round{More: left > 0}, nil
		}},
		Job{"none", func(context.Context) (Round, error) { calls = append(calls, "none"); return Round{More: false}, nil }},
	)
	if err := h.Run(t.Context()); err != nil || strings.Join(calls, " ") != "many none many none many none" {
		t.Errorf("%v, %v", calls, err)
	}
}

func TestItStopsWhenItsTimeIsOver(t *testing.T) {
	var clock *time.Time
	rounds := 0
	h, clock, _ := newHost(Job{"endless", func(context.Context) (Round, error) {
		rounds++
		*clock = clock.Add(20 * time.Second)
		return Round{More: true}, nil
	}})
	if err := h.Run(t.Context()); err != nil || rounds != 3 {
		t.Errorf("%d rounds, %v", rounds, err)
	}
}

func TestAJobThatCannotGoOnIsInNobodysWay(t *testing.T) {
	broken := errors.New("broken")
	left := 3
	failures := 0
	h, _, log := newHost(
		Job{"broken", func(context.Context) (Round, error) { failures++; return Round{More: false}, broken }},
		Job{"many", func(context.Context) (Round, error) { left--; return Round{More: left > 0}, nil }},
	)
	err := h.Run(t.Context())
	if !errors.Is(err, broken) || failures != 1 || left != 0 ||
		!strings.Contains(log.String(), "job=broken failures=1 cause=broken") {
		t.Errorf("%v, %d failures, %d left, log %q", err, failures, left, log)
	}
}

func TestAJobGoesOnBehindWhatFails(t *testing.T) {
	first, left := errors.New("first"), 3
	h, _, log := newHost(Job{"many", func(context.Context) (Round, error) {
		left--
		return Round{More: left > 0}, errors.Join(first, errors.Join(errors.New("second")))
	}})
	err := h.Run(t.Context())
	if !errors.Is(err, first) || left != 0 || !strings.Contains(log.String(), "job=many failures=6 cause=first") ||
		strings.Count(log.String(), "msg=job ") != 1 {
		t.Errorf("%v, %d left, log %q", err, left, log)
	}
}

func TestACallThatIsCutOffSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	h, _, log := newHost(Job{
		"cut",
		func(context.Context) (Round, error) { cancel(); return Round{More: true}, context.Canceled },
	})
	if err := h.Run(ctx); !errors.Is(err, context.Canceled) || log.Len() > 0 {
		t.Errorf("%v, log %q", err, log)
	}
}

func TestOneLineTellsHowFarTheJobsAreBehind(t *testing.T) {
	left := []Round{{Due: 3, Oldest: 90 * time.Second, More: true}, {Due: 1, Oldest: 5 * time.Second}}
	h, _, log := newHost(
		Job{"one", func(context.Context) (Round, error) { r := left[0]; left = left[1:]; return r, nil }},
		Job{"other", func(context.Context) (Round, error) { return Round{}, nil }},
	)
	const want = "msg=jobs duration_ms=0 one.due=4 one.failures=0 one.oldest_due_seconds=90 " +
		"other.due=0 other.failures=0 other.oldest_due_seconds=0 oldest_due_seconds=90\n"
	if err := h.Run(t.Context()); err != nil || !strings.HasSuffix(log.String(), want) ||
		strings.Count(log.String(), "\n") != 1 {
		t.Errorf("%v, log %q", err, log)
	}
	log.Reset()
	h.Jobs = h.Jobs[1:]
	if err := h.Run(t.Context()); err != nil || log.Len() > 0 {
		t.Errorf("%v; nothing is due, and the log says %q", err, log)
	}
}

func TestOnlyAScheduleWakesIt(t *testing.T) {
	ran := 0
	h, _, _ := newHost(Job{"one", func(context.Context) (Round, error) { ran++; return Round{More: false}, nil }})
	schedule, err := os.ReadFile("../../events/jobs/schedule.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Handle(t.Context(), schedule); err != nil || ran != 1 {
		t.Errorf("a schedule: %v, ran %d times", err, ran)
	}
	for _, other := range []string{
		`{}`, `{"source":"aws.s3","detail-type":"Object Created"}`, `{"version":"2.0","routeKey":"GET /healthz"}`,
		`[]`,
	} {
		if err := h.Handle(t.Context(), json.RawMessage(other)); err == nil || ran != 1 {
			t.Errorf("%s: %v, ran %d times", other, err, ran)
		}
	}
}
