import { readFileSync } from 'node:fs'
import { isRecord } from '../os/records.ts'
import { messageOf } from '../os/thrown.ts'
import { toFailure, usageFault } from './failure.ts'

/** Values of options that name a file or contain a name and a value. `option` is the name of the option in the message
 *  of the CommandFailure (exit code 2) that every function throws for an unreadable file or a wrong format. */

/** Reads a file as bytes. */
export function readBytes(option: string, file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw usageFault(`${option}: ${toFailure(error)?.message ?? messageOf(error)}`)
  }
}

/** Reads a file as UTF-8, without a byte order mark. */
export function readText(option: string, file: string): string {
  const bytes = readBytes(option, file)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw usageFault(`${option}: ${file} is not UTF-8`)
  }
}

/** Reads a file that contains one JSON object. */
export function readObject(option: string, file: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(readText(option, file))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw usageFault(`${option}: ${file} is not JSON: ${error.message}`)
  }
  if (isRecord(value)) return value
  throw usageFault(`${option}: ${file} must contain a JSON object`)
}

/** `NAME=VALUE` or, with the separator `:`, `Name: value` → values by name. Trims the value after a `:`. */
export function namedValues(option: string, given: readonly string[], separator: '=' | ':'): Record<string, string> {
  const values = new Map<string, string>()
  for (const each of given) {
    const at = each.indexOf(separator)
    const format = separator === '=' ? 'NAME=VALUE' : '"Name: value"'
    if (at < 1) throw usageFault(`${option}: expected ${format}, found ${JSON.stringify(each)}`)
    const [name, value] = [each.slice(0, at), each.slice(at + 1)]
    if (values.has(name)) throw usageFault(`${option}: ${name} must appear only once`)
    values.set(name, separator === '=' ? value : value.trim())
  }
  return Object.fromEntries(values)
}

/** The options with the variables of a template. */
export interface TemplateVariables {
  variable?: string[]
  variables?: string
}

/** Options `--variables FILE` and `--variable NAME=VALUE` → variables of a template; undefined without them. A single
 *  variable replaces the one in the file. */
export function readVariables(options: TemplateVariables): Record<string, unknown> | undefined {
  const { variables: file, variable } = options
  if (file === undefined && variable === undefined) return undefined
  const whole = file === undefined ? {} : readObject('variables', file)
  return Object.fromEntries([...Object.entries(whole), ...Object.entries(namedValues('variable', variable ?? [], '='))])
}

/** The options with the headers of an endpoint. */
export interface EndpointHeaders {
  /** `Name: value` each. */
  header?: string[]
  /** A file with such lines; false removes all. */
  headers?: string | false
}

/** Options `--headers FILE` and `--header 'Name: value'` → the headers of an endpoint. `--no-headers` gives none; without
 *  any of these options, undefined. A file has one `Name: value` per line; `-` is standard input. Error messages never
 *  quote a line, because it may be a secret. */
export function readEndpointHeaders(options: EndpointHeaders): Record<string, string> | undefined {
  const { headers: file, header = [] } = options
  if (file === undefined && header.length === 0) return undefined
  const given = file ? readText('headers', file === '-' ? '/dev/stdin' : file).split(/\r?\n/) : []
  const lines = given.filter((line) => line.trim() !== '')
  if (lines.some((line) => line.indexOf(':') < 1))
    throw usageFault(`headers: expected "Name: value" in each line of ${file}`)
  return namedValues('header', [...lines, ...header], ':')
}
