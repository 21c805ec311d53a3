// Package arr turns subscription lines into annual recurring revenue. What belongs here: the annual value of a line,
// which lines count on a date, late renewals, and the total of an account. Money is integer cents; days are calendar
// days of the organization, and a term includes its last day.
package arr
