// Package expansion finds what else the owners of products could buy. What belongs here: the evidence one product
// gives for another, the probability that several pieces of evidence add up to, estimated prices, priorities, the
// readiness gate, suppression, and the figures over all signals. It reads no clock, no database and no random number:
// ages come in as numbers, and nil means unknown, which differs from 0.
//
// Use: New with the active products and the stored affinity result; Prices over one pass through the owning accounts;
// Plan; a Collector per goroutine over a second pass; Finish sets the priorities. The result depends on
// the set of accounts alone, not on their order nor on how they were spread among collectors.
//
// Decisions where the definitions leave room:
//   - The evidence is that of the account's segment if it has any for the product, else the overall one; the two are
//     never mixed, since their base rates differ. In a segment, evidence that shrinking has taken to or below the base
//     rate is none.
//   - A price per student needs the students of buyer and owner; without, a price per license needs the licenses of
//     both (an owner's are the quantity of its lines, else its seats; a buyer's are its seats); without either the
//     list price stands, which is for a whole account.
//   - Percentiles interpolate linearly between neighbors. The clamp uses all owners of the scope the price is from.
//   - The percentile rank of an expected ARR is (below + half of equal)/n over the priced signals of the run.
//   - Each suppressed signal counts once, under the first reason that applies: opted out, save first, open opportunity,
//     pitched, won, dismissed, not offered.
package expansion
