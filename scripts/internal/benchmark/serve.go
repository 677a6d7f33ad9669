package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"reflect"
	"runtime/metrics"
	"runtime/pprof"
	"syscall"
	"time"

	"github.com/aws/smithy-go/middleware"

	"vitrine/functions/assembly"
	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/local/engines"
	"vitrine/shared/platform/limits"
)

// order is what the process of the hosts is told first, as one line of JSON. Lines of one command each follow; the end
// of the input ends the process. Because -against tells it to programs of other commits, its fields keep their names,
// as those of reading do.
type order struct {
	Engines *engines.Engines
	Data    string // folder of the key rings
	Tables  string
	Log     string // file of the request log
	Counted bool   // no jobs, and calls of AWS are counted by name as well
}

// The commands, beside the file of a CPU profile that begins. Each is answered with one line of JSON, a reading.
const (
	readCommand = "read"
	stopCommand = "stop" // the profile
)

// closeTimeout is how long running requests may take at the end.
const closeTimeout = 10 * time.Second

// serve runs the hosts until the input ends.
func serve(in io.Reader, out io.Writer) error {
	lines, answers := bufio.NewScanner(in), json.NewEncoder(out)
	var o order
	if !lines.Scan() {
		return errors.New("the process of the hosts was told nothing")
	}
	if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
		return err
	}
	log, err := os.Create(o.Log)
	if err != nil {
		return err
	}
	defer log.Close()
	sum := new(totals)
	with := stack.Options{
		Engines:     o.Engines,
		Data:        o.Data,
		Tables:      o.Tables,
		Limits:      lifted(),
		Now:         time.Now,
		OwnOrigins:  true,
		Log:         slog.New(slog.NewJSONHandler(io.MultiWriter(log, sum), nil)),
		DisableJobs: o.Counted,
	}
	if o.Counted {
		with.Middleware = []func(*middleware.Stack) error{sum.name}
	}
	assembly.SetMemory(os.Getenv)
	s, err := stack.Start(context.Background(), with)
	if err != nil {
		return err
	}
	err = errors.Join(answers.Encode(s.Origins), obey(lines, answers, sum))
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return errors.Join(err, s.Close(ctx))
}

// obey answers commands until there are no more.
func obey(lines *bufio.Scanner, answers *json.Encoder, sum *totals) error {
	for lines.Scan() {
		var err error
		switch command := lines.Text(); command {
		case readCommand:
		case stopCommand:
			pprof.StopCPUProfile()
		default:
			err = startProfile(command)
		}
		if err = errors.Join(err, answers.Encode(sum.reading())); err != nil {
			return err
		}
	}
	return lines.Err()
}

func startProfile(file string) error {
	f, err := os.Create(file) // open until the process ends: there are few
	if err != nil {
		return err
	}
	return pprof.StartCPUProfile(f)
}

// cpu is the time that this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it cannot fail for this process
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func allocated() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// lifted returns limits that no load reaches. Limits that are off would not be counted, and a request would then cost
// less than in a deployment. The limit of polls stays, because the server paces open pages by it.
func lifted() limits.Limits {
	const boundless = 1 << 30
	l := limits.Default()
	live := l.Live
	for n, rates := 0, reflect.ValueOf(&l).Elem(); n < rates.NumField(); n++ {
		if r, ok := rates.Field(n).Addr().Interface().(*limits.Rate); ok {
			r.Limit = boundless
		}
	}
	l.Live, l.Pow = live, limits.PowOff
	ephemeral, pro := l.Tiers[limits.Ephemeral], l.Tiers[limits.Pro]
	ephemeral.NewArtifactsPerDay, ephemeral.Reads = boundless, boundless
	ephemeral.FileSize, ephemeral.ArtifactSize = pro.FileSize, pro.ArtifactSize // no workspace can be paid here
	l.Tiers[limits.Ephemeral] = ephemeral
	return l
}
