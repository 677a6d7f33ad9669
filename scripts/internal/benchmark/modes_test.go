package main

import (
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
		want []string // lines, as regular expressions
	}{
		{"growth", []string{
			`list, 10 artifacts` + mean + `{6} \|$`, `list, 60 artifacts` + mean + `{6} \|$`, `overview, 60 artifacts` + mean,
			`publish, 60 artifacts \| ([0-3]\.\d\d|4\.00) \| ([0-4]\.\d|5\.0) \| ((1\d|2[0-2])\.\d\d|23\.00) \|`,
		}},
		{"live", []string{
			`50 of one artifact, counted \| \d+` + mean, `1000 of an artifact each \| \d+` + mean,
		}},
		{"cost", []string{
			`API Gateway \| 3\.50 \| 3\.50 \| 1\.00 \| 3\.00 \| 3\.00 \|  \|  \|$`,
			`CloudFront \|  \|  \|  \| 5\.\d\d \| 5\.\d\d \|  \|  \|$`,
			`RRU \| 0\.\d\d \(2\.\d0\) \| 0\.25 \(2\.00\) \|`, `S3: PUT, COPY, LIST \|  \|  \|  \| 20\.00 \(4\.00\) \|`,
			`\*\*Sum\*\*( \| \*\*\d+\.\d\d\*\*){7} \|$`,
		}},
		{"due", []string{
			`It expires: let others find its bytes \| 3 \| \d+\.\d \| \d+` + mean + `{2} \| [1-9]\d*\.\d \|$`,
			`It expires: expire and purge \| 3`, `It expires: all \| 3`, `Its owner deletes it: purge \| 3`,
			`Its owner deletes it: delete its bytes \| 3 \| \d+\.\d \| \d+( \| [1-9]\d*\.\d+){3} \|$`,
		}},
		{"memory", []string{`Content GET, 25 MB \| 5` + mean + `{3} \|$`}},
		{"line", []string{`HTML with style, .* 4 pictures` + mean + `{4} \| 1\d \| 7 \| \d\d\.\d \| 5\d\.\d \|$`}},
	} {
		t.Run(c.flag, func(t *testing.T) {
			if c.flag == "line" {
				b.line, b.asked = lineSpeed{time.Millisecond, 9_000_000}, regexp.MustCompile("pictures")
			}
			for _, m := range modes {
				if m.flag == c.flag {
					m.byName = true
					b.mode = m
				}
			}
			var out strings.Builder
			if err := b.measureMode(t.Context(), &out); err != nil {
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

func TestABillAddsUp(t *testing.T) {
	r := &row{title: "Content GET", bill: bill{rest: 1, memory: 0.5}, done: 100, used: reading{
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
	new(bench).printBills(&out, []*row{r, {title: "not billed"}})
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
// leases of counters take is no growth, and pages may grow.
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
		for kind, grows := range map[string]bool{"list": c.grows, "overview": false} {
			rows := []*row{{name: kind, done: 1, used: c.few}, {name: kind, done: 1, used: c.many}}
			if err := new(bench).compareGrowth(io.Discard, rows); (err != nil) != grows {
				t.Errorf("more %s of %s: %v", name, kind, err)
			}
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
