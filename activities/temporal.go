package activities

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"revarch/fault"
)

// longestRetry is the longest wait that is left to Temporal's retries; the workflow sleeps for longer ones.
const longestRetry = 5 * time.Minute

// toTemporal names a failure after its fault code and says which codes deserve another attempt, and when. Only the
// public text enters the history; the cause, where URLs and values hide, goes to the log.
func toTemporal(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), worker.ErrWorkerShutdown) { // nobody cancelled: another worker goes on
		return temporal.NewApplicationErrorWithOptions("The worker was stopped.", string(fault.Unavailable),
			temporal.ApplicationErrorOptions{NextRetryDelay: time.Second})
	}
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if ctx.Err() != nil { // a database says in many ways that it was interrupted
		return ctx.Err()
	}
	slog.WarnContext(ctx, "activity failed", "error", err, "activity", activity.GetInfo(ctx).ActivityType.Name,
		"attempt", activity.GetInfo(ctx).Attempt)
	code := fault.CodeOf(err)
	opts := temporal.ApplicationErrorOptions{NextRetryDelay: min(fault.RetryAfter(err), longestRetry)}
	switch code {
	case fault.Invalid, fault.Denied, fault.NotFound, fault.Conflict, fault.ReauthRequired, fault.ClientMisconfig, fault.NotConfigured,
		fault.ScopeMissing, fault.SchemaDrift, fault.CursorDead, fault.BadFile, fault.TooLarge, fault.QuotaDay:
		opts.NonRetryable = true
	}
	return temporal.NewApplicationErrorWithOptions(fault.Public(err), string(code), opts)
}

// waitFor tells until when a provider wants to be left alone; ok is false for every other failure.
func waitFor(err error, now time.Time) (until time.Time, ok bool) {
	if fault.Is(err, fault.Throttled) || fault.Is(err, fault.QuotaDay) {
		return now.Add(max(fault.RetryAfter(err), time.Second)).UTC().Truncate(time.Millisecond), true
	}
	return time.Time{}, false
}

// unreadable reports whether a failure concerns one object only, so that the others go on without it.
func unreadable(err error) bool {
	return fault.Is(err, fault.ScopeMissing) || fault.Is(err, fault.SchemaDrift) || fault.Is(err, fault.NotFound)
}

// beating heartbeats in the background, so that a cancellation arrives within seconds even while a call takes long. It
// ends with stop.
func beating(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				activity.RecordHeartbeat(ctx)
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

func orNow(clock func() time.Time) time.Time {
	if clock == nil {
		return time.Now().UTC()
	}
	return clock().UTC()
}
