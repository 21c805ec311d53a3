// How numbers, money and dates read on screen. Null never becomes 0: callers show <Missing> for it.

const locale = 'en-US';
const cached = new Map<string, Intl.NumberFormat>();

function numberFormat(key: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  let format = cached.get(key);
  if (!format) cached.set(key, (format = new Intl.NumberFormat(locale, options)));
  return format;
}

// A currency that no browser knows must not take the page down: its code stands before the plain number then.
function currencyFormat(key: string, currency: string, amount: number, options: Intl.NumberFormatOptions): string {
  try {
    return numberFormat(`${key}${currency}`, { style: 'currency', currency, ...options }).format(amount);
  } catch {
    return `${currency} ${numberFormat(key, options).format(amount)}`;
  }
}

/** 124000000 cents to $1,240,000.00, or without the cents when they are zero. */
export function money(cents: number, currency: string): string {
  const digits = cents % 100 === 0 ? 0 : 2;
  return currencyFormat(`m${digits}`, currency, cents / 100, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** 124000000 cents to $1.24M, for tiles. */
export function moneyShort(cents: number, currency: string): string {
  return currencyFormat('s', currency, cents / 100, { notation: 'compact', minimumFractionDigits: 0, maximumSignificantDigits: 3 });
}

export const count = (value: number) => numberFormat('n', { maximumFractionDigits: 0 }).format(value);
export const decimal = (value: number, digits = 1) =>
  numberFormat(`d${digits}`, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
export const percent = (ratio: number, digits = 0) =>
  numberFormat(`p${digits}`, { style: 'percent', minimumFractionDigits: digits, maximumFractionDigits: digits }).format(ratio);

/** One noun with its number: plural(1, 'row') is "1 row". */
export const plural = (n: number, one: string, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600], ['month', 2_629_800], ['day', 86_400], ['hour', 3_600], ['minute', 60],
];
const relativeFormat = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });

export function relative(iso: string, now = Date.now()): string {
  const seconds = (Date.parse(iso) - now) / 1000;
  for (const [unit, size] of units) {
    if (Math.abs(seconds) >= size) return relativeFormat.format(Math.round(seconds / size), unit);
  }
  return seconds < -10 ? 'less than a minute ago' : seconds > 10 ? 'in less than a minute' : 'just now';
}

/** A calendar date has no time zone; reading it as UTC keeps the day it names. */
const isDateOnly = (iso: string) => /^\d{4}-\d{2}-\d{2}$/.test(iso);

export function exact(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  return isDateOnly(iso)
    ? at.toLocaleDateString(locale, { dateStyle: 'medium', timeZone: 'UTC' })
    : at.toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'medium' });
}

export function duration(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

/** Codes such as reauthorization_required or IN_PROGRESS, as words. */
export function words(code: string): string {
  const text = code.replace(/[_-]+/g, ' ').trim();
  const lower = text === text.toUpperCase() ? text.toLowerCase() : text;
  return lower.charAt(0).toUpperCase() + lower.slice(1);
}
