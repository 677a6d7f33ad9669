package main

import (
	"context"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestReadersThatWereCutOffAreReadFromTheLog(t *testing.T) {
	got := cutReaders(`content: {"level":"INFO","msg":"request","duration_ms":5000.5,"bytes":1,"slow_reader":true}
content: {"level":"INFO","msg":"request","status":200,"duration_ms":9,"bytes":1}
content: {"level":"INFO","msg":"request","status":200,"duration_ms":15000,"bytes":1,"aws_calls":5,"slow_reader":true}
`)
	if want := []time.Duration{5000500 * time.Microsecond, 15 * time.Second}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestSlowReadersAreToldApart(t *testing.T) {
	for name, c := range map[string]struct {
		answer                       string
		admitted, refused, throttled int
	}{
		"admitted":           {"200 OK\r\nX-Request-Id: 1", 1, 0, 0},
		"refused by a host":  {"429 Too Many Requests\r\nX-Request-Id: 1", 0, 1, 0},
		"no function for it": {"429 Too Many Requests", 0, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp4", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			go func() {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				conn.Read(make([]byte, 1000))
				io.WriteString(conn, "HTTP/1.1 "+c.answer+"\r\nContent-Length: 0\r\n\r\n")
				conn.Close()
			}()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := &slowRow{slow: 1, place: 1}
			r.take(ctx, 0, "http://"+listener.Addr().String()+"/v/token/slow.bin")
			if r.admitted != c.admitted || r.refused != c.refused || r.throttled != c.throttled {
				t.Errorf("%d admitted, %d refused, %d throttled", r.admitted, r.refused, r.throttled)
			}
		})
	}
}

func TestARowOfSlowReadersSaysWhatTheOtherReaderWaited(t *testing.T) {
	r := &slowRow{row: row{title: "from 1 address"}, unanswered: 1, admitted: 8, refused: 3}
	r.add([]time.Duration{otherPatience, time.Millisecond, 2 * time.Millisecond}, 0, reading{})
	r.cut.add([]time.Duration{15 * time.Second}, 0, reading{})
	got, want := strings.Join(r.line(), " | "), "from 1 address | 3 | 2 | 2 | 40000 | 1 | 8 | 3 | 0 | 1 | 15.0"
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
