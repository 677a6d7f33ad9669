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

// TestModesAreMeasured measures modes one after the other on one stack.
func TestModesAreMeasured(t *testing.T) {
	o := short(t, "")
	o.inMemory, o.byName = true, true
	o.stock, o.artifacts, o.dueArtifacts = 4, 60, 3
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
	const mean = `( \| \d+\.\d+)`
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
		{"growth", "", []string{
			`list, 10 artifacts` + mean + `{5} \|$`, `list, 60 artifacts` + mean + `{5} \|$`,
			`publish, 60 artifacts \| ([0-3]\.\d\d|4\.00) \| ([0-4]\.\d|5\.0) \| ((1\d|2[0-2])\.\d\d|23\.00) \|`,
		}},
		{"live", "", []string{
			`50 of one artifact, counted \| \d+` + mean, `1000 of an artifact each \| \d+` + mean,
		}},
		{"cost", "", []string{
			`API Gateway \| 3\.50 \| 3\.50 \| 1\.00 \| 3\.00 \| 3\.00 \|  \|  \|$`,
			`CloudFront \|  \|  \|  \| 5\.\d\d \| 5\.\d\d \|  \|  \|$`,
			`RRU \| 0\.\d\d \(2\.\d0\) \| 0\.25 \(2\.00\) \|`, `S3: PUT, COPY, LIST \|  \|  \|  \| 20\.00 \(4\.00\) \|`,
			`\*\*Sum\*\*( \| \*\*\d+\.\d\d\*\*){7} \|$`,
		}},
		{"afterlife", "", []string{
			`It expires: expire and purge( \| [1-9]\d*\.\d+){3} \|$`, `It expires: all( \| [1-9]\d*\.\d+){3} \|$`,
			`Its owner deletes it: purge( \| [1-9]\d*\.\d+){3} \|$`,
			`Its owner deletes it: delete its bytes( \| [1-9]\d*\.\d+){3} \|$`,
		}},
		{"due", "", []string{`It expires: let others find its bytes \| \d+\.\d \| \d+` + mean + `{2} \| [1-9]\d*\.\d \|$`}},
	} {
		t.Run(c.flag, func(t *testing.T) {
			for _, m := range modes {
				if m.flag == c.flag {
					m.byName = true
					b.mode = m
				}
			}
			b.asked = regexp.MustCompile(c.rows)
			var out strings.Builder
			if err := b.runMode(t.Context(), &out); err != nil {
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

func TestALargeReadTakesNoMemory(t *testing.T) {
	o := short(t, "")
	o.do = (*bench).memory
	if err := run(t.Context(), o, t.Output(), t.Output()); err != nil {
		t.Error(err)
	}
	leavesNothing(t)
}

func TestAMixFailsWithItsOperations(t *testing.T) {
	m := &mix{turns: make([]int, mixUsers), failed: map[int][]error{}}
	m.add(mixUsers, "read", func(_ context.Context, user, _ int) error {
		if user == 3 {
			return io.ErrUnexpectedEOF
		}
		return nil
	})
	if _, err := drive(t.Context(), mixUsers, time.Millisecond, m.row(true).work); err != nil {
		t.Fatal(err)
	}
	if err := m.err(); !errors.Is(err, errMix) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
}

func TestABillAddsUp(t *testing.T) {
	r := &row{done: 100, used: reading{
		Calls:      300,
		RoundTrips: 200,
		RRU:        200,
		WRU:        100,
		Names:      map[string]int{"S3.GetObject": 100, "DynamoDB.BatchGetItem": 100},
		Sent:       409600,
		Logged:     100_000,
		CPU:        100 * time.Millisecond,
	}}
	var out strings.Builder
	printBills(&out, []bill{bill{title: "Content GET", rest: 1, memory: 0.5}.of(r)})
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

// TestGrowthFailsWhenCapacityGrows has calls and capacity of one request each in a small and in a large workspace. What
// leases of counters take is no growth.
func TestGrowthFailsWhenCapacityGrows(t *testing.T) {
	for name, c := range map[string]struct {
		few, many reading
		grows     bool
	}{
		"a little capacity": {reading{Calls: 4, RRU: 2}, reading{Calls: 4, RRU: 2.5}, false},
		"capacity":          {reading{Calls: 4, RRU: 2}, reading{Calls: 4, RRU: 2.7}, true},
		"calls":             {reading{Calls: 4, RRU: 2}, reading{Calls: 6, RRU: 2}, true},
		"leases":            {reading{Calls: 1, WRU: 0.01}, reading{Calls: 1, WRU: 0.09}, false},
		"a tenth of writes": {reading{Calls: 1, WRU: 0.01}, reading{Calls: 1, WRU: 0.12}, true},
	} {
		measured := [2][]*row{{{title: "list", done: 1, used: c.few}}, {{title: "list", done: 1, used: c.many}}}
		if err := compareGrowth(io.Discard, measured); (err != nil) != c.grows {
			t.Errorf("more %s: %v", name, err)
		}
	}
}

func TestTheFirstAnswerOfAFunctionHasToBeGood(t *testing.T) {
	for answer, good := range map[string]bool{
		`{"statusCode":200,"body":"ok"}`:                                     true,
		`{"statusCode":200,"headers":{}}` + strings.Repeat("\x00", 8) + "ok": true,
		`{"statusCode":500}`:                                                 false,
		"":                                                                   false,
	} {
		if err := answersOK([]byte(answer)); (err == nil) != good {
			t.Errorf("%q: %v", answer, err)
		}
	}
}
