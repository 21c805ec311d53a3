// Package workflows is the durable side of RevArch: workflow functions with their names, inputs and progress, and the
// starter that services use through services/jobs. What belongs here: order, waiting, retrying and ending of work.
// Everything that touches the world is an activity; payloads hold ids and cursors only.
package workflows
