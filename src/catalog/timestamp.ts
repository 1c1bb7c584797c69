const DATE = String.raw`(\d{4})-(\d\d?)-(\d\d?)`;
const TIME = String.raw`(\d\d?):(\d\d):(\d\d)(?:\.(\d{0,9}))?`;
/** A date or timestamp as YAML 1.1 has it. */
const WRITTEN = new RegExp(String.raw`^${DATE}(?:(?:[Tt]|[ \t]+)${TIME}(?:[ \t]*(Z|[-+]\d\d?(?::\d\d)?))?)?$`);
/** A timestamp as JSON renderers write it: ISO 8601, or the text form of a language's own type. */
const RENDERED = new RegExp(String.raw`^${DATE}[T ]${TIME}(?: ?(Z|UTC|[-+]\d\d:?\d\d))?$`);

interface Instant {
  /** Seconds since the epoch. */
  readonly seconds: number;
  /** Decimals of a second, nine at most, without trailing zeros. */
  readonly fraction: string;
}

/**
 * Whether `rendered` is a date-time text for what YAML 1.1 readers make of the plain scalar `written`: the same instant,
 * with the fraction possibly cut to milli-, micro- or nanoseconds. Without a zone both are in UTC.
 */
export function sameInstant(written: string, rendered: string): boolean {
  const one = instant(WRITTEN.exec(written));
  const other = instant(RENDERED.exec(rendered));
  if (one === undefined || other === undefined || one.seconds !== other.seconds) return false;
  return [one.fraction.length, 3, 6, 9].some((digits) => trimmed(one.fraction.slice(0, digits)) === other.fraction);
}

/** `undefined` for no match and for a day or time that does not exist. */
function instant(match: RegExpExecArray | null): Instant | undefined {
  if (match === null) return undefined;
  const [, year, month = '', day = '', hour = '0', minute = '00', second = '00', fraction = '', zone] = match;
  const two = (digits: string) => digits.padStart(2, '0');
  const local = `${year}-${two(month)}-${two(day)}T${two(hour)}:${minute}:${second}`;
  const date = new Date(`${local}Z`);
  if (Number.isNaN(date.getTime()) || !date.toISOString().startsWith(local)) return undefined;
  return { seconds: date.getTime() / 1000 - offsetSeconds(zone), fraction: trimmed(fraction) };
}

function offsetSeconds(zone: string | undefined): number {
  const match = /^([-+])(\d\d?):?(\d\d)?$/.exec(zone ?? '');
  if (match === null) return 0;
  const [, sign, hours, minutes = '0'] = match;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60);
}

function trimmed(fraction: string): string {
  return fraction.replace(/0+$/, '');
}
