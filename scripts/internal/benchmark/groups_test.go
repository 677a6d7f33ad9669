package main

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestGroupsAreMeasured measures groups one after the other on one stack.
func TestGroupsAreMeasured(t *testing.T) {
	o := short(t, "")
	o.inMemory, o.still, o.named = true, true, true
	o.stock = 4
	b := &bench{options: o, stderr: t.Output()}
	err := b.start(t.Context())
	defer func() {
		if err := b.stop(); err != nil {
			t.Error(err)
		}
		leavesNothing(t)
	}()
	if err != nil {
		t.Error(err)
		return
	}
	t.Run("cost of requests", func(t *testing.T) { testRequestBills(t, b) })
	for _, c := range []struct {
		flag string
		rows string
		want []string // lines, as regular expressions
	}{
		{"pages", "/1$", []string{
			`Page with 20 files, hot \| 1 \| \d+\.\d\d \| 40\.0 \|`, `Page with 20 files, cold \| 1 \| \d+\.\d\d \| 4\d\.\d \|`,
		}},
		{"publishes", "^publish-(lone|100)/1$", []string{
			`Publish flow of 3 files, a new key \| 1 \| \d+\.\d\d \|`, `Publish flow of 100 files \| 1 \|`,
		}},
		{"mix", "", []string{
			`open a page with 20 files by its link \| 70 \| [1-9].* \| 0 \|$`, `publish 3 files \| 10 \| [1-9].* \| 0 \|$`,
			`poll: agent view, list or usage policy \| 20 \| [1-9].* \| 0 \|$`,
		}},
		{"afterlife", "", []string{
			`It expires: expire and purge( \| [1-9]\d*\.\d){3} \|$`, `It expires: all( \| [1-9]\d*\.\d){3} \|$`,
			`Its owner deletes it: purge( \| [1-9]\d*\.\d){3} \|$`,
			`Its owner deletes it: delete its bytes( \| [1-9]\d*\.\d){3} \|$`,
		}},
	} {
		t.Run(c.flag, func(t *testing.T) {
			b.rows = regexp.MustCompile(c.rows)
			var out strings.Builder
			if err := modeOf(t, c.flag).measure(b, t.Context(), &out); err != nil {
				t.Fatal(err)
			}
			t.Log(out.String())
			for _, want := range c.want {
				if !regexp.MustCompile(`(?m)^\| ` + want).MatchString(out.String()) {
					t.Errorf("the table lacks %s", want)
				}
			}
		})
	}
}

func testRequestBills(t *testing.T, b *bench) {
	bills, err := b.requestBills(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	printBills(&out, bills)
	t.Log(out.String())
	for _, want := range []string{
		`API Gateway \| 3\.50 \| 3\.50 \| 1\.00 \| 3\.00 \| 3\.00 \|$`, `CloudFront \|  \|  \|  \| 5\.\d\d \| 5\.\d\d \|$`,
		`RRU \| 0\.\d\d \(2\.\d0\) \| 0\.25 \(2\.00\) \|`, `S3: PUT, COPY, LIST \|  \|  \|  \| 20\.00 \(4\.00\) \|`,
		`\*\*Sum\*\*( \| \*\*\d+\.\d\d\*\*){5} \|$`,
	} {
		if !regexp.MustCompile(`(?m)^\| ` + want).MatchString(out.String()) {
			t.Errorf("the table lacks %s", want)
		}
	}
}

func modeOf(t *testing.T, flag string) mode {
	t.Helper()
	for _, m := range modes {
		if m.flag == flag {
			return m
		}
	}
	t.Fatalf("there is no -%s", flag)
	return mode{}
}

func TestAMixFailsWithItsOperations(t *testing.T) {
	m := &mix{kinds: []*mixKind{{title: "read", users: mixUsers}}}
	m.kinds[0].do = func(_ context.Context, user, _ int) error {
		if user == 3 {
			return io.ErrUnexpectedEOF
		}
		return nil
	}
	m.run(t.Context(), time.Millisecond)
	if err := m.err(); !errors.Is(err, errMix) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
}

func TestABillAddsUp(t *testing.T) {
	l := bill{title: "Content GET", rest: 1, memory: 0.5, sent: 4096, logged: 1000, cpu: time.Millisecond}
	called := names{"S3.GetObject": 100, "DynamoDB.BatchGetItem": 100}
	l.count(spent{Calls: 300, RoundTrips: 200, RRU: 200, WRU: 100}, called, 100)
	var out strings.Builder
	printBills(&out, []bill{l})
	const want = `| $ per million | Content GET |
|---|--:|
| API Gateway | 3.50 |
| CloudFront |  |
| WRU | 0.62 (1.00) |
| RRU | 0.25 (2.00) |
| S3: PUT, COPY, LIST |  |
| S3: GET, HEAD | 0.40 (1.00) |
| Lambda | 0.46 |
| Logs of the functions | 0.50 |
| Transfer out | 0.37 |
| **Sum** | **6.10** |
`
	if out.String() != want {
		t.Errorf("got %s\nwant %s", out.String(), want)
	}
}
