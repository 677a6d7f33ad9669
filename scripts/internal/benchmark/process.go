package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of CPU times in /proc, which Linux fixes at a hundredth of a second for programs.
const clockTick = 10 * time.Millisecond

// processStat is what proc_pid_stat(5) tells about a process.
type processStat struct {
	parent   int
	cpu      time.Duration // user and system
	resident int64         // bytes of memory
}

var errStat = errors.New("the stat of a process is not as expected")

// parseStat reads proc_pid_stat(5). The name of the program is in parentheses and may hold any characters.
func parseStat(text string) (s processStat, err error) {
	const parent, user, system, pages = 1, 11, 12, 21 // fields after the name
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) <= pages {
		return s, errStat
	}
	var numbers [4]int64
	for n, field := range []int{parent, user, system, pages} {
		if numbers[n], err = strconv.ParseInt(fields[field], 10, 64); err != nil {
			return s, errStat
		}
	}
	s.parent, s.cpu = int(numbers[0]), time.Duration(numbers[1]+numbers[2])*clockTick
	s.resident = numbers[3] * int64(os.Getpagesize())
	return s, nil
}

func statOf(pid int) (processStat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return processStat{}, err
	}
	return parseStat(string(text))
}

// children returns the processes that each process has started, as far as they run.
func children() map[int][]int {
	of := map[int][]int{}
	folders, _ := filepath.Glob("/proc/[0-9]*") // the pattern is right
	for _, folder := range folders {
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			continue
		}
		if s, err := statOf(pid); err == nil { // else it has ended
			of[s.parent] = append(of[s.parent], pid)
		}
	}
	return of
}

// descendants returns the processes below a process, without the branch of one of them.
func descendants(root, without int) (all []int) {
	of := children()
	for next := []int{root}; len(next) > 0; next = next[1:] {
		for _, child := range of[next[0]] {
			if child != without {
				all, next = append(all, child), append(next, child)
			}
		}
	}
	return all
}

// processes are those of a stack: its hosts, and its engines with what watches over them. On a system without /proc
// their CPU is unknown.
type processes struct {
	hosts   int
	engines []int
}

// usage is what the processes of a stack have used. What is not known is 0.
type usage struct {
	hosts, engines time.Duration // of CPU since the start
	resident       int64         // bytes of memory of the hosts
}

func (p processes) usage() usage {
	hosts, _ := statOf(p.hosts)
	u := usage{hosts: hosts.cpu, resident: hosts.resident}
	for _, pid := range p.engines {
		s, _ := statOf(pid)
		u.engines += s.cpu
	}
	return u
}

var peakLine = regexp.MustCompile(`(?m)^VmHWM:\s+(\d+) kB$`)

// peak is the most resident memory that a process has had, in bytes.
func peak(pid int) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("memory is read from /proc, which only Linux has: %w", err)
	}
	line := peakLine.FindSubmatch(status)
	if line == nil {
		return 0, fmt.Errorf("the status of the hosts tells no memory: %q", status)
	}
	kilobytes, err := strconv.ParseInt(string(line[1]), 10, 64)
	return kilobytes << 10, err
}

func megabytes(n int64) float64 { return float64(n) / (1 << 20) }
