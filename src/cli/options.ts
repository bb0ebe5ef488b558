/** Options that several commands share, and parsers for their values. */
import { type Command, InvalidArgumentError, Option } from 'commander'

export const DEFAULT_CONFIG_FILE = '/etc/postrider/config.toml'
export const MODES = ['live', 'test']

/** For commands that read the config. */
export function withConfig(command: Command): Command {
  return command.addOption(
    new Option('--config <file>', "config file; '' to use environment variables only")
      .env('POSTRIDER_CONFIG')
      .default(DEFAULT_CONFIG_FILE),
  )
}

/** For commands that print records. */
export function withRecords(command: Command): Command {
  return withConfig(command).option('--json', 'print JSON')
}

/** Collects the values of a repeatable option. */
export function gather(value: string, before: string[] = []): string[] {
  return [...before, value]
}

export function port(text: string): number {
  return whole(text, 0, 65_535, 'port')
}

export function seconds(text: string): number {
  return whole(text, 0, 86_400, 'number of seconds')
}

/** Parses an integer within the bounds; `what` names it in the error. */
export function whole(text: string, from: number, to: number, what: string): number {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN
  if (value >= from && value <= to) return value
  throw new InvalidArgumentError(`Expected a ${what} from ${from} to ${to}.`)
}
