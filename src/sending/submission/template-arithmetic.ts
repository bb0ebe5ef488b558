import { type FilterImplOptions, filters, type Liquid, toValue, toValueSync } from 'liquidjs'

/** Decimal arithmetic, as Ruby's Liquid has it: `7.9` is not `7.8999999999999995`. Unlike there, a whole result has no
 *  `.0`, and the quotient of whole numbers may be a fraction, as in liquidjs. */

/** Replaces the filters that add, multiply and divide. They throw for a division by zero and for results that are no
 *  number. */
export function computeDecimals(liquid: Liquid): void {
  for (const [name, compute] of COMPUTATIONS) {
    liquid.registerFilter(name, (value: unknown, operand: unknown, isWhole: unknown) =>
      finite(compute(decimalOf(value), decimalOf(operand), toValue(isWhole))),
    )
  }
  liquid.registerFilter('sum', sum)
}

function finite(number: number): number {
  if (!Number.isFinite(number)) throw new Error('a number is too large')
  return number
}

/** `digits` / 10^`scale`. */
interface Decimal {
  digits: bigint
  scale: number
}

type Compute = (left: Decimal, right: Decimal, isWhole: unknown) => number

const COMPUTATIONS = new Map<string, Compute>(
  Object.entries<Compute>({
    plus: (left, right) => numberOf(added(left, right)),
    minus: (left, { digits, scale }) => numberOf(added(left, { digits: -digits, scale })),
    times: (left, right) => numberOf({ digits: left.digits * right.digits, scale: left.scale + right.scale }),
    divided_by: (left, right, isWhole) => {
      const [dividend, divisor] = alike(left, nonZero(right))
      const exact = Number(dividend) / Number(divisor)
      const quotient = Number.isFinite(exact) ? exact : numberOf(left) / numberOf(right)
      return isWhole ? Math.floor(quotient) : quotient
    },
    modulo: (left, right) => {
      const [dividend, divisor, scale] = alike(left, nonZero(right))
      return numberOf({ digits: ((dividend % divisor) + divisor) % divisor, scale })
    },
  }),
)

type Filter = Extract<FilterImplOptions, (...values: never[]) => unknown>

const sum: Filter = function (value, property) {
  const values = property === undefined ? [value].flat() : toValueSync(map.call(this, value, property))
  return finite(numberOf(values.map(decimalOf).reduce(added, { digits: 0n, scale: 0 })))
}

const map = filters.map as unknown as (
  this: unknown,
  value: unknown,
  property: unknown,
) => Generator<unknown, unknown[]>

/** A number, or a text that is one; 0 for anything else, as in liquidjs. */
function decimalOf(value: unknown): Decimal {
  const number = finite(Number(toValue(value)) || 0)
  const [mantissa = '', power = '0'] = String(number).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const scale = fraction.length - Number(power)
  const digits = BigInt(whole + fraction)
  return scale < 0 ? { digits: digits * 10n ** BigInt(-scale), scale: 0 } : { digits, scale }
}

/** The nearest number that a computer has. */
function numberOf({ digits, scale }: Decimal): number {
  return Number(`${digits}e-${scale}`)
}

function alike(left: Decimal, right: Decimal): [left: bigint, right: bigint, scale: number] {
  const scale = Math.max(left.scale, right.scale)
  const scaled = (each: Decimal) => each.digits * 10n ** BigInt(scale - each.scale)
  return [scaled(left), scaled(right), scale]
}

function added(left: Decimal, right: Decimal): Decimal {
  const [one, other, scale] = alike(left, right)
  return { digits: one + other, scale }
}

function nonZero(divisor: Decimal): Decimal {
  if (divisor.digits === 0n) throw new Error('a number is divided by zero')
  return divisor
}
