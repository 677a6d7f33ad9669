// Command s3d is the S3 server of the local stack, made from versitygw's packages, and the watcher
// that ends an engine together with its parent.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	err := run(os.Args[1:])
	var code exitCode
	if errors.As(err, &code) {
		os.Exit(int(code))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "s3d:", err)
		os.Exit(1)
	}
}

// run reads the flags and serves, or watches, until standard input ends or a
// signal comes.
func run(args []string) error {
	var o options
	flags := flag.NewFlagSet("s3d", flag.ContinueOnError)
	flags.StringVar(&o.dir, "dir", "", "folder that holds the objects, made when missing")
	flags.StringVar(&o.addr, "addr", "127.0.0.1:8712", "address to listen on")
	flags.StringVar(&o.access, "access", "", "access key")
	flags.StringVar(&o.secret, "secret", "", "secret key")
	flags.StringVar(&o.region, "region", "us-east-1", "region that signatures name")
	flags.StringVar(&o.domain, "domain", "s3.localhost", "domain of host-style addresses, {bucket}.{domain}")
	flags.StringVar(&o.bucket, "bucket", "", "bucket to create at start when it is missing")
	flags.BoolVar(&o.temporary, "temporary", false, "remove -dir when standard input ends")
	flags.DurationVar(&o.noncurrent, "noncurrent", 14*24*time.Hour, "life of a version that was deleted or replaced")
	watched := flags.Bool("watch", false, "run the command after -- and end it when standard input ends")
	if err := flags.Parse(args); err != nil {
		return exitCode(2)
	}
	ended := endOf(os.Stdin)
	if *watched {
		return watch(ended, flags.Args())
	}
	if o.dir == "" || o.access == "" || o.secret == "" {
		return errors.New("-dir, -access and -secret are needed: name a folder and the two keys that clients will sign with")
	}
	return serve(ended, o)
}

// endOf returns a channel that closes when r ends. The parent holds the other
// end of standard input, so this is how its death, kill -9 included, is noticed.
func endOf(r io.Reader) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, r) // a read error ends it as well
	}()
	return ended
}

// exitCode is an error that ends the process with this code and no message.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit status %d", int(c)) }
