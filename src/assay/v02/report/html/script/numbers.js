// How numbers are written: the twin of number_text.py, and a test holds it to that.

const UNDEFINED = "–";
const LEAST = 3;
const LEAST_PERCENT = 1;
const MOST = 9;
const FURTHER = 2;
const NOISE = 1e-12;
const FINEST = 14;

// With so many decimals; an exact half goes to the even digit, as in Python.
function fixed(number, digits) {
  const size = Math.abs(number);
  if (size >= 1e21) return String(number);
  let text = size.toFixed(digits);
  const exact = size.toFixed(Math.min(digits + 60, 100));
  const cut = exact.indexOf(".") + 1 + digits;
  const head = exact.slice(0, digits ? cut : cut - 1);
  if (/^50*$/.test(exact.slice(cut)) && "02468".includes(head.slice(-1))) text = head;
  return (number < 0 ? "-" : "") + text;
}

function grouped(text) {
  const [whole, ...rest] = text.split(".");
  return [whole.replace(/\B(?=(\d{3})+$)/g, ","), ...rest].join(".");
}

// To so many digits in all, without closing zeros.
function significant(number, digits) {
  if (number === 0) return "0";
  const power = Math.floor(Math.log10(Math.abs(number)));
  if (power < -4 || power >= digits) {
    const [mantissa, exponent] = Number(number.toPrecision(digits)).toExponential().split("e");
    return `${mantissa}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
  }
  const text = fixed(number, Math.max(digits - 1 - power, 0));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function count(number) {
  if (Number.isInteger(number) || Math.abs(number) >= 1000) return grouped(fixed(number, 0));
  return grouped(significant(number, 4));
}

// The fewest decimals that tell each number from 0 and the whole, and the ends from each other;
// the ends alone, where one number near 0 or the whole would make all of them long.
function decimals(numbers, least, whole = 1) {
  const finite = numbers.filter(Number.isFinite);
  const largest = Math.max(0, ...finite.map(Math.abs));
  if (whole === 1 && largest >= 10) least = Math.max(least - Math.floor(Math.log10(largest)), 0);
  const fewest = (holds) => {
    let digits = least;
    while (digits < MOST && !holds(digits)) digits += 1;
    return digits;
  };
  const every = fewest((digits) => clear(finite, digits, whole));
  if (finite.length < 3) return every;
  const ends = fewest((digits) => apart(finite, digits));
  return every <= ends + FURTHER ? every : ends;
}

const isExact = (number, whole) => number === 0 || Math.abs(Math.abs(number) - whole) <= NOISE;

function clear(numbers, digits, whole) {
  for (const number of numbers) {
    const shown = Math.abs(Number(fixed(number, digits)));
    if (!isExact(number, whole) && (shown === 0 || shown === whole)) return false;
  }
  return apart(numbers, digits);
}

// Whether the ends of an interval differ, or a number alone has two digits that count.
function apart(numbers, digits) {
  const unit = 10 ** -digits;
  const rounded = (number) => Number(fixed(number, digits));
  if (numbers.length < 3) return numbers.every((n) => n === 0 || Math.abs(n) >= 9.5 * unit);
  const [, low, high] = numbers;
  return high - low <= NOISE || rounded(high) - rounded(low) >= 1.5 * unit;
}

function written(number, digits, whole = 1) {
  if (!Number.isFinite(number)) return number > 0 ? "infinity" : "-infinity";
  if (isExact(number, whole)) return fixed(number, 0);
  const text = fixed(number, digits);
  const shown = Math.abs(Number(text));
  if (shown === whole && digits < FINEST) return written(number, digits + 1, whole);
  return shown === 0 ? significant(number, 2) : grouped(text);
}

// A measure and its interval; the interval is empty where there is none.
function measured(value, low = NaN, high = NaN) {
  if (Number.isNaN(value)) return [UNDEFINED, ""];
  const digits = decimals([value, low, high], LEAST);
  const interval = Number.isNaN(low) ? "" : `[${written(low, digits)}, ${written(high, digits)}]`;
  return [written(value, digits), interval];
}

function percent(share) {
  if (Number.isNaN(share)) return UNDEFINED;
  return `${written(100 * share, decimals([100 * share], LEAST_PERCENT, 100), 100)}%`;
}

// A share that was given, as a percent without loss.
function exactPercent(share) {
  const text = fixed(100 * share, 12).replace(/\.?0+$/, "");
  return `${text === "0" ? significant(100 * share, 3) : text}%`;
}

function daily(value, low = NaN, high = NaN) {
  if (Number.isNaN(value)) return [UNDEFINED, ""];
  return [ofDay(value), Number.isNaN(low) ? "" : `[${ofDay(low)}, ${ofDay(high)}]`];
}

// Whole from 100 a day on, else two digits.
function ofDay(number) {
  const size = Math.abs(number);
  if (size >= 100 || size === 0) return grouped(fixed(number, 0));
  if (size >= 10) return fixed(number, 1);
  const digits = 1 - Math.floor(Math.log10(size));
  return digits <= MOST ? fixed(number, digits) : significant(number, 2);
}
