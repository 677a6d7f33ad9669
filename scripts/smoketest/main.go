// Command smoketest checks a running deployment through its public interface and ends with "N passed, N failed".
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"time"

	"vitrine/scripts/journey/wire"
)

// step is one thing that a deployment has to do.
type step struct {
	name string
	run  func(context.Context, *visit) error
}

var steps = []step{
	{"discovery names all hosts, and each is healthy", healthy},
	{"every host sends its security headers", headers},
	{"a 401 carries its challenge", challenge},
	{"unknown paths and methods are 404 with the envelope", unknown},
	{"a 10 MB file is stored once, and only as it was declared", uploads},
	{"the file is read back byte for byte, whole and in ranges", largeRead},
	{"content is sealed off: media type, policy, no index", sealed},
	{"the share link opens, and the agent view lists the files", link},
	{"deletion holds from the next read on", deletion},
	{"a full rate limit says when to come back, and means it", limit},
	{"a revoked key is dead at once", revocation},
}

// requestMost bounds every single request.
const requestMost = 2 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: scripts/smoke API_URL")
		os.Exit(2)
	}
	os.Exit(run(ctx, os.Args[1]))
}

func run(ctx context.Context, api string) int {
	client := &http.Client{
		Timeout: requestMost, Transport: &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	anyone, err := wire.Discover(ctx, client, api)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s does not answer as a Vitrine API host: %v\n", api, err)
		return 1
	}
	v := &visit{anyone: anyone}
	passed, failed := 0, 0
	for _, s := range steps {
		began := time.Now()
		err := s.run(ctx, v)
		if ctx.Err() != nil {
			return 130
		}
		if err == nil {
			passed++
			fmt.Printf("ok    %s (%.1f s)\n", s.name, time.Since(began).Seconds())
			continue
		}
		failed++
		fmt.Printf("FAIL  %s: %v\n", s.name, err)
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	return min(failed, 1)
}
