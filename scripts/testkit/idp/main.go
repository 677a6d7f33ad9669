// Command idp is an identity provider for development on a port of its own; scripts/dev starts one
// by itself.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"vitrine/scripts/testkit/idp/provider"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/env"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	flags := flag.NewFlagSet("idp", flag.ContinueOnError)
	port := flags.Int("port", 8706, "`PORT` on the loopback interface; 0 takes a free one")
	data := flags.String("data", "", "`DIR` that keeps keys and the client's secret")
	client := flags.String("client", "vitrine", "`ID` of the client")
	callback := flags.String("callback", "http://localhost:8704/api/auth/callback", "`URL` that browsers are sent back to")
	signedOut := flags.String("signed-out", "http://localhost:8704/", "`URL` that browsers are sent to after signing out")
	audience := flags.String("audience", "http://localhost:8701", "`URL` of the service that agents present assertions to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if getenv(env.Environment) == string(credential.Production) {
		return errors.New("this identity provider signs in anybody and does not run in production")
	}
	if *data == "" {
		return errors.New("--data DIR is missing: the client's secret is kept there")
	}
	secret, file, err := provider.Secret(*data)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(*port)))
	if err != nil {
		return err
	}
	issuer := fmt.Sprintf("http://localhost:%d", listener.Addr().(*net.TCPAddr).Port)
	p, err := provider.Open(provider.Options{
		Issuer:   issuer,
		Audience: *audience,
		Data:     *data,
		Now:      time.Now,
		Client: provider.Client{
			ID:        *client,
			Secret:    secret,
			Callbacks: []string{*callback},
			SignedOut: []string{*signedOut},
		},
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	fmt.Fprintf(stdout, "issuer %s, client %s, its secret in %s\n", issuer, *client, file)
	return serve(ctx, listener, p)
}

func serve(ctx context.Context, listener net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { server.Close() })
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
