package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/metrics"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"

	"github.com/aws/smithy-go/middleware"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/engine"
	"vitrine/shared/boot"
	"vitrine/shared/platform/limits"
)

// order is what the process of the hosts is told first, as one line of JSON. Lines of one command each follow; the end
// of the input ends the process.
type order struct {
	Engines *engine.Engines
	Data    string // folder of the key rings
	Tables  string
	Log     string // file of the request log
	Still   bool   // no jobs
	Named   bool   // calls of AWS are counted by name as well
	// Functions runs the hosts as so many functions each, 0: in this process. The log of functions holds more than requests,
	// and is not summed up.
	Functions int
}

// The commands. Each is answered with one line of JSON, a reading.
const (
	readCommand    = "read"
	profileCommand = "profile " // and the file
	stopCommand    = "stop"     // the profile
)

// reading is what a process has used since its start.
type reading struct {
	Requests  int           // in the request log
	CPU       time.Duration // user and system
	Allocated int64         // bytes of heap, freed or not
	Sent      int64         // bytes of the bodies of all answers
	Logged    int64         // bytes of the request log
	Names     names         // calls of AWS, if they are counted by name
	spent
}

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
	counted := &countingWriter{to: log, sum: sum}
	with := stack.Options{
		Engines:     o.Engines,
		Data:        o.Data,
		Tables:      o.Tables,
		Limits:      lifted(),
		Now:         time.Now,
		Log:         slog.New(tally{slog.NewJSONHandler(counted, nil), sum}),
		DisableJobs: o.Still,
	}
	if o.Named {
		with.Middleware = []func(*middleware.Stack) error{sum.name}
	}
	if o.Functions > 0 { // which take no other numbers
		with.Lambda = true
		with.Processes = o.Functions
		with.Output = log
		with.Limits = limits.Default()
		with.Limits.Pow = limits.PowOff
	} else {
		boot.SetMemory(os.Getenv)
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
		command := lines.Text()
		var err error
		if file, ok := strings.CutPrefix(command, profileCommand); ok {
			err = startProfile(file)
		} else if command == stopCommand {
			pprof.StopCPUProfile()
		}
		if err == nil {
			err = answers.Encode(sum.reading())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", command, err)
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
