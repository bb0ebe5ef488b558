import { FREE_FIELDS } from './routes.ts'

/** Names of the API in camelCase, for clients with the option `camelCase`. */

/** `smtp_response` → `smtpResponse`. */
type CamelName<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelName<Tail>>}` : Name

/** A type of the API → the same with names in camelCase. Maps, such as metadata and headers, keep their names. */
export type Camel<T> = T extends (infer Item)[]
  ? Camel<Item>[]
  : T extends Date | Uint8Array
    ? T
    : T extends object
      ? string extends keyof T
        ? T
        : { [Name in keyof T as CamelName<Name>]: Camel<T[Name]> }
      : T

/** Response of the API → the same with names in camelCase. Only arrays and plain objects change; the content of maps
 *  does not. */
export function camelCased(value: unknown): unknown {
  const rename = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
  return renamed(value, rename, FREE_FIELDS.shown)
}

/** The inverse, for requests. Names of the API stay. */
export function snakeCased(value: unknown): unknown {
  return renamed(value, snakeName, FREE_FIELDS.asked)
}

const snakeName = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

function renamed(value: unknown, rename: (name: string) => string, free: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => renamed(each, rename, free))
  if (typeof value !== 'object' || value === null) return value
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return value // a Date, bytes
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      rename(name),
      free.includes(snakeName(name)) ? each : renamed(each, rename, free),
    ]),
  )
}
