/** Options that several commands share, and parsers for their values. */
import { type Command, InvalidArgumentError, Option } from 'commander'

/** Config file of commands without `--config`. */
export const DEFAULT_CONFIG_FILE = '/etc/postrider/config.toml'
export const MODES = ['live', 'test']

/** Adds `--config` to a command. */
export function withConfig(command: Command): Command {
  return command.addOption(
    new Option('--config <file>', "config file; '' to use environment variables only")
      .env('POSTRIDER_CONFIG')
      .default(DEFAULT_CONFIG_FILE),
  )
}

/** Adds `--config` and `--json` to a command. */
export function withRecords(command: Command): Command {
  return withConfig(command).option('--json', 'print JSON')
}

/** The options that give variables to a template (given-files.ts). */
export const VARIABLES: readonly Option[] = [
  new Option('--variable <name=value>', 'value of a variable of the template; repeatable').argParser(gather),
  new Option('--variables <file>', 'values of variables from a file with a JSON object'),
]
export const LOCALE = new Option('--locale <locale>', 'language of the template, such as pt-BR')

export const ORG = new Option('--org <org>', 'organization id or name; required if there are several')

/** Number of entries on a page. */
export const LIMIT = new Option('--limit <number>', 'number of entries')
  .argParser((text) => whole(text, 1, 100, 'number'))
  .default(25)

/** The options that set the headers of an endpoint (given-files.ts). */
export const HEADERS: readonly Option[] = [
  new Option('--header <name: value>', 'header of every request; repeatable').argParser(gather),
  new Option(
    '--headers <file>',
    'headers from a file, one per line, or - for standard input; the process list does not show them',
  ),
]

/** Parser of a repeatable option: adds a value to those before it. */
export function gather(value: string, before: string[] = []): string[] {
  return [...before, value]
}

/** Parses a TCP port, 0 to 65535. Throws InvalidArgumentError. */
export function port(text: string): number {
  return whole(text, 0, 65_535, 'port')
}

/** Parses a number of seconds, at most a day. Throws InvalidArgumentError. */
export function seconds(text: string): number {
  return whole(text, 0, 86_400, 'number of seconds')
}

/** Parses an integer from `from` to `to`, of at most six digits. Throws InvalidArgumentError; `what` is the
 *  noun in its message. */
export function whole(text: string, from: number, to: number, what: string): number {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN
  if (value >= from && value <= to) return value
  throw new InvalidArgumentError(`Expected a ${what} from ${from} to ${to}.`)
}
