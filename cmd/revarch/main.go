// Command revarch is the one binary: API, workers, the embedded default and the operator's commands. What belongs here:
// flags and wiring only.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"revarch/fault"
)

// version is set when a release is built.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := root().ExecuteContext(ctx)
	stop()
	if err == nil {
		return
	}
	text := err.Error()
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code != fault.Internal {
		text = f.Public
		if f.Cause != nil {
			text += " (" + f.Cause.Error() + ")"
		}
		for _, fe := range f.Fields {
			text += "\n  " + fe.Field + ": " + fe.Message
		}
	}
	fmt.Fprintln(os.Stderr, "revarch: "+text)
	os.Exit(1)
}

func root() *cobra.Command {
	c := &cobra.Command{
		Use: "revarch", Short: "Revenue operations for teams that sell to K-12 districts and higher-education institutions",
		Version: version, SilenceUsage: true, SilenceErrors: true,
	}
	c.AddCommand(upCommand(), serveCommand(), workerCommand(), migrateCommand(), adminCommand(), datasetsCommand(),
		backupCommand(), restoreCommand(), sandboxCommand(), doctorCommand(), openapiCommand())
	return c
}

// logTo makes slog write JSON lines of the level to standard error.
func logTo(level string) {
	var l slog.Level
	_ = l.UnmarshalText([]byte(level)) // config has checked it
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: l})))
}
