package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"revarch/config"
	"revarch/store"
)

func migrateCommand() *cobra.Command {
	c := &cobra.Command{Use: "migrate", Short: "Look at and change the database schema, as its owner"}
	owner := func() (string, error) {
		cfg, err := config.Load(config.Need{Owner: true})
		return cfg.DatabaseOwnerURL, err
	}
	c.AddCommand(
		&cobra.Command{Use: "up", Short: "Create missing roles and apply what is missing", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			url, err := owner()
			if err != nil {
				return err
			}
			if err := store.EnsureRolesIfAllowed(cmd.Context(), url); err != nil {
				return err
			}
			n, err := store.MigrateUp(cmd.Context(), url)
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "applied %d migration(s)\n", n)
			}
			return err
		}},
		&cobra.Command{Use: "down", Short: "Take back the newest migration", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			url, err := owner()
			if err != nil {
				return err
			}
			v, err := store.MigrateDown(cmd.Context(), url)
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "took back migration %d\n", v)
			}
			return err
		}},
		&cobra.Command{Use: "status", Short: "List migrations", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			url, err := owner()
			if err != nil {
				return err
			}
			all, err := store.MigrationsStatus(cmd.Context(), url)
			for _, m := range all {
				state := "missing"
				if m.Applied {
					state = "applied"
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%-8s %05d %s\n", state, m.Version, m.Name)
			}
			return err
		}},
	)
	return c
}
