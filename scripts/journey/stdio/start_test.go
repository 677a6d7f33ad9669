package stdio

import (
	"io"
	"slices"
	"testing"
	"time"
)

// BenchmarkStart measures the time from the start of the process to the first byte of its answer to initialize, and the
// CPU time of the process, which other work on the machine changes less.
func BenchmarkStart(b *testing.B) {
	m := newMachine(b)
	b.Run("signed out", func(b *testing.B) { m.measureStarts(b) })
	m.signIn(b)
	b.Run("signed in", func(b *testing.B) { m.measureStarts(b) })
}

func (m *machine) measureStarts(b *testing.B) {
	var took, busy []time.Duration
	for b.Loop() {
		run := m.command(b)
		in, _ := run.StdinPipe()
		out, _ := run.StdoutPipe()
		begun := time.Now()
		if err := run.Start(); err != nil {
			b.Fatal(err)
		}
		_, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",`+
			`"capabilities":{},"clientInfo":{"name":"journey","version":"1"}}}`+"\n")
		if n, failed := out.Read(make([]byte, 1)); err != nil || failed != nil || n != 1 {
			b.Fatal(err, failed)
		}
		took = append(took, time.Since(begun))
		in.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = run.Wait()
		busy = append(busy, run.ProcessState.UserTime()+run.ProcessState.SystemTime())
	}
	slices.Sort(took)
	slices.Sort(busy)
	b.ReportMetric(float64(busy[len(busy)/2].Microseconds())/1000, "p50-cpu-ms")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
