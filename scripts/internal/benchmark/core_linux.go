package main

import (
	"context"
	"runtime"
	"syscall"
	"unsafe"

	function "vitrine/scripts/internal/localapi/runtime"
)

// invokeOnOneCore invokes a function without a process, which then starts on one core: a process may use what the thread
// that starts it may use. The thread ends with its goroutine, as it stays locked.
func invokeOnOneCore(ctx context.Context, f *function.Function, event []byte) (answer []byte, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if err = onLastCore(); err == nil {
			answer, err = f.Invoke(ctx, event)
		}
	}()
	<-done
	return answer, err
}

// onLastCore holds the thread to the last core that it may use.
func onLastCore() error {
	var cores [16]uint64
	if _, _, e := affinity(syscall.SYS_SCHED_GETAFFINITY, &cores); e != 0 {
		return e
	}
	var last [16]uint64
	for n := range len(cores) * 64 {
		if cores[n/64]&(1<<(n%64)) != 0 {
			last = [16]uint64{}
			last[n/64] = 1 << (n % 64)
		}
	}
	if _, _, e := affinity(syscall.SYS_SCHED_SETAFFINITY, &last); e != 0 {
		return e
	}
	return nil
}

func affinity(call uintptr, cores *[16]uint64) (uintptr, uintptr, syscall.Errno) {
	return syscall.RawSyscall(call, 0, unsafe.Sizeof(*cores), uintptr(unsafe.Pointer(cores)))
}
