// Package pipehttp serves tests over connections without buffers, which obey the clock of a testing/synctest bubble.
package pipehttp

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
)

// Server is net/http's server.
type Server struct {
	conns chan net.Conn
	once  sync.Once
}

// Serve starts a server that ends with the test.
func Serve(t testing.TB, h http.Handler) *Server {
	s := &Server{conns: make(chan net.Conn)}
	server := &http.Server{Handler: h}
	t.Cleanup(func() { server.Close() })
	go server.Serve(listener{s})
	return s
}

// Dial connects a client.
func (s *Server) Dial() *Conn {
	ours, theirs := net.Pipe()
	s.conns <- theirs
	return &Conn{ours, bufio.NewReader(ours)}
}

// Conn is a client's connection. The server has to wait while its client does not read.
type Conn struct {
	net.Conn
	answers *bufio.Reader
}

// Send sends a request.
func (c *Conn) Send(method, target string) error {
	_, err := fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: content.test\r\n\r\n", method, target)
	return err
}

// Ask sends a request and returns the answer, of which the body is not read yet.
func (c *Conn) Ask(method, target string) (*http.Response, error) {
	if err := c.Send(method, target); err != nil {
		return nil, err
	}
	return http.ReadResponse(c.answers, &http.Request{Method: method})
}

// listener implements net.Listener for a Server.
type listener struct{ s *Server }

func (l listener) Accept() (net.Conn, error) {
	c, ok := <-l.s.conns
	if !ok {
		return nil, io.EOF
	}
	return c, nil
}

func (l listener) Close() error {
	l.s.once.Do(func() { close(l.s.conns) })
	return nil
}

func (l listener) Addr() net.Addr { return &net.TCPAddr{} }
