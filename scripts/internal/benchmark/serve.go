package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"runtime/metrics"
	"runtime/pprof"
	"syscall"
	"time"

	"github.com/aws/smithy-go/middleware"

	"vitrine/functions/assembly"
	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/engine"
	"vitrine/shared/platform/limits"
)

// order is what the process of the hosts is told first, as one line of JSON. Lines of one command each follow; the end
// of the input ends the process.
type order struct {
	Engines *engine.Engines
	Data    string // folder of the key rings
	Tables  string
	Log     string // file of the request log
	Counted bool   // no jobs, and calls of AWS are counted by name as well
	// Functions runs the hosts as so many functions each, 0: in this process. The log of functions holds more than
	// requests, and is not summed up.
	Functions int
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
		Log:         slog.New(slog.NewJSONHandler(io.MultiWriter(log, sum), nil)),
		DisableJobs: o.Counted,
	}
	if o.Counted {
		with.Middleware = []func(*middleware.Stack) error{sum.name}
	}
	if o.Functions > 0 { // which take no other numbers
		with.Lambda = true
		with.Processes = o.Functions
		with.Output = log
		with.Limits = limits.Default()
		with.Limits.Pow = limits.PowOff
	} else {
		assembly.SetMemory(os.Getenv)
	}
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
