package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of CPU times in /proc, which Linux fixes at a hundredth of a second for programs.
const clockTick = 10 * time.Millisecond

// processStat is what proc_pid_stat(5) tells about a process.
type processStat struct {
	parent int
	cpu    time.Duration // user and system
}

var errStat = errors.New("the stat of a process is not as expected")

// parseStat reads proc_pid_stat(5). The name of the program is in parentheses and may hold any characters.
func parseStat(text string) (s processStat, err error) {
	const parent, user, system = 1, 11, 12 // fields after the name
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) <= system {
		return s, errStat
	}
	var ticks [2]int
	var errs [3]error
	s.parent, errs[0] = strconv.Atoi(fields[parent])
	ticks[0], errs[1] = strconv.Atoi(fields[user])
	ticks[1], errs[2] = strconv.Atoi(fields[system])
	s.cpu = time.Duration(ticks[0]+ticks[1]) * clockTick
	if errors.Join(errs[:]...) != nil {
		err = errStat
	}
	return s, err
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
	var u usage
	if s, err := statOf(p.hosts); err == nil {
		u.hosts = s.cpu
	}
	for _, pid := range p.engines {
		if s, err := statOf(pid); err == nil {
			u.engines += s.cpu
		}
	}
	if r, err := residentOf(p.hosts); err == nil {
		u.resident = r.now
	}
	return u
}
