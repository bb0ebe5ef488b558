import { checkConfigFiles, renderExample } from '../config/load.ts'
import { readConfigOf, requireConfig } from './cli-context.ts'
import { configFailure } from './failure.ts'
import { print, printJson, table } from './print.ts'

/** Prints that the config is valid, or throws all its faults and those of the files it names (exit code 2). */
export function checkConfig({ config: file }: { config: string }): void {
  const config = requireConfig(file)
  const faults = checkConfigFiles(config, file || 'environment')
  if (faults.length > 0) throw configFailure(faults)
  print(`${file || 'environment'}: configuration is valid`)
}

/** Prints config.example.toml. */
export function printExample(): void {
  print(renderExample().trimEnd())
}

/** Prints the keys that are set and their source, or with `effective` every key and its value; secrets are hidden. */
export function printSettings(options: { config: string; effective?: true; json?: true }): void {
  const all = readConfigOf(options.config).settings()
  const shown = all.filter(({ isGiven }) => options.effective || isGiven)
  const records = shown.map(({ key, value, source }) => ({ key, value, source }))
  if (options.json) printJson({ data: records })
  else print(table(['key', 'value', 'source'], records.map(Object.values)))
}
